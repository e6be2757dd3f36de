"""A page per machine: what it is, what a probe costs there, the submission that stands for it, and all others.

An emulated machine has its counts by event, and what it is made of.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from probe_effect import units
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.costs.questions import QUESTIONS, NamedQuestion, Reply, of_all_machines, on
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import FIRST_SUITE, shown_machines
from probe_effect.numbers.shown import representative as timed_representative
from probe_effect.pages import citing, over_time, submission_page, wording
from probe_effect.pages.markdown import page
from probe_effect.pages.results import view_of
from probe_effect.pages.results.counts import COUNTS
from probe_effect.pages.submission_page import with_numbers
from probe_effect.reduce.submission import Submission
from probe_effect.store.machine_file import MachineFile

CHART = "machines"


ASKED = tuple(QUESTIONS[name] for name in ("tracepoint", "uprobe-emulated", "uprobe-stepped"))
"""What readers ask of a machine first."""


def briefly(machine: str, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Each type of probe in a few words and its cost without interval, for a badge or a picture."""
    return [(kind.briefly, units.value(one.time, units.DURATION)) for kind, one in asked(machine, catalogue)]


def asked(machine: str, catalogue: Catalogue) -> list[tuple[NamedQuestion, Reply]]:
    """Each type of probe with the answer of a machine; types without a clear cost are left out."""
    found = ((kind, on(catalogue, kind, machine)) for kind in ASKED)
    return [(kind, one) for kind, one in found if one is not None and not one.is_bound]


def charts(catalogue: Catalogue) -> list[Chart]:
    """What each type of probe costs on the machines that pages show, a row for each; none for a machine alone."""
    found = [pair for machine in shown_machines(catalogue.numbers) for pair in asked(machine, catalogue)]
    dots = [Dot(names.machine_name(one.number.submission), kind.briefly, one.time) for kind, one in found]
    whole = of_all_machines(catalogue, ASKED[0])
    if len({one.label for one in dots}) < 2 or whole is None:
        return []
    said = "Each dot has its interval; rows are in no order of cost."
    title = f"One {ASKED[0].briefly} costs {units.span(whole.time, units.DURATION)} on {whole.words}"
    return [cost_chart(CHART, title, said, dots, page="/machines/")]


NOT_RECORDED = "not recorded"

BELIEVED = "believed, by the boot parameter nested_pvm alone"
"""What `machine.system.nested` goes by."""


def write(submissions: Sequence[Submission], catalogue: Catalogue) -> str:
    """The page of the machine of `submissions`, which are newest first."""
    name, shown = names.machine_name(submissions[0]), timed_representative(submissions)
    suite = submission_page.suite_of(shown, catalogue)
    view, factor = view_of(suite), suite.factor if suite else None
    chart = next((chart.name for chart in submission_page.charts(catalogue, shown)), None)
    return _page(
        "machine.md.j2",
        {
            "subtitle": names.machine_facts(submissions[0].document),
            "description": f"What tracing costs on {name}: {len(submissions)} submission(s).",
            "picture": f"/{card(shown.machine)}",
            "picture_words": f"What one traced event costs on {name}.",
            "badge": f"/{badge(shown.machine)}",
        },
        submissions,
        shown,
        catalogue,
        table=view.table(with_numbers(shown), factor, chart, brief=True),
        found=asked(shown.machine, catalogue),
        view=view,
        over_time=over_time.of_machine(shown.machine, catalogue),
        other_ids=over_time.other_ids(shown.machine, catalogue),
        numbers=catalogue.numbers,
    )


def card(machine: str) -> str:
    """Where the picture of a link to the page of a machine lies, below the site's root."""
    return f"machines/{machine}/card.png"


def badge(machine: str) -> str:
    """Where the badge of a machine lies."""
    return f"machines/{machine}/badge.svg"


def write_emulated(submissions: Sequence[Submission], catalogue: Catalogue, place: int) -> str:
    """The page of the emulated machine of `submissions`, newest first; `place` is its own among those machines."""
    name, shown = names.machine_name(submissions[0]), representative(submissions)
    return _page(
        "emulated.md.j2",
        {"description": f"Instructions that one traced event takes on {name}.", "weight": place},
        submissions,
        shown,
        catalogue,
        table=COUNTS.table(with_numbers(shown), None, None),
        parts=parts(submissions),
    )


def _page(
    template: str,
    front: Mapping[str, object],
    submissions: Sequence[Submission],
    shown: Submission,
    catalogue: Catalogue,
    **values: object,
) -> str:
    """The page of a machine, with what all machines have; `shown` is the submission that represents the machine."""
    newest = submissions[0].document
    whole = {
        "title": names.machine_name(submissions[0]),
        "kind": "machine",
        "kicker": wording.tier(newest),
        **front,
        **citing.front(citing.cite_machine(submissions[0], catalogue)),
    }
    return page(
        template,
        whole,
        submissions=submissions,
        shown=shown,
        cases=with_numbers(shown),
        facts=facts(newest),
        kernel_options=by_value(newest.system.kernel_config),
        vulnerabilities=by_value(newest.system.vulnerabilities),
        titles=catalogue.titles,
        **values,
    )


def representative(submissions: Sequence[Submission]) -> Submission:
    """The counted submission to show of some, newest first: one of the first suite, with most counts."""
    return min(submissions, key=lambda one: (one.suite != FIRST_SUITE, -len(with_numbers(one))))


def parts(submissions: Iterable[Submission]) -> dict[str, list[str]]:
    """Each part of an emulated machine, to its packages; several where its runs had different ones."""
    each = grouped_by((pair for one in submissions for pair in one.document.run.packages.items()), itemgetter(0))
    return {part: list(dict.fromkeys(package for _, package in own)) for part, own in each.items()}


def facts(document: MachineFile) -> dict[str, str]:
    """Each fact of a machine, label to text; of the ones that early files lack, that they were not recorded."""
    machine, system = document.machine, document.system
    shown = {
        "CPU": machine.cpu_model,
        "Microarchitecture": machine.microarchitecture or ("not known" if machine.cpu_numbers else NOT_RECORDED),
        "Numbers of the CPU": _listed(f"{key} {value}" for key, value in machine.cpu_numbers.items()),
        "Architecture": names.architecture(machine.architecture),
        "Sockets, cores, threads": ", ".join(map(units.count, (machine.sockets, machine.cores, machine.threads))),
        "Simultaneous multithreading": _yes(machine.smt),
        "Memory": units.size(machine.memory_bytes) if machine.memory_bytes else None,
        "Frequency governor": machine.governor,
        "Turbo": _yes(machine.turbo),
        "Microcode": machine.microcode,
        "Virtualization": machine.virtualization,
        "Nested": BELIEVED if machine.nested else _yes(machine.nested),
        "The kernel at boot": _listed(system.boot_messages, "; ") if system.boot_messages != () else "no hypervisor",
        "Exits to a hypervisor": _listed(names.traps(system)),
        "Operating system": system.os,
        "Kernel": system.kernel_release,
        "Clock source": system.clocksource,
        "Cost of a clock read": units.duration(system.clock_read_ns) if system.clock_read_ns else None,
        "BPF compiler": system.bpf_jit,
        "Boot parameters": ", ".join(system.boot_flags) or None,
        "Tracers": "; ".join(f"{name}: {version}" if version else name for name, version in document.tools.items())
        or None,
    }
    is_timed = document.run.metric == "time"
    return {label: value for label, value in shown.items() if value and (is_timed or value != NOT_RECORDED)}


def by_value(settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Each value to the names that have it: a hundred options become a few lines."""
    return grouped_by(settings, settings.__getitem__)


def _listed(texts: Iterable[str] | None, mark: str = ", ") -> str:
    return mark.join(texts or ()) or NOT_RECORDED


def _yes(value: bool | None) -> str | None:  # noqa: FBT001
    return None if value is None else ("yes" if value else "no")
