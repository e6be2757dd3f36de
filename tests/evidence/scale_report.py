"""The page that `scale` writes: under which conditions, and a table of each kind of thing that it measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from evidence.scale_growth import growth
from evidence.scale_measured import BUILDS, SIGNS, Build, Measured, Timing, seconds, table
from evidence.scale_targets import targets
from probe_effect import units
from probe_effect.store.documents import Document
from probe_effect.store.machine_file import Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evidence.scale_site import SiteSize


class Conditions(Document):
    """Where and when."""

    machine: Machine
    kernel_release: str
    load_before: float | None
    file_system: str
    """Of the folder that everything was built in."""
    date: str
    versions: dict[str, str]


class Report(BaseModel):
    """All that is known so far, smallest size first, and the steps that failed."""

    conditions: Conditions
    beside: int
    """Submissions of the checkout, beside those that were made; 0 where these were alone."""
    suites: dict[str, int]
    """Suite to how many committed submissions of it those that are made are like."""
    sizes: list[Measured] = []
    failed: list[str] = []

    def add(self, one: Measured) -> None:
        """Begin a size; the smallest stays first."""
        self.sizes = sorted([*self.sizes, one], key=lambda size: size.submissions)


def markdown(report: Report) -> str:
    """The whole page."""
    parts = [
        "<!-- Made by `PYTHONPATH=tests python -m evidence.scale`. Do not edit. -->\n\n# A site of many submissions",
        _conditions(report),
        targets(report.sizes),
        _builds(report.sizes),
        _steps(report.sizes),
        _site(report.sizes),
        _commands(report.sizes),
        _signs(report.sizes),
        growth(report.sizes),
        _failed(report.failed),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conditions(report: Report) -> str:
    found, machine = report.conditions, report.conditions.machine
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    rows = [
        ("CPU", machine.cpu_model or units.MISSING),
        ("cores, threads", f"{units.count(machine.cores)}, {units.count(machine.threads)}"),
        ("memory", units.size(machine.memory_bytes)),
        ("hypervisor", machine.virtualization or "none"),
        ("kernel", found.kernel_release),
        ("load before", units.MISSING if found.load_before is None else f"{found.load_before:.2f}"),
        ("file system", found.file_system),
        ("date", found.date),
        ("versions", versions),
    ]
    suites = ", ".join(f"`{suite}` {number}" for suite, number in report.suites.items())
    beside = (
        f"beside the {units.count(report.beside)} submissions and everything else of the checkout, with its guide"
        if report.beside
        else "with the suites of the checkout alone, and without its guide"
    )
    made = (
        f"Made submissions (`tests/evidence/honest.py`), {beside}.\n"
        "They pass `check`; a machine has three in the mean. The machines are of several kinds. Each submission is "
        f"like a committed one, drawn at random from as many of each suite as there are: {suites}.\n"
        "Each build was made once, and Hugo alone once after it; commands are medians.\n"
        "Memory is the peak of one process (`VmHWM`); all at once is the most that all had together, where what they "
        "share counts twice."
    )
    return f"{table(('', ''), rows)}\n\n{made}"


def _builds(sizes: Sequence[Measured]) -> str:
    head = ["Submissions", "Machines", "Numbers", "Build", "Whole", "Hugo alone", "Whole / Hugo"]
    head += [f"{whose}, CPU time" for whose in ("Whole", "Hugo alone")]
    head += [
        f"{whose}, memory" for whose in ("Generator", "Largest child", "All at once", "All but Hugo", "Hugo alone")
    ]
    rows = [[*_size(one), name, *_build(build)] for one in sizes for name, build in one.builds.items()]
    words = "; ".join(f"*{name}*: {what}" for name, what in BUILDS.items())
    return f"## Builds\n\n{table(head, rows)}\n\n{words}." if rows else ""


def _size(one: Measured) -> list[str]:
    return [*map(units.count, (one.submissions, one.machines)), units.count(one.site.numbers if one.site else None)]


def _build(build: Build) -> list[str]:
    whole, hugo = build.whole, build.hugo
    child = f"{whole.child} {units.size(whole.child_peak_bytes)}" if whole.child else units.MISSING
    return [
        seconds(whole.seconds),
        seconds(hugo.seconds),
        units.significant(build.ratio),
        seconds(whole.cpu_s),
        seconds(hugo.cpu_s),
        units.size(whole.own_peak_bytes),
        child,
        units.size(whole.together_bytes),
        units.size(whole.beside_hugo_bytes),
        units.size(hugo.own_peak_bytes),
    ]


def _steps(sizes: Sequence[Measured]) -> str:
    """Where the time of each build goes, step by step."""
    parts = []
    for name in BUILDS:
        built = [(one.submissions, dict(one.builds[name].steps)) for one in sizes if name in one.builds]
        steps = list(dict.fromkeys(step for _, found in built for step in found))
        rows = [[step, *(seconds(found.get(step)) for _, found in built)] for step in steps]
        if rows:
            parts.append(f"### Steps of the build: {name}\n\n{table(['', *(units.count(n) for n, _ in built)], rows)}")
    return "\n\n".join(parts)


def _site(sizes: Sequence[Measured]) -> str:
    built = [(one.submissions, one.site) for one in sizes if one.site is not None]
    if not built:
        return ""
    shown: dict[str, Callable[[SiteSize], str]] = {
        "pages": lambda one: units.count(one.pages),
        "files": lambda one: units.count(one.files),
        "size": lambda one: units.size(one.total_bytes),
        "pages of numbers": lambda one: units.size(one.numbers_bytes),
        "each of them": lambda one: units.size(one.numbers_bytes / one.numbers if one.numbers else None),
        "largest page, gzip": lambda one: f"{units.size(one.largest_page_bytes)} (`{one.largest_page}`)",
        "home page, gzip": lambda one: units.size(one.home_bytes),
        "its scripts, gzip": lambda one: units.size(one.home_scripts_bytes),
        "its calculator's data, gzip": lambda one: units.size(one.calculator_data_bytes),
        "home page with both, gzip": lambda one: units.size(one.calculator_bytes),
    }
    rows = [[name, *(form(site) for _, site in built)] for name, form in shown.items()]
    return f"## The site\n\n{table(['', *(units.count(number) for number, _ in built)], rows)}"


def _commands(sizes: Sequence[Measured]) -> str:
    names = list(dict.fromkeys(name for one in sizes for name in one.commands))
    rows = [[f"`{name}`", *(_timing(one.commands.get(name)) for one in sizes)] for name in names]
    runs = sorted({timing.runs for one in sizes for timing in one.commands.values()})
    caption = f"Time, and the peak of memory; medians of {' or '.join(map(str, runs))} runs."
    head = ["", *(units.count(one.submissions) for one in sizes)]
    return f"## Commands\n\n{table(head, rows)}\n\n{caption}" if rows else ""


def _signs(sizes: Sequence[Measured]) -> str:
    """What the rules that look for forged data take, which lay each submission beside others."""
    known = [one for one in sizes if one.signs_s]
    rows = [[f"{name}: {what}", *(seconds(one.signs_s.get(name)) for one in known)] for name, what in SIGNS.items()]
    head = ["", *(units.count(one.submissions) for one in known)]
    caption = "CPU time that the signs of forged data take within `check`."
    return f"## Signs of forged data\n\n{table(head, rows)}\n\n{caption}" if known else ""


def _timing(found: Timing | None) -> str:
    return units.MISSING if found is None else f"{seconds(found.seconds)}, {units.size(found.peak_bytes)}"


def _failed(failed: Sequence[str]) -> str:
    lines = "\n".join(f"- {one}" for one in failed)
    return f"## Not measured\n\nThese steps failed, so their figures are missing:\n\n{lines}" if failed else ""
