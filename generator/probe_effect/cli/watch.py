"""`probe-effect watch` and `try`: what does tracing cost this machine now, and what does a script cost a command?"""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, script_text
from probe_effect.model import UsageError


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
