"""Hosted runners: one machine for all runs of an image and a CPU, a tier of its own, and never better than grade C."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.builders import changed, machine_document, machine_values, many_blocks, write_submission
from probe_effect.cli.measure import measure
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.questions import of_all_machines, question
from probe_effect.host import this_machine
from probe_effect.host.this_machine import collect_named
from probe_effect.model import Key
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.shown import by_likeness, facts_of, facts_of_machine, facts_of_submission, home_machine
from probe_effect.site.pages import fragments, machine_page
from probe_effect.store.machine_file import MachineFile, is_hosted, runner_id
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

IMAGE, CPU = "Ubuntu 24.04.3 LTS", "AMD EPYC 7763 64-Core Processor"
KPROBE = Key("02-kprobe", "bpftrace", None)


def runner(**facts: object) -> dict[str, Any]:
    """The file of a run on a hosted runner, with the id that it has there."""
    values = machine_values()
    usual = {"system__os": IMAGE, "machine__cpu_model": CPU, "machine__virtualization": "Hyper-V"}
    for path, value in (usual | {"provenance__kind": "hosted"} | facts).items():
        changed(values, path.replace("__", "."), value)
    document = MachineFile.model_validate(values, strict=False)
    return changed(values, "machine.id", runner_id(document.machine, document.system))


def add(data: Path, day: int, cost_ns: float, **facts: object) -> str:
    """A run of that day on a hosted runner; the id of the machine."""
    started = f"2026-12-{day:02}T10:00:00Z"
    values = runner(run__started=started, run__ended=f"2026-12-{day:02}T10:30:00Z", **facts)
    write_submission(data, many_blocks(cost_ns=cost_ns), values, f"2026-12-{day:02}-per-event")
    return str(values["machine"]["id"])


@pytest.fixture
def three_hosts(data: Path) -> Catalogue:
    """A quiet machine of somebody's own, and three runs of one kind of runner."""
    for day, cost_ns in ((1, 900), (2, 1500), (3, 1200)):
        add(data, day, cost_ns, machine__microcode=f"0x{day}", system__kernel_release=f"6.11.0-{day}-azure")
    return read_catalogue(DataFolder(data))


def hosted(catalogue: Catalogue) -> str:
    """The only hosted machine."""
    [found] = [one for one in catalogue.numbers.machines() if is_hosted(one)]
    return found


# One kind of runner is one machine.


@pytest.mark.parametrize(
    ("key", "value", "is_same"),
    [
        ("system__kernel_release", "6.14.0", True),
        ("machine__microcode", "0x9", True),
        ("system__os", "Ubuntu 24.04 LTS", True),
        ("system__os", "Ubuntu 22.04.5 LTS", False),
        ("machine__cpu_model", "Neoverse-N2", False),
        ("machine__threads", 2, False),
    ],
)
def test_the_id_of_a_runner_is_of_its_image_and_cpu_and_neither_of_its_kernel_nor_its_host(
    key: str, value: object, is_same: bool
) -> None:
    name = runner()["machine"]["id"]
    assert name.startswith("hosted-ubuntu-24-04-amd-epyc-7763-8t-")
    assert (runner(**{key: value})["machine"]["id"] == name) is is_same


def test_a_system_that_does_not_say_what_it_is_has_an_id_too() -> None:
    assert runner(system__os=None, machine__cpu_model=None)["machine"]["id"].startswith(
        "hosted-unknown-image-unknown-8t-"
    )


def test_runs_on_three_hosts_count_as_one_machine_in_ranges_whose_ends_are_those_of_all_runs(
    three_hosts: Catalogue,
) -> None:
    asked = question(three_hosts, "bpftrace.02-kprobe")
    assert asked is not None
    found = of_all_machines(three_hosts, asked)
    assert found is not None
    assert found.machines == 2
    own = three_hosts.numbers.of_machine("test-machine")[KPROBE]
    assert (found.time.low, found.time.high) == pytest.approx((own.known_cost.low, 1500))


def test_guidance_takes_the_range_over_all_hosts_and_the_newest_value(three_hosts: Catalogue) -> None:
    cost = evidence_of(three_hosts).costs[hosted(three_hosts), "bpftrace", "02-kprobe"].known_cost
    assert cost == pytest.approx((1200, 900, 1500))


def test_the_cost_of_any_other_machine_is_that_of_its_current_run(three_hosts: Catalogue) -> None:
    current = three_hosts.numbers.of_machine("test-machine")[KPROBE]
    assert evidence_of(three_hosts).costs["test-machine", "bpftrace", "02-kprobe"] is current


def test_the_list_of_machines_has_the_kind_of_runner_once_with_its_runs(three_hosts: Catalogue) -> None:
    rows = [
        line for line in fragments.write_all(three_hosts)["machines.md"].splitlines() if "/machines/hosted-" in line
    ]
    assert len(rows) == 1
    assert "| hosted runner, 3 runs |" in rows[0]


def test_its_page_says_what_it_is_and_shows_the_costs_from_host_to_host(three_hosts: Catalogue) -> None:
    text = machine_page.write(three_hosts.numbers.machines()[hosted(three_hosts)], three_hosts)
    assert '"kicker": "hosted runner"' in text
    assert "## From host to host" in text
    assert re.search(r"\(900\Dto\D1\D500", text)
    assert "a difference is that of the hosts" in text
    assert "(/method/machines/#hosted-runners)" in text


def test_the_page_of_another_machine_says_nothing_of_hosts(three_hosts: Catalogue) -> None:
    text = machine_page.write(three_hosts.numbers.machines()["test-machine"], three_hosts)
    assert "host to host" not in text
    assert "hosted" not in text


# Its tier, grade and name.


def test_a_runner_is_of_a_tier_of_its_own_and_is_called_so(three_hosts: Catalogue) -> None:
    newest = three_hosts.numbers.machines()[hosted(three_hosts)][0]
    assert names.tier(newest.document.machine) == "hosted runner"
    assert names.machine_name(newest).startswith("EPYC runner, ")


def test_its_grade_is_of_what_was_measured_and_not_of_what_the_machine_is(three_hosts: Catalogue) -> None:
    newest = three_hosts.numbers.machines()[hosted(three_hosts)][0]
    assert newest.grade == "A"
    assert newest.grade_reasons == ()


@pytest.mark.parametrize(
    ("virtualization", "nested", "load", "is_hosted_home"),
    [(None, None, 0.1, False), ("KVM", True, 0.1, False), (None, None, 7.5, True)],
)
def test_it_is_the_home_machine_only_where_every_other_was_under_load(
    data: Path, virtualization: str | None, nested: bool | None, load: float, is_hosted_home: bool
) -> None:
    shutil.rmtree(data / "results")
    values = machine_values()
    for key, value in (("virtualization", virtualization), ("nested", nested)):
        changed(values, f"machine.{key}", value)
    write_submission(data, values=changed(values, "run.load_before", load))
    name = add(data, 1, 900)
    assert (home_machine(read_catalogue(DataFolder(data)).numbers) == name) is is_hosted_home


def test_advice_for_another_machine_says_that_it_is_hosted_and_does_not_compare(three_hosts: Catalogue) -> None:
    newest = three_hosts.numbers.machines()[hosted(three_hosts)][0]
    here = facts_of(machine_document(machine__id="here", machine__virtualization="KVM").machine, "6.12.1")
    [found] = by_likeness(here, [facts_of_submission(newest)])
    assert not found.comparable
    assert "hosted runner, not virtual machine" in found.reasons


def test_advice_on_such_a_runner_takes_the_runs_of_its_kind(
    three_hosts: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = machine_document(machine__cpu_model=CPU, machine__virtualization="Hyper-V", system__os=IMAGE)
    monkeypatch.setattr(this_machine, "collect_machine", lambda: document.machine)
    monkeypatch.setattr(this_machine, "collect_system", lambda _: document.system)
    monkeypatch.setenv("RUNNER_ENVIRONMENT", "self-hosted")
    assert facts_of_machine(*collect_named()).machine == "test-machine"
    monkeypatch.setenv("RUNNER_ENVIRONMENT", "github-hosted")
    assert facts_of_machine(*collect_named()).machine == hosted(three_hosts)


# Measuring


def test_counts_are_of_no_runner() -> None:
    outcome = CliRunner().invoke(measure, ["--provenance", "hosted", "--vm", "trixie"])
    assert outcome.exit_code == 2
    assert "a machine of --vm is no runner" in outcome.output
