"""What others measured without a hypervisor, beside a user probe that is stepped in a guest of KVM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import PROJECT
from helpers.evidence_builder import MACHINE, TRACER, case, cost_of, evidence, measured, parts, suite
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import read_sources
from probe_effect.numbers.published import printed_text
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.costs.row import CostRow

SUITE = suite(
    "loops",
    case("06-uprobe", "uprobe", needs=["uprobe"], functions=["libc:__read"]),
    case("04-entry", "tracepoint-entry"),
)
STEPPED, EMULATED = "f3 0f 1e fa", "55 48 89 e5"
SOURCES = read_sources(DataFolder(PROJECT / "data"))


def part_of(name: str = "06-uprobe", first: str = STEPPED, **machine: Any) -> CostRow:  # noqa: ANN401
    kvm = {"machine__virtualization": "KVM", "machine__architecture": "x86_64"}
    document = {"run__functions": {"libc:__read": first}, "system__kernel_release": "6.18.1", **kvm, **machine}
    found = evidence((SUITE,), measured(name, Estimate(2700.0, 2600.0, 2800.0), document=document))
    found.sources = lambda: SOURCES
    (part,) = parts(found, Question(probes=(ProbeQuestion(name, 1000.0),)), MACHINE, TRACER)
    made = cost_of(found, MACHINE, TRACER, kind=found.case_of[name].probe)
    assert made is not None
    assert made.hardware is part.hardware
    return part


def test_a_stepped_probe_in_a_guest_has_what_others_measured_on_a_machine_that_they_say_is_physical() -> None:
    one = part_of().hardware
    assert one is not None
    assert (one.source.id, one.figure.figure) == ("piotrowski-2023-tracing-overhead", "ns_bpftrace_06")
    assert one.text == "1\u202f085\u00a0ns†"


@pytest.mark.parametrize(
    "changed",
    [
        {"first": EMULATED},
        {"name": "04-entry"},
        {"machine__virtualization": None},
        {"machine__virtualization": "Xen"},
        {"machine__architecture": "aarch64"},
    ],
)
def test_a_probe_without_an_exit_from_a_guest_of_kvm_has_none(changed: dict[str, Any]) -> None:
    assert part_of(**changed).hardware is None


def test_every_platform_that_is_called_physical_is_one_of_its_source() -> None:
    named = [(source, one) for source in SOURCES for one in source.document.physical]
    assert named
    for source, platform in named:
        assert platform in {source.document.hardware, *(figure.platform for figure in source.figures)}


@pytest.mark.parametrize(
    ("printed", "unit", "text"),
    [
        ("131119", "hz", "131\u202f119\u00a0events/s"),
        ("2561.57", "ns", "2\u202f561.57\u00a0ns"),
        ("~200,000", "ns", "about 200\u202f000\u00a0ns"),
        ("0.90", "s", "0.90\u00a0s"),
        ("~1670ns", "ns", "~1670ns"),
    ],
)
def test_a_printed_figure_keeps_its_digits(printed: str, unit: str, text: str) -> None:
    figure = replace(SOURCES[0].figures[0], printed=printed, unit=unit)
    assert printed_text(figure) == text
