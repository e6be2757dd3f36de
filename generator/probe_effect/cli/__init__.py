"""The command `probe-effect`: the only place that prints or exits.

One module for a verb or some has its options and its help. What it does is often in a module beside it (`<verb>_run`),
which is imported when the command is called: so help and complaints about usage are there at once.

Here is the group of all commands, imported when they are called; errors become an exit status here and nowhere else.
Standard output and error are taken as they are found: of any encoding, full, closed, or a pipe that has ended. What is
printed on standard output is what a command is for, so that a command ends where it cannot be printed. What is printed
on standard error is said aside, so that nothing ends for it: a measurement of an hour goes on.
"""

import codecs
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, NoReturn, TextIO

import click

from probe_effect.model import INTERRUPTED, BadData, HostNotReady, ProbeEffectError, Problem
from probe_effect.records import beside

NEAREST = {
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("–—−╌", "-"),
    **dict.fromkeys("\u00a0\u202f\u2009", " "),
    "→": "->",
    "…": "...",
    "µ": "u",
    "μ": "u",
    "×": "x",
    "±": "+/-",
    "≤": "<=",
    "≥": ">=",
    "·": "*",
    "━": "=",
}
"""Signs that we print, to the nearest that ASCII has; of others the letter without its accents."""

BROKEN_PIPE = 141
"""What a shell says of a program that a signal ended: 128 and SIGPIPE."""

NEAR = "probe-effect-nearest"


def _nearest(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    plain = (
        NEAREST.get(sign) or unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() for sign in signs
    )
    return "".join(sign or "?" for sign in plain), error.end


class _Stream(io.TextIOWrapper):
    """Standard output, at whose refusal the command ends, or standard error, which loses what it does not take."""

    is_product: bool
    before: TextIO
    """The stream in whose place it is, which would close the buffer when nobody has it any more."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as refusal:
            if self.is_product:
                self._end(refusal)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as refusal:
            if self.is_product:
                self._end(refusal)
            self._to_nowhere()

    def _end(self, refusal: OSError) -> NoReturn:
        self._to_nowhere()
        if refusal.errno == errno.EPIPE:  # as `| head` ends it: all that was wanted has been read
            sys.exit(BROKEN_PIPE)
        sys.stderr.write(f"error: standard output: {refusal.strerror}\n")
        sys.exit(1)

    def _to_nowhere(self) -> None:
        """Have what the stream still holds, which is written again at the end, go nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _prepare() -> None:
    """Have this process print so. A stream that is closed stays closed, and no file that is opened gets its number."""
    codecs.register_error(NEAR, _nearest)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 (as long as we run)
    sys.stdout, sys.stderr = _wrapped(sys.stdout, is_product=True), _wrapped(sys.stderr, is_product=False)


def _wrapped(stream: TextIO | None, *, is_product: bool) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (as long as we run)
    if type(stream) is not io.TextIOWrapper:  # somebody else's, who called us as a function
        return stream
    stream.flush()
    is_line = stream.isatty() or not is_product
    made = _Stream(stream.buffer, encoding=stream.encoding, errors=NEAR, line_buffering=is_line)
    made.is_product, made.before = is_product, stream
    return made


SITE_PART = ("hugo", "pagefind", "pyarrow", "vl_convert", "watchfiles")
"""What the part `site` of the package brings: Hugo, charts, Parquet. Measuring does without it."""

MOST_SIGNS = 200
"""Of a sentence in the list: all of it."""

NOT_HERE = "Not here: needs the part `site` of the package."


class Unread(click.Command):
    """A command that is not imported yet, as `commands.toml` lists it: its name and the first sentence of its help.

    `module` is the one in this package that has it, where that is not called as it is. One `of_site` needs the part
    `site`; where that is not installed, it says so, and is one that refuses.
    """

    def __init__(self, name: str, sentence: str, module: str | None = None, *, of_site: bool = False) -> None:
        super().__init__(name, help=sentence)
        self.module, self.of_site = module or name, of_site

    def missing(self) -> str | None:
        return next((part for part in SITE_PART if self.of_site and find_spec(part) is None), None)

    def get_short_help_str(self, limit: int = 45) -> str:
        return NOT_HERE if self.missing() else super().get_short_help_str(limit)

    def read(self) -> click.Command:
        if missing := self.missing():
            return _refusing(str(self.name), missing)
        values = vars(import_module(f"{__package__}.{self.module}")).values()
        return next(value for value in values if isinstance(value, click.Command) and value.name == self.name)


class LazyGroup(click.Group):
    """Commands in groups; the one that is called is imported, and none for the list of all."""

    def __init__(self, *, groups: Mapping[str, Sequence[Unread]], **settings: Any) -> None:  # noqa: ANN401 (click's)
        super().__init__(commands=list(chain.from_iterable(groups.values())), **settings)
        self.groups = groups

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        return command.read() if isinstance(command, Unread) else command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        width = max(map(len, self.commands))
        for title, group in self.groups.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (str(lazy_command.name).ljust(width), lazy_command.get_short_help_str(MOST_SIGNS))
                        for lazy_command in group
                    ]
                )


def _refusing(name: str, missing: str) -> click.Command:
    def refuse(**_: object) -> NoReturn:
        raise HostNotReady(
            f"{name}: {missing} is not installed. Expected the part `site` of probe-effect: "
            "run this in a clone of the repository, after `make setup-site`."
        )

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help=NOT_HERE,
    )


COMMANDS = {
    group: [Unread(**command) for command in commands] for group, commands in beside(__file__, "commands").items()
}
"""By what they are for: a command is listed without being imported."""


@click.group(
    cls=LazyGroup,
    groups=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="probe-effect", prog_name="probe-effect")
def commands() -> None:
    """What does observing cost? Measure it, check results, and build the site.

    \b
    Exit status: 0 fine, 1 problems found, 2 wrong usage, 3 this host cannot do it, 130 interrupted.
    """  # noqa: D301 (click reads the \b)


def main() -> None:
    """Run the command line; expected failures print their message, never a traceback."""
    _prepare()
    status = _exit_status()
    sys.stdout.flush()
    sys.exit(status)


def _exit_status() -> int:
    try:
        status: int | None = commands(standalone_mode=False)  # click hands a command's exit status back as a value
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("stopped")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ProbeEffectError as error:
        _say(f"error: {error}", error.problems if isinstance(error, BadData) else ())
        return error.exit_status
    except OSError as refusal:  # a disk that is full or read-only, a folder of another user
        if refusal.strerror is None:
            raise
        where = f"{refusal.filename}: " if refusal.filename else ""
        others = "XDG_CACHE_HOME, TMPDIR and --out name others"
        _say(f"error: {where}{refusal.strerror}. Expected a place that can be read and written; {others}")
        return HostNotReady.exit_status
    return status or 0


def _say(text: str, problems: Iterable[Problem] = ()) -> None:
    from probe_effect.cli import output

    output.show_problems(problems)
    output.say(text)
