"""Every column of the tables that the site makes, said once: what its header reads, and what it means.

Headers link to their entry, `/data/dictionary/#<id>` (`head` in `templates/macros.j2`). An id is part of an address,
so it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RULES = {"left": ":--", "right": "--:", "center": ":-:"}
"""How Markdown writes the alignment of a column."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its header, what a cell says, in which unit, and on which side its cells stand."""

    id: str
    label: str
    meaning: str
    unit: str = ""
    align: Literal["left", "right", "center"] = "left"

    @property
    def rule(self) -> str:
        """Its alignment as the line below a Markdown header has it."""
        return RULES[self.align]


def _figure(name: str, label: str, meaning: str, unit: str = "") -> TableColumn:
    return TableColumn(name, label, meaning, unit, "right")


TIME, RATE, SHARE, TIMES, INSTRUCTIONS = "time", "events per second", "per cent", "times", "instructions"
WHAT = (
    TableColumn("case", "Case", "One thing measured: a probe and what it does when it fires."),
    TableColumn("tracer", "Tracer", "The tool that observed; where it stands with its version, as it prints it."),
    TableColumn(
        "machine", "Machine", "Hardware, kernel and settings; the end of its id tells machines of one name apart."
    ),
    TableColumn("suite", "Suite", "A set of cases around one question."),
    TableColumn("run", "Run", "A submission: one suite, run once on one machine; named by its day and its suite."),
    _figure("level", "Level", "The value of the factor that the suite varies, such as the number of threads."),
    TableColumn("probe", "Probe", "Where the tracer was attached: the kind of probe."),
    TableColumn("action", "Action", "What the probe does each time it fires."),
    TableColumn(
        "first-instruction",
        "First instruction",
        "What the kernel does with the first instruction of a function: it decides most of the cost of a probe there.",
    ),
    TableColumn("script", "Script", "The language of the case's program, and its line as it was run."),
    TableColumn("event", "Event", "What happens in a program when the probe fires."),
    _figure("event-rate", "Rate", "Events in a second of one busy CPU, untraced.", RATE),
    _figure(
        "slowdown-of-program", "Measured", "By how much longer the program took while its events were counted.", SHARE
    ),
    TableColumn("scripts", "Scripts", "The program of the case for each tracer, as it was run."),
    TableColumn("standard-tool", "Tool", "A ready-made script or command of a package, with what one event is to it."),
    TableColumn(
        "usual-rate", "Usual rate", "How often such events happen, or may, as the manual page in brackets states it."
    ),
)
QUANTITIES = (
    TableColumn("band", "Slowdown of the busiest thread", "A range between two thresholds.", SHARE),
    TableColumn("band-deed", "What to do", "What such a slowdown allows."),
    TableColumn("quantity", "Quantity", "What was measured, or worked out from it."),
    _figure("value", "Value", "The estimate, with its 95 % interval in brackets where it has one."),
    _figure(
        "cost",
        "Cost of one event",
        "Time that tracing adds to one event: the Hodges-Lehmann estimate over the blocks, with its 95 % interval. "
        "A cost below the noise floor is said to be not distinguishable from 0.",
        TIME,
    ),
    _figure("fastest", "Fastest run", "The least traced run less the least untraced one, an event.", TIME),
    _figure(
        "slowdown",
        "Slowdown",
        "Cost over the untraced time of an event, in the loop that was measured; another program is slowed by its own "
        "rate of events.",
        SHARE,
    ),
    _figure("threshold-1", "1 % at", "The rate of events at which one busy thread slows by 1 %: measurable.", RATE),
    _figure("threshold-5", "5 % at", "The rate of events at which one busy thread slows by 5 %: significant.", RATE),
    _figure("threshold-30", "30 % at", "The rate of events at which one busy thread slows by 30 %: expensive.", RATE),
    _figure("loss", "Events lost", "Events that the tracer said it dropped, over all that were made.", SHARE),
    _figure("start", "Start", "From starting the tracer until its probes are proved to be live.", TIME),
    _figure("stop", "Stop", "From asking the tracer to stop until it has exited.", TIME),
    _figure(
        "start-instructions",
        "Start",
        "Instructions that an emulated machine executes from starting the tracer until its probes are live, and until "
        "the kernel has nothing left to do for it: the median of the blocks, with the least and the greatest.",
        "instructions",
    ),
    _figure(
        "stop-instructions", "Stop", "The same from asking the tracer to stop until it has exited.", "instructions"
    ),
    _figure("probes", "Probes", "Probes that the tracer says it attached; empty where it does not say."),
    _figure("events-fired", "Events", "Events that one operation of the workload made, by the tracer's own count."),
    _figure(
        "tracer-cpu",
        "CPU time of the tool",
        "What the tool itself takes, with its start and its end: of a run, or for an operation such as one refresh "
        "where the tool is what is measured; the Hodges-Lehmann estimate over the blocks, with its 95 % interval.",
        TIME,
    ),
    _figure("tracer-memory", "Its memory", "The largest resident memory of the tool, over the runs.", "bytes"),
    _figure("tracer-calls", "System calls", "Of the tool itself, for an operation, counted in a run apart.", "calls"),
    _figure(
        "tracer-slope",
        "CPU time for one more",
        "What each further one of what the level counts adds to an operation, from the lowest level to the highest.",
        TIME,
    ),
    _figure("calls-slope", "System calls for one more", "The same of the tool's system calls.", "calls"),
    _figure(
        "instructions",
        "Instructions per event",
        "Instructions that tracing adds to one event, counted in an emulated machine: the median of the blocks, with "
        "the least and the greatest of them in brackets where they differ at that many digits.",
        INSTRUCTIONS,
    ),
    _figure("untraced-share", "Of an untraced operation", "Added instructions over those of the untraced work.", SHARE),
    _figure("baseline", "Baseline", "Time or instructions of the same work without a tracer: the median run."),
    _figure(
        "noise-floor",
        "Noise floor",
        "What baseline against baseline leaves possible: that is the noise floor, and a cost below it is no "
        "difference.",
        TIME,
    ),
    _figure("untraced-rate", "Untraced rate", "Events per second of the work without a tracer.", RATE),
    _figure("traced-rate", "Highest rate", "Events per second of the middle one of the traced runs.", RATE),
    _figure("p50", "Half within", "The time that half of the single operations did not exceed.", TIME),
    _figure("p99", "99 % within", "The time that 99 % of the single operations did not exceed.", TIME),
    _figure("p99-9", "99.9 % within", "The time that 99.9 % of the single operations did not exceed.", TIME),
    _figure("longest", "Longest", "What the longest of all single operations took.", TIME),
    _figure(
        "blocks", "Blocks", "Rounds in which the case ran beside its baselines, and which the estimate is made of."
    ),
    TableColumn(
        "grade",
        "Grade",
        "How far a number can be trusted, A to D; the rules stand on the pages of machines.",
        "",
        "center",
    ),
    TableColumn(
        "tree", "What was built", "Name and version of the project, or how many files its source tree has, with a hash."
    ),
    TableColumn(
        "mechanism", "Kprobe made by", "How the kernel made the probe: by a trap, a jump in its place, or ftrace."
    ),
)
BLOCKS = (
    _figure("block", "Block", "The round, from 0, in which the runs of this line were made."),
    _figure(
        "untraced-operation", "Untraced, an operation", "Each run of the block without a tracer, over its operations."
    ),
    _figure("traced-operation", "Traced, an operation", "The run of the block with the tracer, over its operations."),
    _figure(
        "difference-event",
        "Difference, an event",
        "Traced less untraced, over the events of an operation; for times, one for each untraced run of the block.",
    ),
    _figure("expected", "Events", "Events that the workload made in the run in which they were counted."),
    _figure("seen", "Seen", "Events that the tracer reported in that run; empty where it counted none."),
    _figure("lost", "Lost", "Events that the tracer said it dropped in that run."),
    _figure("own-operation", "The tool, an operation", "CPU time of the tool in a run, over its operations."),
    TableColumn("lines", "Lines", "The lines of samples.csv that this block is made of; the header is line 1."),
)
COMPARED = (
    TableColumn(
        "place",
        "Place",
        "The place of a tracer by cost on its machine, 1 for the least; several where intervals overlap.",
        "",
        "center",
    ),
    _figure("then", "Then", "The cost in the earlier run.", TIME),
    _figure("difference", "Difference", "The second less the first, with its 95 % interval.", TIME),
    _figure("ratio", "Ratio", "The second over the first, with its 95 % interval.", TIMES),
    TableColumn(
        "program", "Program", "The program that was traced, at real work; the page of its suite says which work."
    ),
    _figure("predicted", "Predicted", "The slowdown that its rate of events times the cost of one predicts.", SHARE),
    _figure("of-predicted", "Of that", "The measured slowdown over the one that was predicted.", TIMES),
    TableColumn("outcome", "Outcome", "What the two intervals allow to say of the second against the first."),
    TableColumn(
        "earlier-run", "Earlier run", "The newest run before, of the same suite, that has the case with the tracer."
    ),
    TableColumn(
        "trade", "What it needs or does not tell", "What is given up, or has to be there, with another probe or action."
    ),
    _figure("predicted-operation", "Predicted, an operation", "What the costs of the parts add up to.", TIME),
    _figure("measured-operation", "Measured, an operation", "What was measured of the whole.", TIME),
    _figure(
        "measured-predicted", "Measured over predicted", "Above 1 where the whole costs more than its parts.", TIMES
    ),
    TableColumn("meet", "Their intervals", "Whether the two intervals have a value in common."),
    _figure("slowdown-measured", "Slowdown measured", "Of the loop at this rate, with its 95 % interval.", SHARE),
    _figure("slowdown-predicted", "Rate × cost", "The slowdown that the cost gives at this rate.", SHARE),
    _figure(
        "threads", "Threads that fire it at once", "How many threads perform the operations, each on a CPU of its own."
    ),
    _figure("thread-factor", "An event costs", "Over its cost with one thread, with the 95 % interval.", TIMES),
    _figure("change", "Change", "The second count over the first, less 1.", SHARE),
    _figure("counts", "Instructions", "Both counts, from the first to the second.", INSTRUCTIONS),
    TableColumn("from", "From", "The kernel, or the version, of the first count."),
    TableColumn("to", "To", "The kernel, or the version, of the second count."),
    TableColumn("cause", "Cause", "What made it more or fewer, where that is known, and how sure that is."),
)
PUBLISHED = (
    TableColumn("source", "Source", "Who printed the figure; its page has all of them."),
    TableColumn(
        "what", "What was measured", "In the words of the figure: what its source measured, and on which platform."
    ),
    _figure(
        "published-cost",
        "Cost",
        "The cost that others printed; “derived” where it follows from figures that they print.",
        TIME,
    ),
    _figure(
        "published-baseline",
        "Baseline",
        "The untraced operation that the source prints, or that follows from it.",
        TIME,
    ),
    TableColumn(
        "figure-grade",
        "Grade",
        "How well the source’s way of measuring is known; the page of the source says more.",
        "",
        "center",
    ),
    _figure("printed", "As printed", "The figure as the source prints it."),
    TableColumn("recomputed", "Computed again", "What follows from the source’s other figures, and whether it agrees."),
    TableColumn("done-there", "What it did", "What the source did or measured, in our words."),
    TableColumn("done-here", "Done again here", "The suites that do it again, or that none does."),
    TableColumn(
        "done-note", "What differs, or why not", "What is another thing here; where it is not done, the reason."
    ),
    TableColumn("known", "Known", "Whether the source was read in full, or only an excerpt was seen."),
    _figure("figures", "Figures", "How many figures of the source stand here."),
    _figure("disagreements", "Disagreements", "How often the source’s figures do not follow from one another."),
    TableColumn(
        "source-baseline",
        "Baseline of one operation",
        "What one untraced operation takes in the source, by platform.",
        TIME,
    ),
    _figure(
        "range-measured",
        "Measured",
        "The cost on one machine, or the least and the greatest of several. Where none could time it: ≈ before what is "
        "estimated from counted instructions, as far as all intervals reach.",
        TIME,
    ),
    _figure(
        "estimated-cost", "Estimated cost", "The cost as it follows from counted instructions, with its interval.", TIME
    ),
    TableColumn("estimated-from", "From", "The counted case, and measured ones whose action was added to it."),
    _figure("instruction-time", "An instruction", "What a counted instruction takes on a machine, on average.", TIME),
    _figure(
        "breakpoint-time", "A breakpoint", "What the exception of a breakpoint takes beyond its instructions.", TIME
    ),
    _figure("step-time", "A single step", "What the exception of a single step takes beyond its instructions.", TIME),
    _figure("calibrations", "Cases", "How many cases with a count and a time the times are fitted to."),
    _figure("left-out", "Cases left out", "How many cases of the kind, on all machines, were estimated from others."),
    _figure("left-out-ratio", "Measured over estimated", "The least and the greatest ratio of those left out.", TIMES),
    _figure(
        "range-published", "Published by others (figures)", "The least and the greatest cost that others printed.", TIME
    ),
    TableColumn("published-for", "Published for", "The platform, or the words, of the published figure."),
    _figure("published", "Published", "The cost that others printed.", TIME),
    _figure(
        "measured-here", "Measured here", "The cost of the same case with the same tool, with its 95 % interval.", TIME
    ),
    TableColumn("with", "With", "The tracer of the measured side, with its version."),
    TableColumn("on", "On", "The machine or the kernel of the measured side."),
    _figure("measured-published", "Measured / published", "With the interval of what was measured here.", TIMES),
    TableColumn("published-on", "Published on", "The platform of the published costs."),
    _figure("pairs", "Rows", "How many costs stand in both orders, and how many were published."),
    TableColumn(
        "correlation",
        "Rank correlation (95 %)",
        "Kendall’s: 1 where both put the cases in one order, −1 in the opposite one.",
    ),
    _figure(
        "chance",
        "So much order by chance",
        "How likely so much order is between two that have nothing to do with each other.",
        SHARE,
    ),
)
LISTS = (
    TableColumn(
        "kind", "Kind", "Physical, virtual or nested; times of different kinds are not ranked against each other."
    ),
    TableColumn("newest-run", "Newest run", "The day of the newest submission, UTC."),
    TableColumn("suites", "Suites", "Which suites were run there."),
    TableColumn("day", "Day", "The day, UTC."),
    TableColumn("tracers", "Tracers", "Which tools took part, with their versions."),
    TableColumn("kernel", "Kernel", "Kernel release."),
    TableColumn("architecture", "Architecture", "The instruction set of the machine."),
    _figure("cpus", "CPUs", "How many CPUs the machine has; the only one is shared by tracer and workload."),
    TableColumn("system", "System", "Distribution and its version."),
    TableColumn("versions", "Versions seen", "The versions of the tool that submissions have, as it prints them."),
    _figure("cases", "Cases", "How many cases."),
    _figure("measured-cases", "Measured", "How many cases have a number with this tool, on any machine."),
    TableColumn("question", "Question", "What the suite was made to answer."),
    TableColumn("part", "Part", "A part that an emulated machine is made of."),
    TableColumn("package", "Package", "The package that it came from, with its version."),
    TableColumn("setting", "Value", "A value that settings have."),
    TableColumn("options", "Options", "The kernel options that have it."),
    TableColumn("state", "State", "The kernel’s own account of a vulnerability."),
    TableColumn("names", "Names", "The vulnerabilities of which it says so."),
    TableColumn("cap", "No better than", "The best grade that is left where the rule holds.", "", "center"),
    TableColumn("of-what", "Of what", "Whether the rule is for a whole submission, or for one case of it."),
    TableColumn("rule", "When", "When the rule holds."),
    TableColumn("file-what", "What", "What a file holds."),
    TableColumn("file", "File", "A file to load down."),
    TableColumn("files", "Files", "Files to load down, with their sizes where they are large."),
    _figure("file-size", "Size", "Of the file as it is loaded."),
    _figure("rows", "Rows", "How many rows the file has, without its header."),
    TableColumn("release", "Release", "A frozen copy of the data, by year and month."),
    TableColumn(
        "data-version", "Data version", "The day of the newest change, and the first digits of a hash over all files."
    ),
    _figure("submissions", "Submissions", "How many runs of a suite on a machine."),
    _figure("sources", "Sources", "How many published sources."),
    _figure("archive", "Archive", "The size of the file that has everything."),
    TableColumn("column", "Column", "A column, as its header has it."),
    TableColumn("key", "Key", "A key of the document, with those above it."),
    TableColumn("unit", "Unit", "What the cells are in; each says its own unit, ns or µs, k/s or M/s."),
    TableColumn("data-kind", "Kind", "Text, whole number or decimal, and whether it may be empty."),
    TableColumn("meaning", "Meaning", "What a cell says."),
    TableColumn("check-rule", "Rule", "The id by which a problem names the rule that was broken."),
    TableColumn("demand", "What it demands", "What must hold for data to be published."),
    TableColumn("good-example", "Good", "An example that keeps the rule."),
    TableColumn("bad-example", "Bad", "An example that breaks it."),
)

COLUMNS = {one.id: one for group in (WHAT, QUANTITIES, BLOCKS, COMPARED, PUBLISHED, LISTS) for one in group}
"""Column id to column, in the order of the dictionary."""
