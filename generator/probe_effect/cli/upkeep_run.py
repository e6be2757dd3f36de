"""What `probe-effect tools` and `transcripts` do: documents of standard tools, and runs of the guide's commands.

A command is run as a reader would run it, and what it printed is kept.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from probe_effect.cli import output
from probe_effect.host import ROOT, run_program, this_machine
from probe_effect.host.kernel import mount_for_our_time, tracefs_missing
from probe_effect.host.ownership import MAKE_OURS, demand
from probe_effect.host.processes import Child, end_process, may_trace
from probe_effect.intake.bundle import FORMS, marks_of_host
from probe_effect.model import BadData, HostNotReady, UsageError
from probe_effect.numbers.index import grouped_by
from probe_effect.scripts.script import read_script
from probe_effect.store import transcripts
from probe_effect.store.documents import write_document
from probe_effect.store.kept import PACKAGE
from probe_effect.store.places import DataFolder, walk
from probe_effect.store.tables import FORBIDDEN_TEXT

FOLDER_PREFIX = "transcript-"

LIMIT_S = 180.0
"""A command ends by itself within 20 s; on a busy machine it may take longer."""

CALLED_WRONGLY = frozenset({2, 126, 127})
"""Exit statuses by which shells and most commands say so; others may be the answer, as those of `timeout` are."""

OWN = "probe-effect"
OWN_PROGRAM = """#!/bin/sh
exec '{python}' -P -c 'import sys; sys.argv[0] = "probe-effect"; from probe_effect.cli import main; main()' "$@"
"""

COLUMNS = "100"
"""The width of the terminal that a command is told; a table may be a little wider."""

SAYS_NOTHING = "couldn't set RLIMIT_MEMLOCK for bpftrace"
"""bpftrace 0.17 prints it where it may not raise a limit, which kernels since 5.11 no longer ask of BPF."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command printed, line by line, and how it ended; None where it had to be ended."""

    output: tuple[str, ...]
    exit_status: int | None


def unmet(transcript: transcripts.Transcript) -> list[str]:
    has_tracefs = tracefs_missing(ROOT) is None
    special = {
        OWN: True,
        transcripts.TRACEFS_NEED: has_tracefs,
        # that may trace: root of a container is root of little
        transcripts.ROOT_NEED: has_tracefs and os.geteuid() == 0 and may_trace(ROOT),
    }
    return [need for need in transcript.needs if not special.get(need, shutil.which(need))]


def run(transcript: transcripts.Transcript) -> CommandOutput:
    """Run it in a folder of its own, with what it wants beside it; all that was started is ended."""
    with TemporaryDirectory(prefix=FOLDER_PREFIX) as name, ExitStack() as ends:
        folder = Path(name)
        own = folder / "bin" / OWN  # on the path is the program that is running
        own.parent.mkdir()
        own.write_text(OWN_PROGRAM.format(python=sys.executable), encoding="utf-8")
        own.chmod(0o755)
        (folder / "work").mkdir()
        pid = None
        if transcript.beside is not None:
            meanwhile = _start(transcript.beside, folder, None, subprocess.DEVNULL)
            ends.callback(meanwhile.end)
            pid = meanwhile.pid
        file = ends.enter_context((folder / "output").open("w+b"))
        child = _start(transcript.run, folder, pid, file.fileno())
        try:
            ended = child.wait(LIMIT_S)
        finally:
            child.end()
            # End what is left in other groups of processes: `timeout` and the jobs of a shell have their own.
            for work in ROOT.glob("proc/[0-9]*/cwd"):
                with suppress(OSError):  # another user's, or gone
                    if work.readlink().is_relative_to(folder):
                        end_process(int(work.parent.name))
        file.seek(0)
        text = file.read().decode("utf-8", errors="replace")
    lines = [line.expandtabs().rstrip() for line in text.splitlines() if SAYS_NOTHING not in line]
    return CommandOutput(tuple("\n".join(lines).strip("\n").split("\n")), ended.exit_status if ended else None)


def _version(command: str) -> str | None:
    """The first line with a digit of what a command says of its version; None where it says none."""
    for option in ("--version", "-V", "-v"):
        with suppress(OSError, subprocess.TimeoutExpired):
            done = run_program([command, option], 10)
            lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
            version = next((line for line in lines if any(map(str.isdigit, line))), None)
            if done.returncode == 0 and version:
                return version
    return None


def faults(transcript: transcripts.Transcript, printed: CommandOutput) -> list[str]:
    """Why an output cannot be shown, in words; empty where it can."""
    lines, status, widest = printed.output, printed.exit_status, max(map(len, printed.output))
    paths = (str(PACKAGE.parents[1]), sys.prefix, FOLDER_PREFIX)
    by_rule = {
        f"did not end within {LIMIT_S:.0f} s": status is None,
        f"ended with exit status {status}, as a command does that was called wrongly": status in CALLED_WRONGLY,
        f"prints {len(lines)} lines; expected at most {transcripts.MOST_LINES}": len(lines) > transcripts.MOST_LINES,
        f"prints a line of {widest} columns; expected at most {transcripts.MOST_COLUMNS}": (
            widest > transcripts.MOST_COLUMNS
        ),
        "prints control characters": any(map(FORBIDDEN_TEXT.search, lines)),
        **{f"prints `{path}`, a path of this machine": any(path in line for line in lines) for path in paths},
    }
    not_shown = [f"does not show {pattern}" for pattern in transcript.missing_from(lines)]
    return [*not_shown, *(fault for fault, is_broken in by_rule.items() if is_broken)]


def _start(command: str, folder: Path, pid: int | None, output: int) -> Child:
    environment = {
        "COLUMNS": COLUMNS,
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH")))),
        "TERM": "dumb",
        **({} if pid is None else {"PID": str(pid)}),
    }
    return Child(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        folder=folder / "work",
        environment=environment,
        is_ours=False,
    )


ONCE = frozenset({"begin", "end"})
"""Kinds that fire at the start or the end of the tool, and never for an event."""


def renewed(data: DataFolder, scripts: Path | None, version: str | None) -> Iterator[tuple[Path, str]]:
    """Each file of `data/tools` with its text as it has to be, by the installed scripts or others of some version.

    Raises: BadData; HostNotReady where a package is not installed; UsageError where the folder has other tools.
    """
    for path in transcripts.tool_files(data):
        package, problems = transcripts.read_tools(path, data.relative(path))
        if package is None:
            raise BadData(problems)
        if package.scripts is not None:
            package = with_scripts(package, scripts or Path(package.scripts), version or installed_version(package))
        yield path, transcripts.written(package)


def with_scripts(package: transcripts.ToolPackage, folder: Path, version: str) -> transcripts.ToolPackage:
    scripts = {path.name for path in folder.glob("*.bt")}
    if unlike := sorted(scripts ^ {tool.name for tool in package.tools}):
        raise UsageError(
            f"{folder} and the document of {package.package} differ in {', '.join(unlike)}. Expected the same tools: "
            "add a [[tools]] with name, answers and event for a new one, remove one that is gone."
        )
    texts = ((tool, (folder / tool.name).read_text(encoding="utf-8")) for tool in package.tools)
    tools = tuple(tool.model_copy(update={"probes": _probes(text)}) for tool, text in texts)
    return package.model_copy(update={"tools": tools, "version": version})


def _probes(text: str) -> tuple[transcripts.ToolProbes, ...]:
    fired = (probe for probe in read_script(text).probes if probe.kind not in ONCE)
    groups = grouped_by(fired, attrgetter("kind", "actions", "has_filter", "timing", "unknown"))
    return tuple(
        transcripts.ToolProbes(
            attach=tuple(script_probe.attach for script_probe in probes),
            kind=kind,
            actions=actions,
            filter=has_filter,
            timing=timing,
            unknown=unknown,
        )
        for (kind, actions, has_filter, timing, unknown), probes in groups.items()
    )


def installed_version(package: transcripts.ToolPackage) -> str:
    with suppress(FileNotFoundError):
        done = run_program(["dpkg-query", "--show", "--showformat", "${Version}", package.package], None)
        if done.returncode == 0 and done.stdout:
            return done.stdout
    raise HostNotReady(f"{package.package}: not installed here. Install it, or give --scripts FOLDER and --version.")


def run_all(data: DataFolder, ids: Sequence[str], *, write: bool) -> int:
    mount_for_our_time()
    folder = data.root / "transcripts"  # of commands of a shell
    demand([folder, *walk(folder)] if folder.is_dir() else (), MAKE_OURS, data.root)
    shown, problems = transcripts.read_transcripts(data)
    if problems:
        raise BadData(problems)
    by_id = {entry.transcript.id: entry.transcript for entry in shown}
    if unknown := [name for name in ids if name not in by_id]:
        raise UsageError(f"{', '.join(unknown)}: no transcript. Expected some of {', '.join(by_id)}.")
    wanted = [by_id[name] for name in ids or by_id]
    count = 0
    for position, transcript in enumerate(wanted, 1):
        if lacking := unmet(transcript):
            output.say(
                f"{position}/{len(wanted)} {transcript.id}: cannot be run here, which lacks {', '.join(lacking)}"
            )
            continue
        output.say(f"{position}/{len(wanted)} {transcript.id}")
        printed = run(transcript)
        wrong = [*faults(transcript, printed), *_private(printed)]
        count += not wrong
        if write and not wrong:
            write_document(transcripts.recorded_file(data, transcript.id), _recorded(transcript, printed))
            continue
        output.product("\n".join((f"$ {transcript.run}", *printed.output)))
        for fault in wrong:
            output.say(f"{transcript.id}: {fault}")
    output.say(f"{count} of {len(wanted)} {'recorded' if write else 'as they should be'}")
    return 0 if count == len(wanted) else 1


def _recorded(transcript: transcripts.Transcript, printed: CommandOutput) -> transcripts.Recorded:
    return transcripts.Recorded(
        id=transcript.id,
        run=transcript.run,
        beside=transcript.beside,
        output=printed.output,
        exit_status=printed.exit_status or 0,
        machine=this_machine.collect_machine().id,
        kernel=this_machine.collect_system(None).kernel_release,
        versions={
            need: version
            for need in transcript.needs
            if need not in transcripts.NO_COMMANDS and (version := _version(need))
        },
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _private(printed: CommandOutput) -> Iterator[str]:
    patterns = [*((f"this machine's {mark.kind}", mark.pattern()) for mark in marks_of_host()), *FORMS]
    for kind, pattern in patterns:
        if match := next(filter(None, map(pattern.search, printed.output)), None):
            yield f"prints `{match[0]}`, {kind}"
