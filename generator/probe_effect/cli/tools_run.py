"""The documents of standard tools with the probes that their scripts have now."""

import subprocess
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from probe_effect.errors import BadData, HostNotReady, UsageError
from probe_effect.numbers.once import grouped_by
from probe_effect.scripts.script import ScriptProbe, read_script
from probe_effect.store.places import DataFolder
from probe_effect.store.tools_file import ToolPackage, ToolProbes, read_tools, tool_files, written

SUFFIX = ".bt"

ONCE = frozenset({"begin", "end"})
"""Kinds that fire at the start or the end of the tool, and never for an event."""


def renewed(data: DataFolder, scripts: Path | None, version: str | None) -> Iterator[tuple[Path, str]]:
    """Each file of `data/tools` with its text as it has to be.

    Args:
        data: the data folder.
        scripts: where the scripts lie; where the document says by default.
        version: of the package that they are of; the installed one by default.

    Raises: BadData for an unsound document; HostNotReady where a package is not installed; UsageError where the
        document and the folder have different tools.
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
    return tuple(_group(probes) for probes in groups.values())


def _group(probes: list[ScriptProbe]) -> ToolProbes:
    first = probes[0]
    return ToolProbes(
        attach=tuple(one.attach for one in probes),
        kind=first.kind,
        actions=first.actions,
        filter=first.has_filter,
        timing=first.timing,
        unknown=first.unknown,
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
