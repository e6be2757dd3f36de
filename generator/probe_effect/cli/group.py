"""The group of all commands, and the one place where errors become output and exit status."""

from __future__ import annotations

import sys

import click

from probe_effect.cli.lazy import LazyGroup, Unread, UnreadOfSite
from probe_effect.cli.output import say, show_problems
from probe_effect.errors import BadData, ProbeEffectError

COMMANDS = {
    "Ask": (
        Unread("advise", "Say whether a tracing script may run here: how often its probes fire, and what that does."),
        Unread(
            "try",
            "Say what a script costs COMMAND here: run it with and without, in turns, and compare.",
            "try_command",
        ),
        Unread("predict", "Say what a probe will do to a thread: its slowdown, with an interval, at a rate of events."),
        Unread("watch", "Say what tracing costs this machine now, with what a probe costs before its program runs."),
        Unread("compare", "Say where B costs more or less than A, and where no difference can be seen."),
        Unread("cite", "Say how to cite ID, as text and as BibTeX; without ID, the whole data set."),
    ),
    "Measure": (
        Unread("doctor", "Say what this machine can measure, what is missing, and what makes it noisy."),
        Unread("suites", "List suites and cases, and for each tracer whether it can run here and why not."),
        Unread(
            "measure",
            "Measure suites on this machine, all of them by default, and print the folder of each submission.",
        ),
        Unread(
            "lab", "Repeat an experiment that others published: looper, dd or usdt. It takes less than two minutes."
        ),
        Unread("summarise", "Say what the submissions in DIR measured."),
        Unread("check", "Check submissions, published sources and suites in DIR; without DIR, the whole data folder."),
        Unread(
            "submit", "Propose the submissions in DIR for publication; without DIR, all that are not published yet."
        ),
    ),
    "Publish": (
        UnreadOfSite("build", "Build the site from data; the previous one stays whole until the new one is."),
        UnreadOfSite("serve", "Show the site on this machine; pages, styles and data reload as they change.", "build"),
        UnreadOfSite("release", "Freeze the data as VERSION, year and month: 2026.11, then 2026.11.2."),
        Unread(
            "release-notes",
            "Print what the data release VERSION added, corrected and withdrawn, as Markdown.",
            "release",
        ),
    ),
    "Keep up": (
        Unread("review", "Say what HEAD would change in the data that BASE has published."),
        Unread(
            "review-comment",
            "Make a comment of FILE, which `probe-effect review --format json` wrote, or anybody else.",
            "review",
        ),
        Unread("dictionary", "Print what every column, key and rule of the data format means.", "upkeep"),
        Unread(
            "tools", "Read the standard tools of packages again, from the scripts that are installed here.", "upkeep"
        ),
        Unread("transcripts", "Run the commands of the guide here, and record what they print.", "upkeep"),
    ),
}
"""By what they are for, each with the first sentence of its help: a command is listed without being imported."""


@click.group(
    cls=LazyGroup,
    groups=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="probe-effect", prog_name="probe-effect")
def commands() -> None:
    """What does observing cost? Measure it, check results, and build the site.

    \b
    Exit status: 0 fine, 1 problems found, 2 wrong usage, 3 this host cannot do it.
    """  # noqa: D301 (click reads the \b)


def main() -> None:
    """Run the command line; expected failures print their message, never a traceback."""
    try:
        sys.exit(commands(standalone_mode=False))  # click hands a command's exit status back as a value
    except click.exceptions.Abort:
        say("stopped")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ProbeEffectError as error:
        if isinstance(error, BadData):
            show_problems(error.problems)
        say(f"error: {error}")
        sys.exit(error.exit_status)
