"""Whatever machine it is that asks, the commands answer: by the data, and not by where the tests run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fakes.clone import Clone
from helpers.builders import FOLDER, REAL_DATA, changed, copy_suite, machine_document, machine_values, write_submission
from helpers.evidence_builder import asked_here, rows_of
from helpers.identities import STRANGERS, become
from probe_effect.advising.calibrate import placed
from probe_effect.advising.here import groups
from probe_effect.advising.watched import probe_costs
from probe_effect.cli import commands
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.table import ProbeGroup
from probe_effect.host.this_machine import collect_named
from probe_effect.model import ProbeEffectError
from probe_effect.numbers.shown import facts_of, facts_of_machine
from probe_effect.scripts.script import read_script
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import read_transcripts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from click.testing import Result

    from probe_effect.model import Sample
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.machine_file import MachineFile

ENTRY, EXIT, KERNEL = "tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_read", "kprobe:vfs_read"
ENTRIES, EXITS, KERNELS = (rows_of(case, 100) for case in ("04-tracepoint-entry", "05-tracepoint-return", "02-kprobe"))
UNSOUND = rows_of("05-tracepoint-return", 100, seen=10)
OTHER_CPU = "Other CPU 1"

strangers = pytest.mark.parametrize("here", STRANGERS.values(), ids=STRANGERS)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data without a machine, which is asked where no bpftrace is that would compile scripts."""
    monkeypatch.setattr("shutil.which", lambda _: None)
    become(monkeypatch, machine_document(machine__id="here"))
    copy_suite(tmp_path / "data")
    return tmp_path / "data"


def measured(data: Path, machine: str, *runs: Sequence[Sample], cpu: str = OTHER_CPU) -> None:
    """A machine with a submission for each of `runs`."""
    for place, rows in enumerate(runs, start=2):
        values = changed(changed(machine_values(), "machine.id", machine), "machine.cpu_model", cpu)
        write_submission(data, rows, values, folder=f"{FOLDER}-{place}")


def ask(data: Path, command: str, *words: str) -> Result:
    arguments = [command, "--data", str(data), "--format", "json", *words]
    return CliRunner().invoke(commands, arguments, standalone_mode=False)


def advise(data: Path, *probes: str) -> Result:
    rates = [word for probe in probes for word in ("--rate", f"{probe}=1k")]
    return ask(data, "advise", "-e", " ".join(f"{probe} {{ }}" for probe in probes), *rates)


def predict(data: Path) -> Result:
    return ask(data, "predict", "--rate", "1k", "--case", "05-tracepoint-return")


def said(result: Result) -> dict[str, Any]:
    assert result.exception is None
    found: dict[str, Any] = json.loads(result.stdout)
    return found


# A machine that the data know, and of which they tell little


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([UNSOUND], id="its only submission is of grade D"),
        pytest.param([KERNELS, UNSOUND], id="the events of this case do not add up"),
        pytest.param([ENTRIES], id="of another case"),
    ],
)
def test_a_machine_without_a_sound_cost_is_passed_over_for_the_nearest_that_has_one(
    data: Path, runs: Sequence[Sequence[Sample]]
) -> None:
    measured(data, "here", *runs, cpu="Example CPU 9000")
    measured(data, "there", ENTRIES, EXITS)
    answered = said(advise(data, EXIT, ENTRY))
    assert answered["machine"] == "there"
    assert [one["cost_ns"] for one in answered["probes"]] == pytest.approx([100, 100])
    assert said(predict(data))["machine"] == "there"


def test_each_probe_has_the_cost_of_the_nearest_machine_that_measured_it(data: Path) -> None:
    measured(data, "here", ENTRIES, cpu="Example CPU 9000")
    measured(data, "there", EXITS, rows_of("02-kprobe", 50))
    answered = said(advise(data, ENTRY, EXIT))
    assert {one["probe"]: one["machine"] for one in answered["probes"]} == {ENTRY: "here", EXIT: "there"}
    assert answered["busiest_thread"]["slowdown_ratio"] == pytest.approx(1000 * (100 + 100) * 1e-9, rel=0.01)


def test_the_answer_says_of_each_probe_whose_cost_it_has(data: Path) -> None:
    measured(data, "here", ENTRIES, cpu="Example CPU 9000")
    measured(data, "there", ENTRIES, EXITS)
    rates = ("--rate", f"{ENTRY}=1k", "--rate", f"{EXIT}=1k")
    words = ("advise", "--data", str(data), "-e", f"{ENTRY} {{ }} {EXIT} {{ }}", *rates)
    text = " ".join(CliRunner().invoke(commands, words).stdout.split())
    assert "here: the same machine" in text
    assert f"there: another CPU, {OTHER_CPU};" in text
    assert "this machine" in text
    assert "Other, there" in text


def test_what_no_machine_measured_is_not_known_and_has_what_measures_it(data: Path) -> None:
    measured(data, "here", ENTRIES, cpu="Example CPU 9000")
    measured(data, "there", ENTRIES, KERNELS)
    answered = advise(data, ENTRY, EXIT, KERNEL)
    (unknown,) = [one for one in said(answered)["probes"] if one["cost_ns"] is None]
    assert (unknown["probe"], unknown["machine"]) == (EXIT, None)
    assert "`probe-effect measure per-event`" in unknown["note"]
    assert answered.return_value == 3


# A machine that no data know


@strangers
def test_an_unknown_machine_is_answered_by_those_that_it_may_be_compared_with(
    data: Path, monkeypatch: pytest.MonkeyPatch, here: MachineFile
) -> None:
    measured(data, "there", ENTRIES, EXITS)
    become(monkeypatch, here)
    is_alike = here.machine.architecture == "x86_64"
    predicted, advised = said(predict(data)), advise(data, EXIT)
    assert predicted["machine"] == "there"
    assert [one["machine"] for one in predicted["comparable" if is_alike else "others"]] == ["there"]
    assert probe_costs(DataFolder(data), facts_of_machine(*collect_named()), None).machines == ["there"] * is_alike
    assert said(advised)["machine"] == "there"
    (probe,) = said(advised)["probes"]
    assert ("Another kind of machine may differ several times" in (probe["note"] or "")) is not is_alike


@strangers
def test_an_unknown_machine_submits_beside_those_that_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: MachineFile
) -> None:
    clone = Clone(tmp_path, monkeypatch)
    own = machine_values() | {"machine": here.machine.model_dump(), "system": here.system.model_dump()}
    folder = write_submission(clone.data, [replace(row, wall_ns=(row.wall_ns or 0) + 1) for row in KERNELS], own)
    become(monkeypatch, here)
    words = ["submit", "--data", str(clone.data), "--dry-run", "--no-name", str(folder)]
    shown = " ".join(CliRunner().invoke(commands, words, catch_exceptions=False).stderr.split())
    against = shown.partition("Against the nearest machine")[2]
    assert "Example, machine" in against
    assert ("never compared" in against) == (here.machine.architecture != "x86_64")


@strangers
def test_data_without_a_machine_answer_nobody_and_say_what_to_do(
    data: Path, monkeypatch: pytest.MonkeyPatch, here: MachineFile
) -> None:
    become(monkeypatch, here)
    refused, advised = predict(data).exception, advise(data, EXIT)
    assert isinstance(refused, ProbeEffectError)
    assert "measure this machine with `probe-effect measure`" in str(refused)
    assert advised.return_value == 3
    (probe,) = said(advised)["probes"]
    assert "measure it with `probe-effect measure per-event`" in probe["note"]
    assert probe_costs(DataFolder(data), facts_of_machine(*collect_named()), None).machines == []


# The machines of the real data, and those that are like them in nothing but their kind


def kind(document: MachineFile) -> tuple[str | None, bool | None, str]:
    """What two machines have in common that may be compared."""
    return document.machine.virtualization, document.machine.nested, document.machine.architecture


def test_what_the_guide_asks_is_answered_on_every_machine_of_a_kind_that_was_measured(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = evidence_of(catalogue)
    shown, _ = read_transcripts(DataFolder(REAL_DATA))
    scripts = [text for one in shown for text in re.findall(r"advise -e '([^']+)'", one.transcript.run)]
    assert scripts
    tracers = {script.tracer for script in map(read_script, scripts)}
    measured = {one.machine: one.document for one in catalogue.timed}
    # Of a kind that nobody measured with the tracer, nothing can be known.
    kinds = {kind(measured[one]) for one in found.machines if tracers <= found.by_tracer(one).keys()}
    known = {machine: document for machine, document in measured.items() if kind(document) in kinds}
    for virtualization, nested, architecture in kinds:
        own = {"virtualization": virtualization, "nested": nested, "architecture": architecture}
        for name, one in STRANGERS.items():
            known[name] = one.model_copy(update={"machine": one.machine.model_copy(update=own)})
    unanswered = []
    probes = [(script.tracer, placed(script, None)) for script in map(read_script, scripts)]
    for name, document in known.items():
        become(monkeypatch, document)
        here = facts_of_machine(*collect_named())
        for tracer, its in probes:
            asked = groups(its, None, {}, here)
            unanswered += [(name, one.attach) for one in asked if not asked_here(found, here, tracer, one)]
    assert unanswered == []


SCRIPTS = (
    "t:syscalls:sys_enter_newfstatat { @[comm] = count() }",
    "t:syscalls:sys_exit_read { @ = hist(args->ret) }",
    "uprobe:libc:malloc { @ = count() }",
    "t:syscalls:sys_enter_newfstatat, t:syscalls:sys_enter_openat { @[probe] = count() }",
    "t:sched:sched_switch { @[kstack] = count() }",
    "usdt:/bin/server:request { @ = count() }",
)


@strangers
@pytest.mark.parametrize("virtualization", ["kvm", None])
@pytest.mark.parametrize("script", SCRIPTS)
def test_static_and_user_probes_have_a_cost_on_any_machine_though_no_data_know_it(
    catalogue: Catalogue, script: str, virtualization: str | None, here: MachineFile
) -> None:
    machine = here.machine.model_copy(update={"virtualization": virtualization, "nested": bool(virtualization)})
    found, facts = evidence_of(catalogue), facts_of(machine, here.system.kernel_release)
    for probe in read_script(script).probes:
        group = ProbeGroup(
            attach=probe.attach,
            kind=probe.kind,
            mechanism="stepped" if probe.kind == "uprobe" else None,
            matched=1,
            first_bytes=None,
            actions=probe.actions,
        )
        known = asked_here(found, facts, "bpftrace", group)
        assert known is not None
        assert known.cost.low is not None
