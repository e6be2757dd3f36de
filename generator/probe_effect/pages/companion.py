"""Tables of the guide's companion: how often things happen in real programs, and D beside bpftrace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mode

from probe_effect import units
from probe_effect.answer.prediction import BANDS, places
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import home_numbers
from probe_effect.pages import wording
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Number, slowdown_at
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import Case, script_path

EVENTS = {
    "03-program-calls": "System calls",
    "01-program-reads": "Reads",
    "07-program-malloc": "Allocations",
    "06-program-page-faults": "Page faults",
    "05-program-switches": "Context switches",
}
"""Cases of the suite `programs` that count one kind of event, to what it is called."""

TALK = "piotrowski-2023-tracing-overhead"
"""The source that printed the same cases for D and for bpftrace."""

LANGUAGES = {"dtrace": "D", "bpftrace": "bpftrace"}
"""The two tools, to what their scripts are called."""

TWINS = ("per-event", "usdt")
"""The suites whose pairs are shown; those of `user-probes` ask the same of other instructions."""


@dataclass(frozen=True, slots=True)
class EventFrequency:
    """One type of event in all programs of one machine: a number for each program, the most frequent first."""

    title: str
    numbers: Sequence[Number]

    @property
    def most(self) -> Number:
        """The number of the program that makes most of these events."""
        return self.numbers[0]

    @property
    def least(self) -> Number:
        """The number of the program that makes fewest of these events."""
        return self.numbers[-1]


@dataclass(frozen=True, slots=True)
class LanguageCost:
    """One question in one language: its script, and its time, count and published cost, where known."""

    language: str
    script: str
    time: Number | None
    count: Number | None
    printed: str | None
    """The key by which pages quote what the talk printed."""


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: `event-rates.md` and `d-and-bpftrace.md`."""
    counted = event_rates(catalogue)
    pairs = [
        (case, sides) for case, sides in _pairs(catalogue) if any(one.time or one.count or one.printed for one in sides)
    ]
    timed = (tuple(one.time for one in sides) for _, sides in pairs if all(one.time for one in sides))
    counts = (tuple(one.count for one in sides) for _, sides in pairs if all(one.count for one in sides))
    # Program to its number of each kind of event, the program with most system calls first.
    programs = dict.fromkeys(one.level or "" for kind in counted for one in kind.numbers)
    by_kind = [{one.level: one for one in kind.numbers} for kind in counted]
    return {
        "event-rates.md": render(
            "fragments/event-rates.md.j2",
            counted=counted,
            programs={program: [found.get(program) for found in by_kind] for program in programs},
            rate=rate_hz,
            predicted=partial(_predicted, evidence(catalogue)),
            measured=wording.slowdown,
            band=lambda slowdown: BANDS[places(slowdown)[1]].range,  # by its upper end
        ),
        "d-and-bpftrace.md": render(
            "fragments/d-and-bpftrace.md.j2", pairs=pairs, times=next(timed, None), counts=next(counts, None)
        ),
    }


def event_rates(catalogue: Catalogue) -> list[EventFrequency]:
    """How often each type of event happens, on one machine: that of most of the numbers that pages quote."""
    found = [one for one in home_numbers(catalogue.numbers).values() if one.case in EVENTS and one.baseline]
    machines = [one.submission.machine for one in found]
    own = [one for one in found if one.submission.machine == mode(machines)]
    made = []
    for case, title in EVENTS.items():
        tools = sorted({one.tracer for one in own if one.case == case})
        of_tool = [one for one in own if one.case == case and one.tracer == tools[0]]
        if of_tool:
            made.append(EventFrequency(title, sorted(of_tool, key=rate_hz, reverse=True)))
    return made


def rate_hz(one: Number) -> float:
    """Events in a second of the untraced program; 0 where it made none."""
    return units.NS_PER_SECOND / one.baseline.value if one.baseline and one.baseline.value else 0.0


def _predicted(found: Evidence, one: Number) -> Estimate | None:
    """The rate times the cost of the like event in a tight loop of the same machine; None where that has no cost."""
    like = found.case_of[one.case].like
    cost = found.costs.get((one.submission.machine, one.tracer, like)) if like else None
    return slowdown_at(cost.known_cost, rate_hz(one)) if cost else None


def _pairs(catalogue: Catalogue) -> Iterator[tuple[Case, list[LanguageCost]]]:
    """Every case with a script in both languages, and both sides of it."""
    printed = {
        (figure.case, figure.tracer): f"{TALK}.{figure.figure}"
        for source in catalogue.sources
        for figure in source.figures
        if source.id == TALK and figure.figure.startswith(("ns_dtrace_", "ns_bpftrace_"))  # of its own two systems
    }
    for name, folder in catalogue.by_suite.items():
        for case in folder.suite.cases if name in TWINS else ():
            paths = {tool: script_path(folder.folder, case.id, tool) for tool in LANGUAGES}
            scripts = {tool: linux_form(path) or path for tool, path in paths.items() if path}
            if case.probe == "none" or scripts.keys() != LANGUAGES.keys():
                continue
            times = of_both(catalogue.numbers.of_case(case.id))
            counts = of_both(catalogue.numbers.of_case(case.id, "instructions"))
            yield (
                case,
                [
                    LanguageCost(
                        language,
                        f"{name}/{scripts[tool].name}",
                        times.get(tool),
                        counts.get(tool),
                        printed.get((case.id, tool)),
                    )
                    for tool, language in LANGUAGES.items()
                ],
            )


def of_both(found: Sequence[Number]) -> dict[str, Number]:
    """Tool to its number, of the newest machine that has both; of several versions the first by name."""
    sound = [one for one in found if one.leads]
    for machine in dict.fromkeys(one.submission.machine for one in sound):
        own = sorted((one for one in sound if one.submission.machine == machine), key=lambda one: one.tracer)
        by_tool = {tool: next((one for one in own if names.tool_of(one.tracer) == tool), None) for tool in LANGUAGES}
        if all(by_tool.values()):
            return {tool: one for tool, one in by_tool.items() if one}
    return {}
