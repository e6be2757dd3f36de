"""Claims of others: read from their file, and decided by numbers; each verdict, and what stops a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.number_builder import number, submission
from probe_effect.checks.run import check_all
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.site.facts import verdicts
from probe_effect.site.files import csv_text, page_tables, rows
from probe_effect.store.beside_files import MOST_WORDS, Claim, read_claims
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.model import Problem
    from probe_effect.numbers.submission import Submission

PROBE, OTHER = "06-uprobe", "04-tracepoint-entry"
VALUES: dict[str, Any] = {
    "id": "a",
    "subject": "User probes",
    "words": "It costs nothing.",
    "link": "https://example.org/1",
    "date": "2026-02-03",
    "who": "example#1",
    "conditions": "not stated",
    "says": "Nothing is read as below 100 ns.",
}
TESTED = {"numbers": (f"bpftrace*.{PROBE}",), "below": 100.0}


def claim(**values: object) -> Claim:
    return Claim(**(VALUES | (values or TESTED)))


def machine(name: str, *costs_ns: tuple[float, float, float], tracer: str = "bpftrace", **values: Any) -> Submission:  # noqa: ANN401
    own = submission(name, **values)
    for place, cost_ns in enumerate(costs_ns):
        number(own, Estimate(*cost_ns), (PROBE, OTHER)[place], tracer)
    return own


def decided(found: Claim, *machines: Submission) -> dict[str, Any]:
    [one] = verdicts(Catalogue(active=machines, claims=(found,)))
    return one


CLEAR, HIGH, WIDE = (50.0, 40.0, 60.0), (200.0, 190.0, 210.0), (100.0, 90.0, 110.0)


@pytest.mark.parametrize(
    ("costs_ns", "verdict"),
    [
        ((CLEAR, CLEAR), "holds"),
        ((CLEAR, HIGH), "holds if"),
        ((CLEAR, WIDE), "holds if"),
        ((HIGH, HIGH), "does not hold"),
        ((HIGH, WIDE), "cannot be said"),
        ((WIDE,), "cannot be said"),
        ((), "cannot be said"),
    ],
)
def test_a_claim_has_the_verdict_of_the_whole_intervals_of_all_machines(costs_ns: Any, verdict: str) -> None:  # noqa: ANN401
    machines = [machine(f"m-{place}", cost_ns) for place, cost_ns in enumerate(costs_ns)]
    assert decided(claim(), *machines)["verdict"] == verdict


def test_a_number_without_an_interval_decides_nothing() -> None:
    own = submission("m")
    number(own, Estimate(50.0), PROBE)
    assert decided(claim(), own)["verdict"] == "cannot be said"


@pytest.mark.parametrize(
    ("costs_ns", "verdict"), [((CLEAR, CLEAR), "cannot be said"), ((CLEAR, HIGH), "does not hold")]
)
def test_a_claim_on_a_worst_case_is_refuted_by_one_number_and_confirmed_by_none(costs_ns: Any, verdict: str) -> None:  # noqa: ANN401
    worst = claim(**TESTED, only_refutes=True)
    assert decided(worst, *(machine(f"m{place}", cost) for place, cost in enumerate(costs_ns)))["verdict"] == verdict


def test_a_claim_between_two_figures_fails_on_either_side() -> None:
    between = claim(numbers=TESTED["numbers"], above=30.0, below=100.0)
    assert decided(between, machine("m", CLEAR))["verdict"] == "holds"
    assert decided(between, machine("m", (20.0, 15.0, 25.0)))["verdict"] == "does not hold"


def test_figures_are_the_least_and_the_greatest_on_each_side_with_machine_unit_and_page() -> None:
    costs_ns = [(cost, cost - 1, cost + 1) for cost in (10.0, 20.0, 30.0, 200.0)]
    found = decided(claim(), *(machine(f"m-{place}", one) for place, one in enumerate(costs_ns)))
    assert [(one["value"], one["fits"]) for one in found["figures"]] == [(10, "yes"), (30, "yes"), (200, "no")]
    assert (found["fitting"], found["compared"], found["least"], found["greatest"]) == (3, 4, 10, 200)
    assert found["figures"][0]["text"] == "10.0\u00a0ns (9.0\u00a0to\u00a011.0)"
    assert found["figures"][0]["href"].startswith(f"/results/m-0/2026-11-20-tiny/{PROBE}/bpftrace/")
    assert found["figures"][0]["of"].endswith(", 0")


def test_a_pattern_names_all_versions_of_a_tracer_and_a_plain_key_one() -> None:
    machines = [
        machine("m-0", CLEAR, tracer="bpftrace-0-23-2"),
        machine("m-1", HIGH),
        machine("m-2", HIGH, tracer="perf"),
    ]
    assert decided(claim(), *machines)["compared"] == 2
    assert decided(claim(numbers=(f"bpftrace.{PROBE}",), below=100.0), *machines)["compared"] == 1
    assert decided(claim(numbers=(f"*.{PROBE}",), below=100.0), *machines)["compared"] == 3


def test_a_slowdown_is_of_the_rate_that_the_claim_states() -> None:
    one_per_cent = claim(numbers=TESTED["numbers"], quantity="slowdown", rate_hz=1e5, below=1.0)
    assert decided(one_per_cent, machine("m", CLEAR))["verdict"] == "holds"
    assert decided(one_per_cent, machine("m", HIGH))["figures"][0]["text"].startswith("2.0")


def test_a_claim_without_a_rate_holds_up_to_the_rate_that_is_computed() -> None:
    found = decided(
        claim(numbers=TESTED["numbers"], quantity="threshold", below=1.0), machine("m", (100.0, 95.0, 105.0))
    )
    assert found["verdict"] == "holds if"
    assert found["figures"][0]["text"].startswith("100\u00a0k\u00a0events/s")


def test_a_ratio_is_of_two_costs_of_one_run_with_one_tracer() -> None:
    ratio = claim(numbers=(f"*.{PROBE}",), quantity="ratio", over=f"*.{OTHER}", above=3.0)
    assert decided(ratio, machine("m", HIGH, CLEAR))["verdict"] == "holds"
    assert decided(ratio, machine("m", HIGH), machine("n", HIGH, tracer="perf"))["verdict"] == "cannot be said"


def test_a_cost_less_another_is_of_one_run() -> None:
    less = claim(numbers=(f"*.{PROBE}",), less=f"*.{OTHER}", above=100.0)
    assert decided(less, machine("m", HIGH, CLEAR))["verdict"] == "holds"
    assert decided(less, machine("m", HIGH))["verdict"] == "cannot be said"


def test_counted_instructions_decide_what_asks_for_them_and_times_do_not() -> None:
    own = submission("qemu", metric="instructions")
    number(own, Estimate(500.0, 499.0, 501.0), PROBE)
    asks = claim(numbers=TESTED["numbers"], quantity="instructions", below=600.0)
    assert decided(asks, own, machine("m", CLEAR))["compared"] == 1
    assert decided(claim(), own)["compared"] == 0


def test_a_start_a_stop_a_loss_and_a_slowed_loop_are_quantities_too() -> None:
    own = submission("m")
    ends = Estimate(2e9, 1e9, 3e9)
    slowed = Estimate(9.0, 8.0, 10.0)
    number(own, Estimate(*CLEAR), PROBE, attach=ends, detach=ends, slowdown=slowed)
    number(own, Estimate(*CLEAR), PROBE, "bpftrace-0-17", attach=ends, detach=ends, loss_ratio=0.02)
    for quantity, above in {"start": 900.0, "stop": 900.0, "loss": 1.9, "times": 8.5}.items():
        assert decided(claim(numbers=TESTED["numbers"], quantity=quantity, above=above), own)["verdict"] == "holds"


def test_a_number_whose_events_do_not_add_up_decides_nothing() -> None:
    own = submission("m")
    number(own, Estimate(*CLEAR), PROBE, faults=("its events do not add up",))
    assert decided(claim(), own)["compared"] == 0


def test_the_table_has_every_claim_with_its_verdict_and_no_formula_for_a_spreadsheet() -> None:
    own = machine("m", CLEAR)
    found = Catalogue(active=(own,), claims=(claim(**TESTED, who="=1+1"),))
    table = page_tables(found, rows(found))["/claims/"]["data"]
    assert table.rows[0]["verdict"] == "holds"
    assert "'=1+1" in csv_text(table)


def write(data: Path, *claims: dict[str, object]) -> list[Problem]:
    """A file of claims, each with what differs from `VALUES`; and every problem of it."""
    texts = ["[[claim]]"]
    for one in claims:
        texts += [f"{key} = {_toml(value)}" for key, value in (VALUES | one).items()]
    (data / "claims.toml").write_text("schema_version = 1\n" + "\n".join(texts) + "\n", encoding="utf-8")
    return [one for one in check_all(DataFolder(data)) if one.file.endswith("claims.toml")]


def _toml(value: object) -> str:
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, tuple) else repr(value).replace("'", '"')


def test_a_sound_claim_of_a_number_that_there_is_has_no_problem(data: Path) -> None:
    assert write(data, TESTED) == []
    assert [one.id for one in read_claims(DataFolder(data))[0]] == ["a"]


@pytest.mark.parametrize("key", [f"bpftrace.{PROBE}s", f"btftrace*.{PROBE}"])
def test_a_claim_that_names_a_number_that_does_not_exist_is_told_with_its_place(data: Path, key: str) -> None:
    [problem] = write(data, TESTED | {"numbers": (key,)})
    assert (problem.rule, problem.severity, problem.line) == ("explanation-names", "error", 2)
    assert "`a` names what is not there" in problem.message


@pytest.mark.parametrize(
    "values",
    [
        TESTED | {"words": "word " * MOST_WORDS + "word"},
        TESTED | {"link": "http://example.org"},
        TESTED | {"date": "last week"},
        TESTED | {"date": "2026-99-99"},
        TESTED | {"above": float("nan")},
        TESTED | {"below": float("inf")},
        TESTED | {"above": 2 * float(str(TESTED["below"]))},
        TESTED | {"only_refutes": True, "quantity": "threshold"},
        TESTED | {"missing": "Nothing."},
        TESTED | {"quantity": "slowdown"},
        TESTED | {"quantity": "ratio"},
        TESTED | {"verdict": "holds"},
        {"numbers": TESTED["numbers"]},
        {"below": 1.0, "missing": "A number."},
        {},
    ],
)
def test_an_unsound_claim_is_told_with_its_line(data: Path, values: dict[str, object]) -> None:
    problems = write(data, values)
    assert problems
    assert all(problem.line and problem.line > 1 for problem in problems)


def test_a_quotation_may_have_as_many_words_as_are_allowed(data: Path) -> None:
    assert write(data, TESTED | {"words": " ".join(["word"] * MOST_WORDS)}) == []


def test_our_claims_are_many_and_every_one_is_decided_or_says_what_is_missing(catalogue: Catalogue) -> None:
    assert len(catalogue.claims) >= 60
    for one in verdicts(catalogue):
        assert one["figures"] or one["missing"] or (one["numbers"] and not one["compared"])
