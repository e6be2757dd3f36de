"""How what `scale` measures grows with the number of submissions, and what that comes to at ten thousand."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from evidence.scale_measured import BUILDS, COLD, SIGNS, seconds, table
from probe_effect import units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evidence.scale_measured import Build, Measured
    from evidence.scale_site import SiteSize

FAR = 10_000
"""Submissions for which the slope is continued."""


def growth(sizes: Sequence[Measured]) -> str:
    """How each quantity grows between the two largest sizes, as an exponent of the number of submissions."""
    built = [one for one in sizes if one.submissions and COLD in one.builds]
    if len(built) < 2:
        return ""
    before, last = built[-2:]
    rows = []
    for name, (value, form) in quantities(last).items():
        first, second = value(before), value(last)
        if first and second:
            slope = exponent((before.submissions, first), (last.submissions, second))
            far = extrapolated((last.submissions, second), slope)
            rows.append([name, form(first), form(second), units.at_place(slope, -2), form(far)])
    head = ["", units.count(before.submissions), units.count(last.submissions), "Exponent", f"At {units.count(FAR)}"]
    caption = (
        "The exponent is log(ratio of the values) / log(ratio of the sizes): 1 is proportional, 0 does not grow. The "
        "last column continues that slope; nothing of it was measured."
    )
    return f"## Growth\n\n{table(head, rows)}\n\n{caption}" if rows else ""


Quantity = tuple["Callable[[Measured], float | None]", "Callable[[float], str]"]
"""The value that a size has, and how it is written."""


def quantities(last: Measured) -> dict[str, Quantity]:
    """What grows, of all that the largest size has."""
    found: dict[str, Quantity] = {}
    for name in BUILDS:
        found[f"build, {name}"] = (_of_build(name, lambda build: build.whole.seconds), seconds)
    found["build, cold, CPU time"] = (_of_build(COLD, lambda build: build.whole.cpu_s), seconds)
    found["Hugo alone, median"] = (_hugo_s, seconds)
    found["generator's memory, cold"] = (_of_build(COLD, lambda build: build.whole.own_peak_bytes), units.size)
    found["largest child's memory, cold"] = (_of_build(COLD, lambda build: build.whole.child_peak_bytes), units.size)
    found["memory without Hugo's, cold"] = (_of_build(COLD, lambda build: build.whole.beside_hugo_bytes), units.size)
    found["pages"] = (_of_site(lambda site: site.pages), units.count)
    found["size of the site"] = (_of_site(lambda site: site.total_bytes), units.size)
    found["pages of numbers"] = (_of_site(lambda site: site.numbers_bytes), units.size)
    found["largest page, gzip"] = (_of_site(lambda site: site.largest_page_bytes), units.size)
    found["home page with both, gzip"] = (_of_site(lambda site: site.calculator_bytes), units.size)
    for name in SIGNS:
        found[f"signs of forged data, {name}"] = (_of_signs(name), seconds)
    for name in last.commands:
        found[f"`{name}`"] = (_of_command(name), seconds)
    return found


def _of_build(name: str, value: Callable[[Build], float]) -> Callable[[Measured], float | None]:
    return lambda one: value(one.builds[name]) if name in one.builds else None


def _hugo_s(one: Measured) -> float:
    """Its input is nearly the same after each build of a size, and its time varies more than anything else here."""
    return statistics.median(build.hugo.seconds for build in one.builds.values())


def _of_site(value: Callable[[SiteSize], float]) -> Callable[[Measured], float | None]:
    return lambda one: None if one.site is None else value(one.site)


def _of_signs(name: str) -> Callable[[Measured], float | None]:
    return lambda one: one.signs_s.get(name)


def _of_command(name: str) -> Callable[[Measured], float | None]:
    return lambda one: one.commands[name].seconds if name in one.commands else None


def exponent(first: tuple[int, float], second: tuple[int, float]) -> float:
    """The k of value = c × size^k through two points (size, value)."""
    return math.log(second[1] / first[1]) / math.log(second[0] / first[0])


def extrapolated(last: tuple[int, float], slope: float) -> float:
    """The value at `FAR` submissions."""
    number, value = last
    return value * math.pow(FAR / number, slope)
