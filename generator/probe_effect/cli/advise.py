"""`probe-effect advise`: may this script run here?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from probe_effect.answer.question import rate_from, share_from
from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, script_text
from probe_effect.model import UsageError


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
    from probe_effect.advising.prediction import this_machine
    from probe_effect.advising.script_answer import COMMAND_S, USUAL_S, RunningSystem, ScriptQuestion, answer_script
    from probe_effect.advising.script_report import advice_json
    from probe_effect.cli.advice_output import show
    from probe_effect.cli.tables import show_quota
    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.live.count import Target

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
        show_quota()
    answer = answer_script(question, data, RunningSystem(facts=this_machine(), calibrate=calibrate, tell=output.say))
    if output_format == "json":
        output.product_json(advice_json(answer))
    else:
        show(answer)
    output.end({True: 0, False: 1, None: 3}[answer.advice.within_budget])


def _script(words: Sequence[str], program: str | None) -> tuple[str, tuple[str, ...]]:
    if program is not None:
        return program, tuple(words)
    if not words:
        raise UsageError("no script: give a file of bpftrace or D, or the script itself with -e")
    return script_text(Path(words[0])), tuple(words[1:])


def _rate(text: str) -> tuple[str, float]:
    """A probe with its rate: names of probes may have `=` in them, rates have none."""
    probe, sign, rate = text.rpartition("=")
    if not sign:
        raise UsageError(f"--rate {text}: expected PROBE=N, such as uprobe:libc:malloc=20k")
    return probe, rate_from(rate)
