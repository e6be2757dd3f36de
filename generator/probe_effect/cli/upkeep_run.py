"""What `probe-effect tools` and `transcripts` do: documents of standard tools, and runs of the guide's commands."""

import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from probe_effect.cli import output
from probe_effect.errors import BadData, HostNotReady, UsageError
from probe_effect.guide import CommandOutput, faults, run, unmet, version
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.ownership import MAKE_OURS, demand
from probe_effect.machine import collect
from probe_effect.numbers.index import grouped_by
from probe_effect.scripts.script import read_script
from probe_effect.store.documents import write_document
from probe_effect.store.places import DataFolder, walk
from probe_effect.store.transcripts import (
    NO_COMMANDS,
    Recorded,
    ToolPackage,
    ToolProbes,
    Transcript,
    read_tools,
    read_transcripts,
    recorded_file,
    tool_files,
    written,
)
from probe_effect.submit.bundle import FORMS, marks_of_host

SUFFIX = ".bt"

ONCE = frozenset({"begin", "end"})
"""Kinds that fire at the start or the end of the tool, and never for an event."""


def renewed(data: DataFolder, scripts: Path | None, version: str | None) -> Iterator[tuple[Path, str]]:
    """Each file of `data/tools` with its text as it has to be, by the installed scripts or others of some version.

    Raises: BadData; HostNotReady where a package is not installed; UsageError where the folder has other tools.
    """
    for path in tool_files(data):
        package, problems = read_tools(path, data.relative(path))
        if package is None:
            raise BadData(problems)
        if package.scripts is not None:
            package = with_scripts(package, scripts or Path(package.scripts), version or installed_version(package))
        yield path, written(package)


def with_scripts(package: ToolPackage, folder: Path, version: str) -> ToolPackage:
    """The document with the probes of the scripts in `folder`. Raises: UsageError."""
    found = {path.name: path for path in sorted(folder.glob(f"*{SUFFIX}"))}
    described = {tool.name for tool in package.tools}
    if unlike := sorted(found.keys() ^ described):
        raise UsageError(
            f"{folder} and the document of {package.package} differ in {', '.join(unlike)}. Expected the same tools: "
            "add a [[tools]] with name, answers and event for a new one, remove one that is gone."
        )
    tools = tuple(
        tool.model_copy(update={"probes": probes_of(found[tool.name].read_text(encoding="utf-8"))})
        for tool in package.tools
    )
    return package.model_copy(update={"tools": tools, "version": version})


def probes_of(text: str) -> tuple[ToolProbes, ...]:
    """The probes of a script, in groups that do the same, in its order. Raises: ScriptError."""
    fired = (probe for probe in read_script(text).probes if probe.kind not in ONCE)
    groups = grouped_by(fired, attrgetter("kind", "actions", "has_filter", "timing", "unknown"))
    return tuple(
        ToolProbes(
            attach=tuple(one.attach for one in probes),
            kind=kind,
            actions=actions,
            filter=has_filter,
            timing=timing,
            unknown=unknown,
        )
        for (kind, actions, has_filter, timing, unknown), probes in groups.items()
    )


def installed_version(package: ToolPackage) -> str:
    """The version of Debian's package here. Raises: HostNotReady where it is not installed."""
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package.package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        done = None
    if done is None or done.returncode or not done.stdout:
        msg = f"{package.package}: not installed here. Install it, or give --scripts FOLDER and --version."
        raise HostNotReady(msg)
    return done.stdout


def run_all(data: DataFolder, ids: Sequence[str], *, write: bool) -> int:
    """Run some, or all: 0 where each could be shown, else 1. Raises: BadData, UsageError, HostNotReady."""
    mount_for_our_time()
    folder = data.root / "transcripts"  # of commands of a shell
    demand([folder, *walk(folder)] if folder.is_dir() else (), MAKE_OURS, data.root)
    shown, problems = read_transcripts(data)
    if problems:
        raise BadData(problems)
    found = {one.transcript.id: one.transcript for one in shown}
    if unknown := [one for one in ids if one not in found]:
        raise UsageError(f"{', '.join(unknown)}: no transcript. Expected some of {', '.join(found)}.")
    wanted = [found[one] for one in ids] if ids else list(found.values())
    failed = [one.id for place, one in enumerate(wanted, 1) if not _one(data, one, f"{place}/{len(wanted)}", write)]
    output.say(f"{len(wanted) - len(failed)} of {len(wanted)} {'recorded' if write else 'as they should be'}")
    return 1 if failed else 0


def _one(data: DataFolder, one: Transcript, place: str, write: bool) -> bool:  # noqa: FBT001
    if lacking := unmet(one):
        output.say(f"{place} {one.id}: cannot be run here, which lacks {', '.join(lacking)}")
        return False
    output.say(f"{place} {one.id}")
    printed = run(one)
    wrong = [*faults(one, printed), *_private(printed)]
    if write and not wrong:
        write_document(recorded_file(data, one.id), recorded(one, printed))
        return True
    output.product("\n".join((f"$ {one.run}", *printed.output)))
    for fault in wrong:
        output.say(f"{one.id}: {fault}")
    return not wrong


def recorded(one: Transcript, printed: CommandOutput) -> Recorded:
    """The record of an output that was made here and now."""
    return Recorded(
        id=one.id,
        run=one.run,
        beside=one.beside,
        output=printed.output,
        exit_status=printed.exit_status or 0,
        machine=collect.collect_machine().id,
        kernel=collect.collect_system(None).kernel_release,
        versions={need: found for need in one.needs if need not in NO_COMMANDS and (found := version(need))},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _private(printed: CommandOutput) -> Iterator[str]:
    """What would tell whose machine it is."""
    patterns = [*((f"this machine's {mark.kind}", mark.pattern()) for mark in marks_of_host()), *FORMS]
    for kind, pattern in patterns:
        if found := next(filter(None, map(pattern.search, printed.output)), None):
            yield f"prints `{found[0]}`, {kind}"
