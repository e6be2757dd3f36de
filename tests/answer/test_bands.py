"""What to do about a slowdown: the same words on the terminal, on pages and in the guide."""

from __future__ import annotations

import json

import pytest

from helpers import shared_examples
from probe_effect.answer.prediction import BANDS, places, recommendation
from probe_effect.model import Estimate

EXAMPLES = json.loads((shared_examples.DATA / "prediction.json").read_text(encoding="utf-8"))["bands"]


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_the_bands_lie_between_the_thresholds() -> None:
    assert [plain(band.range) for band in BANDS] == ["below 1 %", "1 to 5 %", "5 to 30 %", "above 30 %"]


def test_the_ends_of_a_slowdown_lie_in_the_bands_of_the_shared_examples() -> None:
    assert [list(places(Estimate(*one["slowdown"]))) for one in EXAMPLES] == [one["expected"] for one in EXAMPLES]


@pytest.mark.parametrize(
    ("slowdown", "said"),
    [
        (Estimate(0.004, 0.003, 0.006), "Below 1 %: go ahead."),
        (Estimate(0.02), "1 to 5 %: trace for minutes, and watch latency meanwhile."),
        (Estimate(0.04, 0.03, 0.06), "At best 1 to 5 %, at worst 5 to 30 %: trace for seconds, off-peak."),
        (
            Estimate(0.5, -0.1, 2.0),
            "At best below 1 %, at worst above 30 %: take an alternative (fewer events, another probe, or a sample).",
        ),
    ],
)
def test_an_interval_over_several_bands_names_both_ends_and_what_to_do_in_the_worse(
    slowdown: Estimate, said: str
) -> None:
    assert plain(recommendation(slowdown)) == said
