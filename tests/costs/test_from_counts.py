"""From counted instructions to time: the model of a machine, and how far what it was not told lies from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import machine_document
from helpers.evidence_builder import MACHINE, TRACER, case, cost_of, evidence, measured, suite
from helpers.number_builder import number, submission
from probe_effect import units
from probe_effect.answer.answers import answer, tried
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import assumptions, headline
from probe_effect.costs import from_counts
from probe_effect.costs.from_counts import (
    CALL_INSTRUCTIONS,
    Calibration,
    EventCount,
    Model,
    Models,
    calibrations,
    counted,
    counted_as,
    models,
)
from probe_effect.costs.instructions import RecordedClasses
from probe_effect.model import Estimate, ProbeEffectError
from probe_effect.numbers.shown import facts_of
from probe_effect.store.result_tables import Classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.submission import Number

BYTES = {"loop:push": "55 48 89 e5", "loop:load": "48 8b 05 71 2b 00 00"}
USER = [
    (f"{name}-{kind}-{place}", kind)
    for kind in ("uprobe", "uretprobe")
    for name in ("push", "load")
    for place in (1, 2, 3)
]
KERNEL = [(f"{kind}-{number}", kind) for kind in ("entry", "return", "raw") for number in (1, 2, 3, 4)]
SUITE = suite(
    "loops",
    *(case(name, kind, needs=["uprobe"], functions=[f"loop:{name.partition('-')[0]}"]) for name, kind in USER),
    *(case(name, kind) for name, kind in KERNEL),
    case("kprobe", "kprobe", needs=["kprobe"]),
    case("kprobe-count", "kprobe", "count", needs=["kprobe"]),
    case("both", "kprobe", parts=["kprobe", "entry-1"]),
)
INSTRUCTION_NS, BREAKPOINT_NS, STEP_NS = 0.4, 300.0, 10_000.0
DOCUMENT = {"run__functions": BYTES, "system__kernel_release": "6.18.1"}


def instructions(name: str) -> float:
    """A count for each case, no two of them alike."""
    return 200.0 + 70.0 * sum(map(ord, name)) % 1900


def true_ns(name: str) -> float:
    exceptions = {"push": BREAKPOINT_NS, "load": BREAKPOINT_NS + STEP_NS}
    return INSTRUCTION_NS * instructions(name) + exceptions.get(name.partition("-")[0], 0.0)


def count_of(name: str, kernel: str = "6.12.1", tracer: str = TRACER) -> Number:
    document = DOCUMENT | {"system__kernel_release": kernel}
    own = submission(f"emulated-{kernel.replace('.', '-')}", metric="instructions", document=document)
    return number(own, Estimate(instructions(name)), name, tracer)


def time_of(name: str, times: float = 1.0) -> Number:
    ns = true_ns(name) * times
    return measured(name, Estimate(ns, ns * 0.99, ns * 1.01), document=DOCUMENT)


def known(times: dict[str, float] | None = None, kprobe: Sequence[Number] = ()) -> Evidence:
    """Every case but those of kprobes timed, each so many `times` what the model would have; all of them counted.

    Args:
        kprobe: other counts of the plain kprobe.
    """
    timed = [name for name, _ in (*USER, *KERNEL)]
    found = evidence((SUITE,), *(time_of(name, (times or {}).get(name, 1.0)) for name in timed))
    found.counts.update({name: [count_of(name)] for name in (*timed, "kprobe", "kprobe-count")})
    found.counts["kprobe"] = list(kprobe) or found.counts["kprobe"]
    return found


def count_for(*kprobe: Number, tracer: str = TRACER) -> Number | None:
    """Which of some counts stands for the plain kprobe on the machine."""
    found = known(kprobe=kprobe)
    return counted(found, MACHINE, tracer, found.case_of["kprobe"])


def test_what_instructions_and_exceptions_cost_is_found_again() -> None:
    model = models(known()).by_machine[MACHINE]
    assert (model.instruction_ns, model.breakpoint_ns, model.step_ns) == pytest.approx(
        (INSTRUCTION_NS, BREAKPOINT_NS, STEP_NS), rel=1e-6
    )


@given(st.lists(st.floats(0.5, 2.0), min_size=len(KERNEL), max_size=len(KERNEL)))
def test_an_estimates_interval_holds_what_was_left_out(times: list[float]) -> None:
    fitted = models(known(dict(zip((name for name, _ in KERNEL), times, strict=True))))
    left_out = fitted.left_out[False]
    ratio = fitted.ratios[False]
    assert len(left_out) == len(KERNEL)
    assert ratio.low is not None
    assert ratio.high is not None
    assert sum(ratio.low <= one <= ratio.high for one in left_out) >= 0.95 * len(left_out)
    assert min(left_out) > 0


def test_a_kind_that_is_far_off_is_judged_by_what_the_others_say_of_it() -> None:
    fitted = models(known({name: 3.0 for name, kind in KERNEL if kind == "raw"}))
    ratios = {one.kind: one.ratio for one in fitted.by_machine[MACHINE].calibrations}
    assert ratios["raw"] == pytest.approx(3.0, rel=1e-3)


def test_an_estimate_has_the_interval_of_its_own_kind_and_of_all_kinds_where_few_of_its_own_were_timed() -> None:
    uprobes = [Calibration("uprobe", TRACER, "uprobe", True, 2.0 + place / 10) for place in range(10)]
    others = [Calibration("usdt", TRACER, "usdt", True, 0.8) for _ in range(9)]
    fitted = Models({MACHINE: Model(1.0, 1.0, 1.0, (*uprobes, *others))})
    ns = instructions("kprobe") + 1.0
    for kind, low, high in (("uprobe", 1.0, 2.9), ("usdt", 0.8, 2.9), ("kprobe", 0.8, 2.9)):
        assert fitted.cost(MACHINE, EventCount(kind, count_of("kprobe"), 1, 0)) == Estimate(ns, low * ns, high * ns)


def test_a_probe_that_could_not_be_timed_costs_what_its_instructions_do() -> None:
    part = cost_of(known(), MACHINE, TRACER, kind="kprobe", actions=["nothing"], rate_hz=1.0)
    assert part is not None
    assert (part.basis, part.cases, part.highest_hz) == ("estimated", ["kprobe"], None)
    assert part.cost.value == pytest.approx(INSTRUCTION_NS * instructions("kprobe"))
    assert part.sources
    assert all(one.submission.machine == MACHINE for one in part.sources)


def test_a_kprobe_made_by_a_breakpoint_has_that_on_top_and_says_how_it_was_counted() -> None:
    document = DOCUMENT | {"run__mechanisms": {f"kprobe {TRACER}": "ftrace"}}
    own = submission("emulated", metric="instructions", document=document)
    found = known(kprobe=[number(own, Estimate(300.0), "kprobe", TRACER, mechanism="ftrace")])
    part = cost_of(found, MACHINE, TRACER, kind="kprobe", mechanism="trap")
    assert part is not None
    assert part.cost.value == pytest.approx(300 * INSTRUCTION_NS + BREAKPOINT_NS)
    assert part.note == "“kprobe” was counted with probes made by ftrace, and not by trap."


def test_the_nearest_kernel_counts_and_another_version_of_the_tool_only_where_there_is_no_other() -> None:
    kernels = [count_of("kprobe", kernel) for kernel in ("5.10.1", "6.17.2", "7.3.1")]
    assert count_for(*kernels) is kernels[1]
    tools = [count_of("kprobe", tracer=tracer) for tracer in ("bpftrace-0-23-2", "libbpf")]
    assert count_for(*tools) is tools[0]
    assert count_for(*tools, tracer="strace") is None


def test_what_another_architecture_counts_says_nothing_of_a_machine() -> None:
    elsewhere = submission(
        "emulated-arm64", metric="instructions", document=DOCUMENT | {"machine__architecture": "aarch64"}
    )
    on_arm64 = number(elsewhere, Estimate(300.0), "kprobe", TRACER)
    assert count_for(on_arm64) is None
    on_bsd = submission("emulated-bsd", metric="instructions", document=DOCUMENT | {"machine__architecture": "amd64"})
    of_bsd = number(on_bsd, Estimate(300.0), "kprobe", TRACER)
    assert count_for(on_arm64, of_bsd) is of_bsd


def test_a_count_on_the_first_cpu_says_nothing_of_what_bpftrace_does_at_a_tracepoint_on_another() -> None:
    both = suite("loops", case("entry", "tracepoint-entry", sampled_on_cpu_0=["bpftrace"]), case("fentry", "fentry"))
    elsewhere = DOCUMENT | {"run__workload_cpu": 1}
    found = evidence(
        (both,), *(measured(one.id, Estimate(100.0, 90.0, 110.0), document=elsewhere) for one in both.cases)
    )
    first = DOCUMENT | {"run__workload_cpu": 0}
    own = submission("emulated", metric="instructions", document=first)
    found.counts.update({one.id: [number(own, Estimate(300.0), one.id, TRACER)] for one in both.cases})
    assert [one.counted.kind for one in calibrations(found, MACHINE)] == ["fentry"]


def test_too_few_cases_make_no_model() -> None:
    found = known()
    for name, _ in (*KERNEL, *USER[4:]):
        del found.known(MACHINE, name).costs[TRACER]
    assert models(found).by_machine == {}
    assert models(found).cost(MACHINE, counted_as(found, found.case_of["kprobe"], count_of("kprobe"))) is None
    assert cost_of(found, MACHINE, TRACER, kind="kprobe") is None


def answered(found: Evidence, name: str, machine: str | None = None) -> Any:  # noqa: ANN401
    here = facts_of(machine_document(machine__id="here").machine, "6.12.1-amd64")
    return answer(found, Question(probes=(ProbeQuestion(name, 50_000.0),), machine=machine), here)


def test_the_answer_says_that_it_is_an_estimate_and_how_it_came_about() -> None:
    found = known({name: 3.0 for name, kind in KERNEL if kind == "raw"})
    one = answered(found, "kprobe").headline.forecast
    assert "kprobe (estimated) with" in headline(one)
    assert one.loss_ratio is None
    (said,) = [text for text in assumptions(one, tried(found, one)) if "is estimated from" in text]
    assert f"from {units.count(instructions('kprobe'))} instructions" in said
    assert "wider than a factor of two" in said
    assert "breakpoint" not in said


def test_an_estimate_of_this_machine_comes_before_what_others_measured_and_never_beside_it() -> None:
    found = known()
    for name, _ in (*USER, *KERNEL):
        own = measured(name, found.costs[MACHINE, TRACER, name].known_cost, machine="here", document=DOCUMENT)
        found.add(own)
    far = measured("kprobe", Estimate(90.0, 80.0, 100.0), document={"machine__cpu_model": "Another CPU"}, machine="far")
    found.add(far)
    said = answered(found, "kprobe")
    assert {one.forecast.parts[0].basis for one in said.comparable} == {"measured"}
    alike = facts_of(machine_document(machine__id="another").machine, "6.12.1-amd64")
    said = answer(found, Question(probes=(ProbeQuestion("kprobe", 50_000.0),)), alike)
    assert said.headline.forecast.machines == ("far",), "of several machines those that measured it"


def test_a_tracer_without_an_estimate_names_those_that_have_one() -> None:
    with pytest.raises(ProbeEffectError, match=rf"It can be estimated with: {TRACER} on {MACHINE}\."):
        answer(
            known(),
            Question(probes=(ProbeQuestion("kprobe", 1.0),), tracer="strace"),
            facts_of(machine_document().machine, "6.1"),
        )


def test_several_probes_at_once_have_no_count_of_their_own() -> None:
    with pytest.raises(ProbeEffectError, match="nobody measured it"):
        answered(known(), "both")


@pytest.mark.parametrize("other", [{"probe": "profile"}, {"probe": "audit"}, {"action": "print"}])
def test_no_count_of_a_sample_of_auditing_or_of_an_event_that_is_printed_becomes_a_time(other: dict[str, str]) -> None:
    found = known()
    kprobe = found.case_of["kprobe"]
    assert counted(found, MACHINE, TRACER, kprobe) is not None
    assert counted(found, MACHINE, TRACER, kprobe.model_copy(update=other)) is None


def test_a_cost_without_an_interval_says_nothing_of_the_machine() -> None:
    found = known()
    own = [one.counted.number.case for one in calibrations(found, MACHINE)]
    found.add(measured("raw-1", Estimate(5.0), document=DOCUMENT))
    found.worked_out.clear()
    assert sorted({*own} - {one.counted.number.case for one in calibrations(found, MACHINE)}) == ["raw-1"]


def test_a_return_takes_as_long_as_many_instructions_and_a_fault_as_long_as_a_breakpoint() -> None:
    model, number = Model(0.5, 300.0, 10_000.0, ()), count_of("kprobe")
    plain = model.cost_ns(EventCount("kprobe", number, 0, 0))
    assert plain == 0.5 * instructions("kprobe")
    assert model.cost_ns(EventCount("kprobe", number, 0, 0, calls=3)) == plain + 3 * (model.call_ns - 0.5)
    assert model.cost_ns(EventCount("kprobe", number, 0, 0, faults=1)) == plain + 300.0
    assert model.call_ns > 10 * model.instruction_ns


def test_where_probes_differ_in_their_returns_their_recorded_paths_make_the_estimates_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    returns = {"entry": 2, "return": 5, "raw": 10}  # of 100 instructions
    found = known({name: 1 + CALL_INSTRUCTIONS * returns[kind] / 100 for name, kind in KERNEL})
    for name, _ in USER:
        del found.known(MACHINE, name).costs[TRACER]
    unaware = models(found).left_out[False]
    paths = [
        RecordedClasses("x86_64", "6.12.1", TRACER, kind, "nothing", Classes(100, returns=of))
        for kind, of in returns.items()
    ]
    monkeypatch.setattr(from_counts, "recorded", lambda _: paths)
    found.worked_out.clear()
    assert min(unaware) < 0.8
    assert models(found).left_out[False] == pytest.approx([1.0] * len(KERNEL))
    assert models(found).by_machine[MACHINE].instruction_ns == pytest.approx(INSTRUCTION_NS)
