"""What others printed, as machines that can be asked for by name: with a dagger, and like none of ours."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from helpers.builders import machine_document
from helpers.evidence_builder import asked_here, case, evidence, measured, suite
from probe_effect.advising import script_report
from probe_effect.answer.advice import Thread, advise
from probe_effect.answer.answers import answer, tried
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import assumptions, grade, headline, recommendation
from probe_effect.costs.evidence import printed_costs
from probe_effect.costs.table import ProbeGroup
from probe_effect.model import Estimate, ProbeEffectError
from probe_effect.numbers.catalogue import PublishedSource
from probe_effect.numbers.shown import facts_of
from probe_effect.store.beside_files import Figure, SourceFile

SUITE = suite("per-event", case("02-kprobe", "kprobe"), case("06-uprobe"))
HERE = facts_of(machine_document(machine__id="here").machine, "6.12.1-amd64")
PLATFORM = "bpftrace 0.17.0, Xeon <b>Gold</b>"
MACHINE = "someone-2023.bpftrace-0-17-0-xeon-b-gold-b"


def figure(name: str, ns: str = "56", **values: Any) -> Figure:  # noqa: ANN401
    keys = dict.fromkeys(Figure.__slots__)
    usual = {"line": 2, "group": "-", "what": "kprobe, empty action", "value": Decimal(ns), "unit": "ns"}
    own = {"figure": name, "platform": PLATFORM, "case": "02-kprobe", "tracer": "bpftrace", "grade": "S"}
    return Figure(**{**keys, **usual, **own, "cost_ns": Decimal(ns), **values})


def source(*figures: Figure) -> PublishedSource:
    texts = dict.fromkeys(SourceFile.model_fields, "-")
    document = {**texts, "schema_version": 1, "read": "full", "grade": "S", "date": "2023-05-19", "author": "A. Author"}
    lists = {"remarks": (), "findings": (), "repeated": (), "physical": ()}
    return PublishedSource(Path("someone-2023"), SourceFile.model_validate(document | lists), figures)


def known(*figures: Figure) -> Any:  # noqa: ANN401
    found = evidence((SUITE,), measured("06-uprobe", Estimate(1000.0, 900.0, 1100.0)))
    found.printed.update(printed_costs([source(*figures)]))
    return found


def test_a_machine_of_others_is_asked_for_by_its_source_and_platform() -> None:
    found = known(figure("kprobe"))
    said = answer(found, Question(probes=(ProbeQuestion("02-kprobe", 50_000.0),), machine=MACHINE), HERE)
    assert said.headline is not None
    one = said.headline.forecast
    assert [part.basis for part in one.parts] == ["published"]
    assert one.prediction.slowdown == Estimate(50_000 * 56 / 1e9)
    assert "02-kprobe (published†)" in headline(one)
    assert f"{PLATFORM}† (A. Author" in headline(one)
    assert grade(one) == "none: printed by others"
    assert any("A. Author" in text and "order of magnitude" in text for text in assumptions(one, tried(found, one)))
    assert not any("blocks" in text for text in assumptions(one, tried(found, one)))


def test_what_others_printed_is_no_ground_to_go_ahead() -> None:
    """A printed figure has no interval, and ours for the same probe have been 28 times as high."""
    found = known(figure("kprobe"))
    said = answer(found, Question(probes=(ProbeQuestion("02-kprobe", 10.0),), machine=MACHINE), HERE).headline
    assert said is not None
    assert recommendation(said.forecast) is None
    asked = ProbeGroup(attach="k:f", kind="kprobe", actions=("nothing",), rates_hz={1: 10.0}, rate_hz=10.0)
    busy = Thread(tid=1, pid=1, name="busy", busy_ratio=1.0)
    advice = advise(found, HERE, "bpftrace", [asked], [busy], calls_hz={}, budget_ratio=0.01)
    assert (advice.within_budget, script_report.recommendation(advice), script_report.limits(advice)) == (None,) * 3
    assert advice.is_printed


def test_a_cost_that_nobody_printed_is_told_as_derived() -> None:
    found = known(figure("kprobe", cost_from="derived"))
    said = answer(found, Question(probes=(ProbeQuestion("02-kprobe", 50_000.0),), machine=MACHINE), HERE)
    assert said.headline is not None
    one = said.headline.forecast
    assert "(derived‡)" in headline(one)
    assert any("is not printed: it is derived" in text for text in assumptions(one, tried(found, one)))


def test_what_others_printed_stands_beside_no_measurement() -> None:
    found = known(figure("uprobe", case="06-uprobe"))
    said = answer(found, Question(probes=(ProbeQuestion("06-uprobe", 1.0),)), HERE)
    assert [one.forecast.parts[0].basis for one in said.neighbours] == ["measured"]


def test_without_a_measurement_the_machines_of_others_are_named() -> None:
    with pytest.raises(ProbeEffectError, match=f"Others printed its cost: --machine {MACHINE} --tracer bpftrace"):
        answer(known(figure("kprobe")), Question(probes=(ProbeQuestion("02-kprobe", 1.0),)), HERE)


def test_of_several_figures_for_one_case_none_is_taken() -> None:
    assert printed_costs([source(figure("nop"), figure("push", "300"))]) == {}


@pytest.mark.parametrize("values", [{"cost_ns": None}, {"case": None}, {"tracer": None}, {"cost_ns": Decimal(0)}])
def test_only_costs_of_a_case_with_a_tracer_can_be_asked_for(values: dict[str, Any]) -> None:
    assert printed_costs([source(figure("one", **values))]) == {}


def test_a_source_with_one_platform_is_one_machine() -> None:
    assert [key[0] for key in printed_costs([source(figure("one", platform=None))])] == ["someone-2023"]


def test_a_probe_of_a_script_has_the_printed_cost_of_its_own_action_where_nobody_measured_it() -> None:
    found = known(figure("kprobe"))
    plain = asked_here(found, HERE, "bpftrace", ProbeGroup(attach="-", kind="kprobe", actions=("nothing",)))
    assert plain is not None
    assert (plain.basis, plain.cost, plain.machines) == ("published", Estimate(56.0), ())
    assert asked_here(found, HERE, "perf", ProbeGroup(attach="-", kind="kprobe")) is None
    counted = ProbeGroup(attach="-", kind="kprobe", actions=("count",))
    assert asked_here(found, HERE, "bpftrace", counted) is None, "an empty probe stands for none that does more"
