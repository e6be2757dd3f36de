"""`probe-effect predict`: its words, its JSON and its exit statuses."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.builders import MACHINE, REAL_DATA, changed, machine_document, machine_values, write_submission
from helpers.evidence_builder import rows_of
from helpers.identities import become
from helpers.json_keys import OF_PREDICT, undescribed
from helpers.live_programs import needs_bpf
from probe_effect.cli.advise import predict as command
from probe_effect.model import ProbeEffectError, UsageError
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture(autouse=True)
def _this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine like the one that was measured, and not the one that runs the tests."""
    become(
        monkeypatch, machine_document(machine__id="here", system__kernel_release="6.12.9", system__vulnerabilities={})
    )


def run(data: Path, *arguments: str) -> Result:
    options = ["--data", str(data), *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False)


def ask(data: Path, *arguments: str) -> dict[str, Any]:
    outcome = run(data, "--rate", "50k", *arguments, "--format", "json")
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def test_the_answer_is_one_sentence_with_what_stands_behind_it(data: Path) -> None:
    outcome = run(data, "--rate", "50k", "--case", "02-kprobe")
    assert outcome.return_value == 0
    shown = outcome.stdout.replace("\u00a0", " ")
    assert shown.startswith(
        "At 50 k events/s, “Kprobe” with bpftrace 0.23 slows a busy thread by 0.25 % on Example, machine"
    )
    titles = ["What it does", "When it begins to matter", "Where this is from", "Comparable machines", "Assumed"]
    assert [title for title in titles if title not in shown] == []
    assert "same CPU name, Example CPU 9000; same kernel 6.12; physical too" in " ".join(shown.split())


def test_the_json_has_the_keys_that_others_rely_on(data: Path) -> None:
    found = ask(data, "--case", "02-kprobe")
    assert list(found) == OF_PREDICT
    assert undescribed("predict", found) == set()
    assert (found["rate_hz"], found["case"], found["tracer"], found["machine"]) == (
        50_000,
        "02-kprobe",
        "bpftrace",
        MACHINE,
    )
    assert found["slowdown_ratio"] == pytest.approx(0.0025)
    assert found["cpu_s_per_s"] == pytest.approx(0.0025 / 1.0025)
    assert found["composed"] is False


def test_a_cost_within_the_noise_has_a_high_end_and_no_value(data: Path) -> None:
    write_submission(data, rows_of("02-kprobe", 0), folder="2026-11-21-per-event")
    values = machine_values()
    changed(values, "run.started", "2026-11-21T10:00:00Z")
    (data / "results" / MACHINE / "2026-11-21-per-event" / "machine.json").write_text(json.dumps(values))
    found = ask(data, "--case", "02-kprobe")
    assert found["distinguishable"] is False
    assert (found["slowdown_ratio"], found["slowdown_low_ratio"], found["threshold_1_hz"]) == (None, None, None)
    assert found["slowdown_high_ratio"] is not None
    assert "not distinguishable from 0" in found["sentence"]


def test_machines_of_another_kind_answer_with_that_mark_and_the_status_is_1(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become(monkeypatch, machine_document(machine__id="here", machine__architecture="aarch64"))
    outcome = run(data, "--rate", "50k", "--case", "02-kprobe")
    assert outcome.return_value == 1
    assert "x86-64, not arm64" in outcome.stdout
    assert "Another kind of machine may differ several times" in " ".join(outcome.stdout.split())
    found = ask(data, "--case", "02-kprobe")
    assert (found["machine"], found["comparable"]) == (MACHINE, [])
    assert [one["machine"] for one in found["others"]] == [MACHINE]
    assert list(found) == OF_PREDICT


def test_of_many_comparable_machines_the_ten_most_alike_are_printed(data: Path) -> None:
    for number in range(11):
        values = machine_values()
        changed(values, "machine.id", f"neighbour-{number}")
        write_submission(data, rows_of("02-kprobe"), values)
    shown = run(data, "--rate", "50k", "--case", "02-kprobe").stdout.partition("Comparable machines")[2]
    assert shown.count("Example, ") == 10
    assert "and 2 more" in shown
    assert len(ask(data, "--case", "02-kprobe")["comparable"]) == 12


def test_a_named_machine_needs_no_reason_for_having_been_chosen(data: Path) -> None:
    outcome = run(data, "--rate", "50k", "--case", "02-kprobe", "--machine", MACHINE)
    assert "chosen because" not in outcome.stdout


def test_a_thread_that_waits_is_told_its_delay(data: Path) -> None:
    assert "none: idle time pays" in run(data, "--rate", "1k", "--case", "02-kprobe", "--busy", "40%").stdout
    assert "delay" not in run(data, "--rate", "1k", "--case", "02-kprobe").stdout


def test_several_probes_may_have_rates_of_their_own(data: Path) -> None:
    found = ask(data, "--case", "02-kprobe", "--case", "02-kprobe@150k")
    assert (found["rate_hz"], found["case"]) == (200_000, "02-kprobe+02-kprobe")
    assert [one["rate_hz"] for one in found["probes"]] == [50_000, 150_000]
    assert found["slowdown_ratio"] == pytest.approx(0.01)
    assert "The costs of several probes add. That was not checked on this machine." in found["assumptions"]


def test_a_profiler_is_asked_about_by_its_rate_and_the_depth_of_the_stack(data: Path) -> None:
    for name in ("sampling", "sampling-depth"):
        shutil.copytree(REAL_DATA / "suites" / name, data / "suites" / name)
    sampled = changed(machine_values(), "run.suite", "sampling")
    write_submission(
        data, rows_of("06-sample-record-stack", 15_000, tracer="perf-record"), sampled, folder="2026-11-26-sampling"
    )
    found = json.loads(run(data, "--hz", "99", "--tracer", "perf-record", "--format", "json").stdout)
    assert found["case"] == "06-sample-record-stack"
    assert found["per_sample_ns"] == pytest.approx(15_000)
    assert found["slowdown_ratio"] == pytest.approx(99 * 15e-6)
    assert any("context switches" in one for one in found["assumptions"])
    assert ask(data, "--case", "02-kprobe")["per_sample_ns"] is None


def test_a_composed_cost_is_marked_and_names_its_cases(data: Path) -> None:
    # The submission of the small data folder has the plain probe, 02-kprobe.
    for day, case, cost_ns in ((22, "04-tracepoint-entry", 100), (23, "09-map", 80)):
        write_submission(data, rows_of(case, cost_ns), folder=f"2026-11-{day}-per-event")
    found = ask(data, "--probe", "tracepoint-entry", "--action", "count")
    assert (found["composed"], found["case"]) == (True, None)
    assert found["probes"][0]["cost_ns"] == pytest.approx(130)
    assert found["probes"][0]["cases"] == ["04-tracepoint-entry", "09-map", "02-kprobe"]
    assert any("its cost is composed" in one for one in found["assumptions"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "fast", "--case", "02-kprobe"], "rate 'fast': expected events per second, such as 50k"),
        (["--rate", "1e13", "--case", "02-kprobe"], "expected events per second, 0 or from 1e-06 to 1e"),
        (["--rate", "50k"], "nothing to predict: give a case with --case"),
        (["--case", "02-kprobe"], "expected a rate, found none"),
        (["--rate", "50k", "--case", "2-kprobe"], "2-kprobe: no such case; did you mean 02-kprobe"),
        (["--rate", "50k", "--case", "02-kprobe", "--tracer", "bptrace"], "did you mean bpftrace"),
        (["--rate", "50k", "--case", "02-kprobe", "--machine", "test-machin"], "did you mean test-machine"),
        (["--rate", "50k", "--case", "02-kprobe", "--threads", "0"], "threads 0: expected a whole number"),
        (["--rate", "50k", "--case", "02-kprobe", "--busy", "40"], "share '40': expected more than 0 %"),
        (["--rate", "50k", "--probe", "kprobe"], "--probe and --action belong together"),
        (["--probe", "kprobe", "--action", "count"], "kprobe with count: expected a rate, found none"),
        (["--rate", "50k", "--probe", "kprobes", "--action", "count"], "kprobes: no such probe; did you mean kprobe"),
        (["--hz", "99", "--rate", "5k"], "--hz asks about a profiler: give it without --rate"),
        (["--hz", "99", "--probe", "kprobe", "--action", "count"], "without --rate, --case"),
        (["--depth", "30", "--rate", "50k", "--case", "02-kprobe"], "give --hz with it"),
        (["--rate", "50k", "--probe", "kprobe", "--action", "counts"], "counts: no such action; did you mean count"),
    ],
)
def test_a_question_that_makes_no_sense_says_what_is_expected(data: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        run(data, *arguments)
    assert message in str(raised.value)


def test_a_case_that_could_not_be_measured_says_why_and_what_has_guidance(data: Path) -> None:
    with pytest.raises(ProbeEffectError) as raised:
        run(data, "--rate", "50k", "--case", "06-uprobe", "--tracer", "bpftrace")
    assert raised.value.exit_status == 1
    assert "06-uprobe with bpftrace: no guidance: skipped: this kernel has no uprobes" in str(raised.value)


def test_a_case_whose_events_do_not_add_up_gives_no_guidance(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    with pytest.raises(ProbeEffectError, match="its events do not add up"):
        run(data, "--rate", "50k", "--case", "05-tracepoint-return")


def test_the_system_calls_of_the_program_pay_for_a_probe_on_one_of_them(data: Path) -> None:
    for day, case, cost_ns in ((22, "04-tracepoint-entry", 100), (23, "28-tracepoint-silent", 40)):
        write_submission(data, rows_of(case, cost_ns), folder=f"2026-11-{day}-per-event")
    as_in_the_loop = ask(data, "--case", "04-tracepoint-entry")["probes"][0]
    assert (as_in_the_loop["calls_per_event"], as_in_the_loop["basis"]) == (2, "measured")
    assert as_in_the_loop["call_cost_ns"] == pytest.approx(20)
    found = ask(data, "--case", "04-tracepoint-entry", "--calls", "500k")
    assert found["probes"][0]["calls_per_event"] == 10
    assert found["probes"][0]["cost_ns"] == pytest.approx(100 + 8 * 20)
    assert any("every system call of the program pays" in one for one in found["assumptions"])
    assert ask(data, "--case", "02-kprobe", "--calls", "500k")["probes"][0]["call_cost_ns"] is None


def test_here_times_the_script_of_a_case_and_says_which_that_is(data: Path) -> None:
    with pytest.raises(UsageError, match="name one with --case"):
        ask(data, "--rate", "50k", "--probe", "kprobe", "--action", "count", "--here")


@needs_bpf
@pytest.mark.skipif(Bpftrace().available() is not None, reason=str(Bpftrace().available()))
def test_here_adds_what_the_case_costs_on_this_machine() -> None:
    (timed,) = ask(REAL_DATA, "--case", "04-tracepoint-entry", "--tracer", "bpftrace", "--here")["here"]
    assert timed["case"] == "04-tracepoint-entry"
    assert timed["cost_low_ns"] < timed["cost_high_ns"]  # the low end is below zero beside work that disturbs
    assert timed["slowdown_ratio"] is not None
