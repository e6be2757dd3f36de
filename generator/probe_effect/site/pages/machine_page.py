"""A page per machine: what it is, what a probe costs there, its submissions, and how its costs changed over time.

An emulated machine has its counts by event, and what it is made of. Every difference over time is a comparison of one
case with one tracer in two runs, and its words come from `site/pages/comparison.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import itemgetter

from probe_effect import units
from probe_effect.compare.comparison import largest
from probe_effect.compare.subjects import History, histories, same_machine
from probe_effect.costs.questions import QUESTIONS, NamedQuestion, Reply, of_all_machines, on
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.names import date_words, quoted, with_level
from probe_effect.numbers.shown import FIRST_SUITE, representative, shown_machines
from probe_effect.numbers.submission import Submission
from probe_effect.site.charts.dots import Dot, DotQuantity, cost_chart, dot_chart
from probe_effect.site.charts.theme import LAYOUTS, Chart
from probe_effect.site.pages import addresses, citing, comparison, instructions, links, parts, submission_page
from probe_effect.site.pages.parts import Heading, Items, Part, Table, columns, markdown, section
from probe_effect.site.pages.results import suite_of, view_of
from probe_effect.site.pages.submission_page import with_numbers
from probe_effect.site.pages.text import link, listed, say, together
from probe_effect.store.machine_file import MachineFile, is_hosted

MOST_RUNS, MOST_ROWS = 4, 24  # in a chart: the newest runs, and cases with a tracer, those that changed first
MOST_SENTENCES = 3  # the largest changes are told one by one; all are on the pages of the runs


def _over_time(machine: str, catalogue: Catalogue) -> Iterator[Part]:
    """For each suite that the machine ran again what its costs did; nothing where no two runs can be compared."""
    of_suites, drawn = dict(_histories(machine, catalogue)), charts_over_time(catalogue, machine)
    if not of_suites:
        return
    runs = {run.machine: run for run in reversed(same_machine(machine, catalogue.numbers.machines()))}
    kernels = {name: run.document.system.kernel_release for name, run in runs.items()}
    others = [say("{}, {}", links.machine(run), kernels[name]) for name, run in runs.items() if name != machine]
    hosted = "that of the hosts, or of their other guests"
    where = hosted if is_hosted(machine) else "the machine's own, or that of its neighbours on one host"
    yield Heading("Over time")
    yield together(
        "Each run of a suite is set against the newest run before it that has the case with the tracer.",
        f"Where nothing that is recorded had changed, a difference is {where}.",
        others
        and say("With another kernel or microcode this machine has a page of its own: {}.", listed(others, "; ")),
    )
    for suite, history in of_suites.items():
        yield from _of_suite(suite, history, catalogue)
        yield parts.chart(drawn[suite].name) if suite in drawn else None


def _of_suite(suite: str, history: History, catalogue: Catalogue) -> Iterator[Part]:
    first, last = (date_words(run.date) for run in (history.runs[0], history.runs[-1]))
    when = f"all on {first}" if first == last else f"{first} to {last}"
    yield Heading(catalogue.by_suite[suite].suite.title, 3)
    yield say("{}: {} runs, {}.", links.suite(suite), units.count(len(history.runs)), when)
    sentences, every = [], [((), history.alike)] if history.alike else []
    for changes, compared in (*every, *history.changed.items()):
        became = [
            f"{change.what} {quoted(change.before or 'unknown')} became {quoted(change.after or 'unknown')}"
            for change in changes
        ]
        words = "; ".join(became) or "Kernel, microcode, tool and suite stayed the same"
        chance = f" {comparison.chance(compared)}" if any(pair.reason is None for pair in compared) else ""
        summary = comparison.summary(compared, "in the later run")
        sentences.append(say("**{}** {}{}", f"{words[:1].upper()}{words[1:]}.", summary, chance))
    yield Items(sentences)
    most = largest(history.alike, MOST_SENTENCES)
    yield say("The largest changes where nothing else had changed:") if most else None
    called = partial(_when, runs=history.runs)
    yield Items([comparison.between_submissions(pair, lambda run: f"the run of {called(run)}") for pair in most])


@once
def charts_over_time(catalogue: Catalogue, machine: str) -> dict[str, Chart]:
    """Suite to the chart that these name, the same under each id of the machine; without a card, as those of runs."""
    drawn = {suite: _chart(suite, history, catalogue) for suite, history in _histories(machine, catalogue)}
    return {suite: chart for suite, chart in drawn.items() if chart is not None}


def _histories(machine: str, catalogue: Catalogue) -> Iterator[tuple[str, History]]:
    """The histories of suites whose numbers are costs of events or slowdowns, by suite as the site orders them."""
    of_suites = histories(same_machine(machine, catalogue.numbers.machines()), catalogue.numbers.spread)
    for suite in (folder.suite for folder in catalogue.suites):
        if suite.id in of_suites and view_of(suite).has_costs:
            yield suite.id, of_suites[suite.id]


def _chart(suite: str, history: History, catalogue: Catalogue) -> Chart | None:
    newest = {run.id: _when(run, history.runs) for run in history.runs[-MOST_RUNS:]}
    able = (pair for pair in history.comparisons if pair.reason is None and pair.ratio is not None)
    compared = [pair for pair in able if pair.second.submission.id in newest]
    if not compared:
        return None
    # Of too many rows those with a change are drawn, each at its place in the order of cases.
    in_order = sorted(compared, key=lambda pair: pair.second.key.order)
    by_row = grouped_by(
        in_order, lambda comparison: f"{with_level(comparison.second)}, {names.tracer_name(comparison.second.tracer)}"
    )
    kept = sorted(by_row, key=lambda row: not any(pair.is_clear for pair in by_row[row]))[:MOST_ROWS]
    drawn = ((row, pair) for row, own in by_row.items() for pair in own if row in kept)
    dots = [Dot(row, newest[pair.second.submission.id], pair.ratio) for row, pair in drawn if pair.ratio]
    last, title, left = history.runs[-1], catalogue.by_suite[suite].suite.title, len(by_row) - len(kept)
    title_of_axis, keys = "times the cost of the run before", ("ratio", "ratio_low", "ratio_high")
    chart = dot_chart(
        DotQuantity(title_of_axis, keys, partial(units.interval, scale=units.TIMES), reference=1.0),
        f"over-time-{last.machine}-{suite}",
        f"{title} on {names.machine_name(last)}: runs against the runs before",
        "Cost of one event in a run over its cost in the run before, with its 95 % interval; at 1 it is the same.",
        dots,
        series=list(newest.values()),
        note=f"{units.count(left)} more that show no difference are on the pages of the runs." if left else None,
        page=addresses.machine(last.machine),
    )
    return replace(chart, specs={layout: chart.specs[layout] for layout in LAYOUTS})


def _when(submission: Submission, runs: Sequence[Submission]) -> str:
    """The day of a run, with its time where the machine ran the suite again that day."""
    is_alone = sum(run.date == submission.date for run in runs) == 1
    return date_words(submission.date) + ("" if is_alone else f", {submission.started[11:16]} UTC")


CHART = "machines"

ASKED = tuple(QUESTIONS[name] for name in ("tracepoint", "uprobe-emulated", "uprobe-stepped"))
"""What readers ask of a machine first."""


def briefly(machine: str, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Each type of probe in a few words and its cost without interval, for a badge or a picture."""
    return [(kind.briefly, units.value(reply.time, units.DURATION)) for kind, reply in asked(machine, catalogue)]


def asked(machine: str, catalogue: Catalogue) -> list[tuple[NamedQuestion, Reply]]:
    """Each type of probe with the answer of a machine; types without a clear cost are left out."""
    replies = ((kind, on(catalogue, kind, machine)) for kind in ASKED)
    return [(kind, reply) for kind, reply in replies if reply is not None and not reply.is_bound]


def charts(catalogue: Catalogue) -> list[Chart]:
    """What each type of probe costs on the machines that pages show, a row for each; none for a machine alone."""
    replies = chain.from_iterable(asked(machine, catalogue) for machine in shown_machines(catalogue.numbers))
    dots = [Dot(names.machine_name(reply.number.submission), kind.briefly, reply.time) for kind, reply in replies]
    whole = of_all_machines(catalogue, ASKED[0])
    if len({dot.label for dot in dots}) < 2 or whole is None:
        return []
    sentence = "Each dot has its interval; rows are in no order of cost."
    title = f"One {ASKED[0].briefly} costs {units.span(whole.time, units.DURATION)} on {whole.words}"
    return [cost_chart(CHART, title, sentence, dots, page="/machines/")]


NOT_RECORDED = "not recorded"


def write(submissions: Sequence[Submission], catalogue: Catalogue) -> str:
    name, machine = names.machine_name(submissions[0]), submissions[0].machine
    runs = f"{len(submissions)} run{'s' if len(submissions) != 1 else ''}"
    front = {
        "subtitle": names.machine_facts(submissions[0].document),
        "description": f"What tracing costs on {name}, by {runs}.",
        "picture": f"/{card(machine)}",
        "picture_words": f"What one traced event costs on {name}.",
        "badge": f"/{badge(machine)}",
    }
    return _page(submissions, front, catalogue, _parts(submissions, catalogue))


def _page(
    submissions: Sequence[Submission], front: Mapping[str, object], catalogue: Catalogue, body: Iterable[Part]
) -> str:
    name, tier = names.machine_name(submissions[0]), parts.tier(submissions[0].document)
    cited = citing.front(citing.cite_machine(submissions[0], catalogue))
    return parts.page({"title": name, "kind": "machine", "open": 1, "kicker": tier, **front, **cited}, body)


def _parts(submissions: Sequence[Submission], catalogue: Catalogue) -> Iterator[Part]:
    shown, newest = representative(submissions), submissions[0].document
    suite, cases = suite_of(shown, catalogue), with_numbers(shown)
    view, has_hosts = view_of(suite), is_hosted(shown.machine)
    answers = []
    for kind, reply in asked(shown.machine, catalogue):
        number = catalogue.numbers.of_next_run(reply.number)
        event, tool = kind.words[0].lower() + kind.words[1:], names.tool_with_version(number)
        costs = markdown(links.number(number, "cost", parts.cost(number)))
        rate = markdown(links.number(number, "threshold-5", parts.threshold(number, 5)))
        answers.append(
            say("An event of {} costs {} with {}: a busy thread slows by 5 % at {}.", event, costs, tool, rate)
        )
    yield Items(answers)
    if cases:
        yield Heading(view.heading_of_machine or view.heading)
        why = say(", because {}", "; ".join(shown.grade_reasons)) if shown.grade_reasons else ""
        sentence = "Of its newest runs the least disturbed one, {}, has grade **{}**{}. Intervals below are its own."
        yield say(sentence, links.run(shown), shown.grade, why)
    yield together(*submission_page.untraced(shown)) if view.has_untraced else None  # of that run alone
    if cases:
        yield from (parts.chart(chart.name) for chart in submission_page.charts(catalogue, shown))
        yield from view.table(cases, suite.factor if suite else None, brief=True)
    yield Heading("All its runs")
    heads = columns("run", "suite", "blocks", "baseline", "noise-floor", "grade")
    yield Table(
        heads,
        [
            (*_of_run(submission), units.duration(submission.noise_floor_ns, 2), submission.grade)
            for submission in submissions
        ],
    )
    yield "The page of a run has the reasons of its grade, the command that repeats it and what could not be measured."
    yield links.credit(submissions)
    if has_hosts and sum(submission.suite == shown.suite for submission in submissions) > 1:
        yield Heading("From host to host")
        yield say(
            "Each run had a host of its own, with neighbours that nobody knows.\n"
            "So guidance takes the whole range of a cost over the runs, and never one run's interval."
        )
        rows = []
        for number in cases:
            if (runs := len(catalogue.numbers.of_hosts(number))) > 1:
                cost = links.number(number, "cost", parts.cost(catalogue.numbers.over_hosts(number)))
                rows.append((links.case(number.case, with_level(number)), names.tool_with_version(number), cost, runs))
        yield Table(columns("case", "tracer", "cost-over-runs", "runs-with-it"), rows)
    yield from _over_time(shown.machine, catalogue)
    yield Heading("The machine")
    if has_hosts:
        yield say(
            "A service lends this kind of machine for one job: "
            "[what such a time is worth](/method/machines/#hosted-runners).\n"
            "All runs with this image and this CPU are one machine here, whichever host they had; the table has the "
            "newest run's."
        )
    how = "Whether a guest is [nested](/method/machines/#nested-or-not) is decided by the time of CPUID alone."
    yield say(how) if newest.machine.virtualization and newest.run.metric == "time" else None
    yield from _what_it_is(newest)


card, badge = "machines/{}/card.png".format, "machines/{}/badge.svg".format
"""Where the picture of a link to the page of a machine, and its badge, are below the site's root."""


def write_emulated(submissions: Sequence[Submission], catalogue: Catalogue, position: int) -> str:
    """The page of the emulated machine of `submissions`, newest first; `position` is its own among those machines."""
    description = f"Instructions that one traced event takes on {names.machine_name(submissions[0])}."
    return _page(submissions, {"description": description, "weight": position}, catalogue, _emulated_parts(submissions))


def _emulated_parts(submissions: Sequence[Submission]) -> Iterator[Part]:
    shown = min(submissions, key=lambda submission: (submission.suite != FIRST_SUITE, -len(with_numbers(submission))))
    sentence = "Instructions counted in an emulated machine, and no times: see {}."
    yield say(sentence, link("what they show, and what they do not", "/kernels/"))
    if cases := with_numbers(shown):
        yield Heading("What an event takes here")
        baseline = instructions.count(shown.baseline)
        sentence = say("By {}: one untraced operation takes {} instructions.", links.run(shown), baseline)
        yield sentence if shown.baseline else None
        yield from view_of(None, "instructions").table(cases, None)
        blocks, is_flagged = shown.document.run.blocks, any(number.faults for number in cases)
        yield together(
            f"The median of {blocks} blocks, with the least and the greatest of them in brackets where they differ at "
            "that many digits.",
            is_flagged and f"{instructions.FLAG} marks a count that is neither ranked nor compared; its page says why.",
        )
    yield Heading("All its runs")
    yield Table(columns("run", "suite", "blocks", "baseline"), [_of_run(submission) for submission in submissions])
    yield "The page of a run has the command that repeats it and what could not be counted."
    yield links.credit(submissions)
    yield Heading("What it is made of")
    packages = grouped_by(
        (pair for submission in submissions for pair in submission.document.run.packages.items()), itemgetter(0)
    )
    made = [(part, "; ".join(dict.fromkeys(name for _, name in own))) for part, own in packages.items()]
    yield Table(columns("part", "package"), made or [(NOT_RECORDED, "")])
    yield Heading("The machine")
    yield from _what_it_is(submissions[0].document)


def _of_run(submission: Submission) -> Sequence[object]:
    baseline = submission.baseline
    operation = (
        units.duration(baseline and baseline.value) if submission.metric == "time" else instructions.count(baseline)
    )
    return links.run(submission), links.suite(submission.suite), submission.document.run.blocks, operation


def _what_it_is(document: MachineFile) -> Iterator[Part]:
    system = document.system
    yield Table.of_facts(facts(document))
    for title, ids, settings in (
        ("Kernel options that change what a probe costs", ("setting", "options"), system.kernel_config),
        ("CPU vulnerabilities, as the kernel reports them", ("state", "names"), system.vulnerabilities),
    ):
        rows = [(value, ", ".join(own)) for value, own in grouped_by(settings, settings.__getitem__).items()]
        yield from section(title, Table(columns(*ids), rows) if rows else None, level=3)


def facts(document: MachineFile) -> dict[str, str]:
    """Each fact of a machine, label to text; of the ones that early files lack, that they were not recorded."""
    machine, system = document.machine, document.system
    kinds = [f"{number} of {kind}" for kind, number in machine.core_kinds.items()]
    shown = {
        "CPU": machine.cpu_model,
        "Microarchitecture": machine.microarchitecture or ("not known" if machine.cpu_numbers else NOT_RECORDED),
        "Numbers of the CPU": _listed(f"{key} {value}" for key, value in machine.cpu_numbers.items()),
        "Architecture": names.architecture(machine.architecture),
        "Sockets, cores, threads": ", ".join(map(units.count, (machine.sockets, machine.cores, machine.threads))),
        **({"Kinds of cores": _listed(kinds)} if kinds else {}),
        "Simultaneous multithreading": _yes(machine.smt),
        "Memory": units.size(machine.memory_bytes) if machine.memory_bytes else None,
        "Frequency governor": machine.governor,
        "Turbo": _yes(machine.turbo),
        "Microcode": machine.microcode,
        "Virtualization": machine.virtualization,
        "Nested": names.nesting(machine, system),
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


def _listed(texts: Iterable[str] | None, mark: str = ", ") -> str:
    return mark.join(texts or ()) or NOT_RECORDED


def _yes(value: bool | None) -> str | None:  # noqa: FBT001
    return None if value is None else ("yes" if value else "no")
