"""The tables of `coverage`, in Markdown, with what a reader must know to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.coverage_estimators import OURS
from evidence.coverage_noise import BASELINE_NS, CASES, COST_NS, MODELS
from probe_effect import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evidence.coverage import Outcome, Size
    from evidence.coverage_combined import Share

SHOWN_BLOCKS = 20
"""Of columns that show one number of blocks."""

UNPROMISED = "†"

COVERING: Mapping[str, str] = {
    "Ours": OURS,
    "Mean of baselines": "against_mean",
    "Means, mixed": "means_interleaved",
    "Means, apart": "means_sequential",
}
"""Title of a column to the estimator whose least coverage it shows."""


def model_table(found: Sequence[Outcome], size: Size, seed: int) -> str:
    """One row per noise model: what intervals cover at the worst number of blocks, and what the warnings do."""
    columns = (*COVERING, "Width", "Fastest run", "Warning")
    rows = [
        [_words(name), *_cells([one for one in found if one.model == name])]
        for name in dict.fromkeys(one.model for one in found)
    ]
    blocks = f"{', '.join(map(str, size.blocks[:-1]))} and {size.blocks[-1]}"
    caption = (
        f"Per cent of intervals that contain the truth, {COST_NS:g} ns on top of {BASELINE_NS:g} ns, with {CASES} "
        f"cases and 2 baselines a block.\n"
        f"Each coverage is the lowest over {blocks} blocks.\n"
        f"Ours; ours, were baselines averaged first; means of the same runs; means of two arms run one after the other "
        f"(Welch's interval).\n"
        f"With {SHOWN_BLOCKS} blocks: median width of our interval, ns; median error of the fastest run, ns; per cent "
        f"of runs with a warning of drift inside blocks.\n"
        f"{UNPROMISED} No promise: traced runs are not as untraced ones of their block plus the cost.\n"
        f"{units.count(size.repetitions)} simulated runs for each figure, {units.count(size.checked)} for warnings; "
        f"seed {seed}."
    )
    return f"{_markdown(('Noise', *columns), rows)}\n\n{caption}"


def _words(name: str) -> str:
    model = MODELS[name]
    return model.words if model.is_promised else f"{model.words} {UNPROMISED}"


def _cells(found: Sequence[Outcome]) -> list[str]:
    shown = next(one for one in found if one.blocks == SHOWN_BLOCKS)
    covering = [
        min(ratio for one in found if (ratio := one.figures[key].coverage_ratio) is not None)
        for key in COVERING.values()
    ]
    width_ns = shown.figures[OURS].width_ns or 0.0
    error_ns = shown.figures["minima_interleaved"].bias_ns
    return [
        *map(_per_cent, covering),
        units.significant(width_ns, 2),
        f"{error_ns:+.0f}".replace("-", "\u2212"),
        f"{100 * shown.within_blocks_ratio:.0f}",
    ]


def combined_tables(found: Sequence[Share], size: Size, seed: int) -> str:
    """What is computed from intervals, by the number of blocks, and correlations, by the number of pairs."""
    blocks = [one for one in found if one.unit == "blocks"]
    pairs = [one for one in found if one.unit == "pairs"]
    caption = (
        f"Per cent of {units.count(size.checked)} simulated pairs of submissions; the least and the most of "
        f"{len({one.under for one in blocks})} noise models; seed {seed}."
    )
    return (
        f"{_by_size(blocks, lambda one: one.what)}\n\n{caption}\n\n"
        f"{_by_size(pairs, lambda one: f'{one.what}, {one.under}')}\n\n"
        f"Per cent of {units.count(size.checked)} simulated pairs of lists; seed {seed}."
    )


def _by_size(found: Sequence[Share], title: Callable[[Share], str]) -> str:
    sizes = list(dict.fromkeys(one.size for one in found))
    rows = []
    for name in dict.fromkeys(map(title, found)):
        ratios = [[one.ratio for one in found if title(one) == name and one.size == size] for size in sizes]
        rows.append([name, *(_range(some) for some in ratios)])
    return _markdown(("", *(f"{size} {found[0].unit}" for size in sizes)), rows)


def _range(ratios: Sequence[float]) -> str:
    low, high = _per_cent(min(ratios)), _per_cent(max(ratios))
    return low if low == high else f"{low} to {high}"


def _per_cent(ratio: float) -> str:
    return f"{100 * ratio:.1f}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, [":--", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
