"""`probe-effect predict`: what a probe would do to a program."""

from pathlib import Path
from typing import Any

import click

from probe_effect.answer.question import Combination, Question, asked_from, rate_from, share_from
from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.costs.row import SAMPLED
from probe_effect.model import UsageError
from probe_effect.numbers.names import tool_of

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

    from probe_effect.cli.answer_output import run

    output.end(0 if run(question, data, output_format, is_here=words["here"]) else 1)


def _question(words: dict[str, Any]) -> Question:
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


def _sampling(words: dict[str, Any]) -> Question:
    """The question of a profiler: each sample is an event, whose stack is taken unless --action says otherwise."""
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
