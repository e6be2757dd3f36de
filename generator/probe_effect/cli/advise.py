"""`probe-effect advise`, `predict`, `watch` and `try`: what a script would do here, what tracing does, what one did."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, script_text
from probe_effect.model import UsageError

if TYPE_CHECKING:
    from probe_effect.answer.question import Question


@click.command()
@click.argument("words", nargs=-1, metavar="[SCRIPT] [-- COMMAND...]")
@click.option("-e", "program", metavar="PROGRAM", help="The script, or a command line of perf, strace or py-spy.")
@click.option("--pid", type=click.IntRange(min=1), help="Count the events of this process.")
@click.option("--cgroup", type=PATH, help="Count those of the processes in this cgroup.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01, max=3600.0),
    help="For how long at most.  [default: 2; of COMMAND until it ends, at most 60]",
)
@click.option(
    "--budget",
    default="1%",
    show_default=True,
    help="How much slower a thread may get, by counting too; of COMMAND that share of 60 s.",
)
@click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="PROBE=N",
    help="How often a probe fires per second in one thread; nothing is counted then. Repeat for several.",
)
@click.option("--depth", type=click.IntRange(1, 100_000), help="Frames of the stack that a sample finds. [default: 30]")
@click.option("--tracer", help="The tracer that runs it. [default: the one that the script is for]")
@click.option("--machine", help="A measured machine. [default: for each probe the nearest that has its cost]")
@click.option("--no-calibrate", is_flag=True, help="Do not measure on this machine what the script's probes cost.")
@data_option
@output.format_option
def advise(
    words: Sequence[str],
    data_path: Path | None,
    output_format: str,
    **options: Any,  # noqa: ANN401 (click's)
) -> None:
    """Say whether a tracing script may run here: how often its probes fire, and what that does to the busiest thread.

    SCRIPT is a file of bpftrace or D. What is counted are the events of a process, of a cgroup or of COMMAND, which
    is run for that; else those of the whole machine.

    \b
    Examples: probe-effect advise -e 'uprobe:libc:malloc { @[ustack] = count(); }' --pid 4711
              probe-effect advise opensnoop.bt --budget 5% -- make -j2
              probe-effect advise -e 'strace -f -p 4711' --rate all=20k

    Exit status 1 above the budget, 3 where a rate or a cost is not known.
    """  # noqa: D301 (click reads the \b)
    text, command = _script(words, options["program"])
    if sum(given is not None for given in (options["pid"], options["cgroup"])) + bool(command) > 1:
        raise UsageError("--pid, --cgroup and a command: expected one of them, or none for the whole machine")
    data = data_folder(data_path, only_asks=True)

    from probe_effect.advising.calibrate import calibrated
    from probe_effect.advising.script_answer import COMMAND_S, USUAL_S, RunningSystem, ScriptQuestion, answer_script
    from probe_effect.advising.script_report import advice_json
    from probe_effect.answer.question import share_from
    from probe_effect.cli.answer_output import show_advice
    from probe_effect.host import this_machine
    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.live.count import Target
    from probe_effect.numbers.shown import facts_of_machine

    mount_for_our_time()
    question = ScriptQuestion(
        text=text,
        target=Target(pid=options["pid"], cgroup=options["cgroup"], command=command),
        seconds=options["seconds"] or (COMMAND_S if command else USUAL_S),
        budget_ratio=share_from(options["budget"]),
        rates_hz=dict(map(_rate, options["rates"])),
        tracer=options["tracer"],
        machine=options["machine"],
        frames=options["depth"],
    )
    calibrate = None if options["no_calibrate"] else calibrated
    if not options["rates"] or (calibrate is not None and options["machine"] is None):  # else nothing runs here
        output.show_quota()
    here = facts_of_machine(*this_machine.collect_named())
    answer = answer_script(question, data, RunningSystem(facts=here, calibrate=calibrate, tell=output.say))
    if output_format == "json":
        output.product_json(advice_json(answer))
    else:
        show_advice(answer)
    output.end({True: 0, False: 1, None: 3}[answer.advice.within_budget])


def _script(words: Sequence[str], program: str | None) -> tuple[str, tuple[str, ...]]:
    if program is not None:
        return program, tuple(words)
    if not words:
        raise UsageError("no script: give a file of bpftrace or D, or the script itself with -e")
    return script_text(Path(words[0])), tuple(words[1:])


def _rate(text: str) -> tuple[str, float]:
    """A probe with its rate: names of probes may have `=` in them, rates have none."""
    from probe_effect.answer.question import rate_from

    probe, sign, rate = text.rpartition("=")
    if not sign:
        raise UsageError(f"--rate {text}: expected PROBE=N, such as uprobe:libc:malloc=20k")
    return probe, rate_from(rate)


PROFILER = "bpftrace"
STACKS = {PROFILER: "count-by-user-stack", "perf-record": "record-stack", "py-spy": "record-stack"}
"""What a profiler does with each sample where nobody says."""


@click.command()
@click.option("--rate", help="Events per second in one thread: 50k, 1.5M, 200.")
@click.option("--case", "cases", multiple=True, metavar="CASE[@RATE]", help="The probe; again for several at once.")
@click.option("--probe", help="A kind of probe, with --action; composed of measured costs where nobody measured it.")
@click.option("--action", help="What that probe does when it fires.")
@click.option(
    "--mechanism",
    type=click.Choice(["emulated", "stepped", "called", "ftrace", "jump", "trap"]),
    help="What the kernel does at --probe: with the first instruction of a user function, or to make a kprobe.",
)
@click.option(
    "--calls", help="System calls per second in that thread, traced or not. [default: as in the measured loop]"
)
@click.option("--tracer", help="The tracer. [default: of those that have the case, the one with most cases]")
@click.option("--machine", help="A measured machine. [default: this one, or the nearest to it]")
@click.option("--hz", type=click.IntRange(1, 100_000), help="Samples a second of each busy CPU, in place of --rate.")
@click.option("--depth", type=click.IntRange(1, 100_000), help="Frames of the stack that a sample finds. [default: 30]")
@click.option("--threads", default=1, show_default=True, help="Threads that fire the probe, each at the rate.")
@click.option("--busy", default="100%", show_default=True, help="Share of its time that a thread uses a CPU.")
@click.option("--here", is_flag=True, help="Time the script of the case on this machine too: root, with bpftrace.")
@data_option
@output.format_option
def predict(
    data_path: Path | None,
    output_format: str,
    **words: Any,  # noqa: ANN401 (click's)
) -> None:
    """Say what a probe will do to a thread: its slowdown, with an interval, at a rate of events.

    \b
    Examples:
      probe-effect predict --rate 50k --case 06-uprobe --tracer bpftrace
      probe-effect predict --rate 50k --case 06-uprobe --case 04-tracepoint-entry@20k
      probe-effect predict --rate 2k --probe uprobe --action count-by-user-stack
      probe-effect predict --rate 2k --probe uprobe --mechanism emulated --action count
      probe-effect predict --rate 5k --case 04-tracepoint-entry --calls 80k
      probe-effect predict --hz 99 --depth 60 --tracer perf-record
      probe-effect predict --hz 100 --depth 60 --tracer py-spy
      probe-effect predict --rate 50k --case 04-tracepoint-entry --here

    Exit status 1 when no machine of this one's kind was measured for it.
    """  # noqa: D301 (click reads the \b)
    data, question = data_folder(data_path, only_asks=True), _question(words)

    from probe_effect.cli.answer_output import show_prediction

    output.end(0 if show_prediction(question, data, output_format, is_here=words["here"]) else 1)


def _question(words: dict[str, Any]) -> "Question":
    from probe_effect.answer.question import Combination, Question, asked_from, rate_from, share_from

    probe, action, cases = words["probe"], words["action"], words["cases"]
    if words["hz"] is not None:
        return _sampling(words)
    if words["depth"] is not None:
        raise UsageError("--depth says how deep the stack is that a sample finds: give --hz with it")
    if (probe is None) != (action is None):
        raise UsageError("--probe and --action belong together: give both, or a measured case with --case")
    if not cases and probe is None:
        msg = "nothing to predict: give a case with --case, such as 06-uprobe; `probe-effect suites` lists them"
        raise UsageError(msg)
    if words["here"] and not cases:
        msg = "--here times the script of a measured case: name one with --case, or give a script to `advise`"
        raise UsageError(msg)
    rate_hz = None if words["rate"] is None else rate_from(words["rate"])
    if probe is not None and rate_hz is None:
        raise UsageError(f"{probe} with {action}: expected a rate, found none; give --rate 50k")
    if words["mechanism"] is not None and probe is None:
        raise UsageError("--mechanism says how --probe is made: give --probe and --action with it; a case has its own")
    asked = None if probe is None or rate_hz is None else Combination(probe, action, rate_hz, words["mechanism"])
    return Question(
        probes=tuple(asked_from(case, rate_hz) for case in cases),
        combination=asked,
        tracer=words["tracer"],
        machine=words["machine"],
        threads=words["threads"],
        busy_ratio=share_from(words["busy"]),
        calls_hz=None if words["calls"] is None else rate_from(words["calls"]),
    )


def _sampling(words: dict[str, Any]) -> "Question":
    from probe_effect.answer.question import Combination, Question, share_from
    from probe_effect.costs.row import SAMPLED
    from probe_effect.numbers.names import tool_of

    if words["rate"] or words["cases"] or words["calls"] or words["here"] or words["probe"] not in {None, SAMPLED}:
        msg = "--hz asks about a profiler: give it without --rate, --case, --calls, --here and another --probe"
        raise UsageError(msg)
    tracer = words["tracer"] or PROFILER
    action = words["action"] or STACKS.get(tool_of(tracer), STACKS[PROFILER])
    return Question(
        combination=Combination(SAMPLED, action, float(words["hz"]), frames=words["depth"]),
        tracer=tracer,
        machine=words["machine"],
        threads=words["threads"],
        busy_ratio=share_from(words["busy"]),
    )


@click.command()
@click.option("--once", is_flag=True, help="Look once and end; JSON is always of one look.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=2.0,
    show_default=True,
    help="How long each look takes.",
)
@click.option("--machine", help="The measured machine whose costs are taken. [default: measured here, or the nearest]")
@click.option("--no-calibrate", is_flag=True, help="Do not measure on this machine what probes cost.")
@data_option
@output.format_option
def watch(
    *, once: bool, seconds: float, machine: str | None, no_calibrate: bool, data_path: Path | None, output_format: str
) -> None:
    """Say what tracing costs this machine now, with what a probe costs before its program runs.

    Shows all loaded BPF programs, what is on in ftrace, and who holds perf events or traces by ptrace. The kernel's
    statistics of BPF programs are on while it looks, and go off with it. Needs root.

    \b
    Examples: probe-effect watch
              probe-effect watch --once --seconds 10 --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, only_asks=True)

    from probe_effect.advising.calibrate import calibrated
    from probe_effect.cli.watch_run import run

    calibrate = None if no_calibrate else calibrated
    run(data, machine, calibrate, seconds=seconds, is_once=once or output_format == "json", output_format=output_format)


COMMAND = "probe_effect.command"
MOST_SCRIPTS = 2
MOST_SECONDS = 86400.0
MOST_PAIRS = 10_000


class BehindDashes(click.Command):
    """A command whose words behind `--` are another's, and are not read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[COMMAND] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command("try", cls=BehindDashes)
@click.argument("files", nargs=-1, metavar="[SCRIPT] -- COMMAND...", type=PATH)
@click.option("-e", "programs", metavar="PROGRAM", multiple=True, help="The script itself, or a tool's command line.")
@click.option("--pairs", type=click.IntRange(1, MOST_PAIRS), default=10, show_default=True, help="6 for an interval.")
@click.option("--prepare", metavar="CMD", help="A shell command before each run, such as one that fills caches.")
@click.option("--ignore-failure", is_flag=True, help="Go on if COMMAND fails.")
@click.option(
    "--seconds", "limit_s", type=click.FloatRange(0.1, MOST_SECONDS), default=600.0, help="How long a run may take."
)
@click.option("--seed", type=int, help="Of the order of the runs. [default: another one each time]")
@click.option("--tracer", default="bpftrace", metavar="PATH", help="The bpftrace that runs SCRIPT.")
@click.option("--output", "plot", type=PATH, help="Write a Vega-Lite spec of the runs to a file.")
@data_option
@output.format_of("text", "json", "csv", to="For people or programs.")
@click.pass_context
def try_script(
    context: click.Context,
    /,
    *,
    files: Sequence[Path],
    programs: Sequence[str],
    seed: int | None,
    data_path: Path | None,
    output_format: str,
    plot: Path | None,
    **options: Any,  # noqa: ANN401 (click's)
) -> None:
    """Say what a script costs COMMAND here: run it with and without, in turns, and compare.

    Everything that COMMAND starts counts. It reads nothing from the terminal, and its output is thrown away. Of two
    scripts it says which costs less. {pid} in a script stands for the process id of COMMAND. Needs root for bpftrace.

    \b
    Examples: probe-effect try opensnoop.bt -- make -j2
              probe-effect try -e 'uprobe:libc:malloc { @ = count(); }' --prepare 'make clean' -- make
              probe-effect try -e 'strace -f -p {pid}' -e 'perf trace -p {pid}' -- git status

    Exit status 130 if it was interrupted; it says what it has then.
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, only_asks=True)

    from probe_effect.advising.runs import TrialScript, TrialSettings
    from probe_effect.cli.watch_run import run_trial

    texts = [*((text, text) for text in programs), *((str(path), script_text(path)) for path in files)]
    if not 1 <= len(texts) <= MOST_SCRIPTS:
        raise UsageError(f"{len(texts)} scripts: expected one or two, as files or with -e, and then -- and the command")
    scripts = tuple(TrialScript(label, *text) for label, text in zip("AB", texts, strict=False))
    seed = secrets.randbelow(2**32) if seed is None else seed
    settings = TrialSettings(scripts=scripts, command=context.meta[COMMAND], seed=seed, **options)
    context.exit(run_trial(settings, data, output_format, plot))
