"""A tracer looks the same everywhere, and series stay apart for every kind of sight, in both themes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers.colours import THEMES, TO_XYZ, TOKENS, contrast, linear
from helpers.site_build import PROJECT
from probe_effect.site.charts.theme import DASHES, LOOKS, MUTED, SERIES, SHAPES, TracerLook, look, looks

SEEN = [TOKENS[name] for name in sorted(TOKENS) if name.startswith("series-")]

# Machado, Oliveira and Fernandes: A physiologically-based model for simulation of color vision deficiency, 2009,
# severity 1.0; they act on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
WHITE = np.array([0.95047, 1.0, 1.08883])
APART = 18.0
"""CIE 1976 colour difference; about 2 can just be seen side by side."""


def series(*tracers: str | None) -> list[TracerLook]:
    """The looks of the series of a chart, in their order."""
    return list(looks({f"series {place}": tracer for place, tracer in enumerate(tracers)}).values())


def lab(light: np.ndarray) -> np.ndarray:
    ratio = TO_XYZ @ np.clip(light, 0, 1) / WHITE
    root = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def colours(theme: str) -> list[str]:
    return [found[THEMES.index(theme)] for found in SEEN]


def test_the_measure_of_difference_is_that_of_cie_1976() -> None:
    assert np.linalg.norm(lab(linear("#ffffff")) - lab(linear("#000000"))) == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHT)
def test_any_two_colours_of_series_stay_apart(theme: str, sight: str) -> None:
    seen = [lab(SIGHT[sight] @ linear(colour)) for colour in colours(theme)]
    assert len(seen) == len(SERIES)
    assert min(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2)) >= APART


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_of_a_series_is_seen_on_its_paper(theme: str) -> None:
    paper = TOKENS["paper"][THEMES.index(theme)]
    assert all(contrast(colour, paper) >= 3 for colour in colours(theme))


def test_files_that_are_taken_away_have_the_colours_of_the_light_theme() -> None:
    assert [colour.lower() for colour in SERIES] == colours("light")


def test_every_sentinel_has_its_variable_in_the_style_sheet() -> None:
    sheet = (PROJECT / "site/assets/css/chart.css").read_text(encoding="utf-8")
    for number, colour in enumerate(SERIES, start=1):
        for paint in ("fill", "stroke"):
            assert f'[{paint}="{colour}" i] {{ {paint}: var(--series-{number}); }}' in sheet


def test_no_two_tools_look_alike() -> None:
    assert len(set(LOOKS.values())) == len(LOOKS)


def test_a_tracer_has_the_look_that_it_has_in_any_company() -> None:
    alone = series("dtrace")[0]
    assert series("bpftrace", "dtrace", "ftrace")[1] == series("strace", "dtrace")[1] == alone == LOOKS["dtrace"]


def test_versions_of_a_tool_have_its_colour_and_a_form_of_their_own() -> None:
    version = look("bpftrace-0-23-2")
    assert version.series == LOOKS["bpftrace"].series
    assert version.form != LOOKS["bpftrace"].form
    assert series("bpftrace-0-23-2", "bpftrace")[0] == version


def test_a_tool_whose_name_begins_with_anothers_is_not_its_version() -> None:
    assert look("strace-seccomp-6-1").series == LOOKS["strace-seccomp"].series
    assert look("perfect") != LOOKS["perf"]


def test_an_unknown_tool_has_its_look_from_its_name() -> None:
    assert look("bpftime") == look("bpftime")
    assert series("bpftime", "kutrace") == list(reversed(series("kutrace", "bpftime")))


def test_one_tracer_twice_in_a_chart_is_told_apart_by_its_form() -> None:
    first, second = series("bpftrace", "bpftrace")
    assert first.series == second.series
    assert (first.shape, first.dash) != (second.shape, second.dash)


def test_what_is_no_tracer_beside_tracers_is_grey() -> None:
    tracer, other = series("perf", None)
    assert tracer == LOOKS["perf"]
    assert other.colour == MUTED


def test_series_that_are_no_tracers_have_colours_and_forms_in_their_order() -> None:
    found = series(*[None] * 10)
    assert [one.colour for one in found[: len(SERIES)]] == list(SERIES)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("form", range(len(SHAPES)))
def test_a_form_is_a_shape_and_a_dash_of_its_own(form: int) -> None:
    others = [TracerLook(1, other) for other in range(len(SHAPES)) if other != form]
    assert TracerLook(1, form).shape not in {one.shape for one in others}
    assert TracerLook(1, form).dash not in [one.dash for one in others]
    assert len(DASHES) == len(SHAPES)
