"""Facts that are not code: the TOML file beside a module, and the records that all packages read from such files.

Nothing is started or looked for here: of each tool that is measured as a tracer, and of each condition of a machine
that changes its times, this is what is known before.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple


def beside(module: str, name: str | None = None) -> Any:  # noqa: ANN401 (whatever the file has)
    """The tables of the file with the name of a module, which is given as its `__file__`, or with another `name`."""
    path = Path(module)
    return tomllib.loads(path.with_name(f"{name or path.stem}.toml").read_text(encoding="utf-8"))


class Package(NamedTuple):
    """A package, and what shows that it is installed: a program, or a file below the root (with `*`)."""

    debian: str
    program: str = ""
    file: str = ""
    ubuntu: str = ""  # its name in Ubuntu, where that differs


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingTool:
    """One tool. Its versions have ids of their own: `bpftrace-0-23-2` is a tracer of the tool `bpftrace`.

    Attributes:
        name: its id in the data.
        ending: of its scripts in the suites.
        tracer: module of `tracers/` and class that measure with it.
        options: keyword arguments of that class.
        program: its command.
        look: its series (colour) and its form in charts, as in `site/charts/theme.py`; a family shares a colour.
        language: of the command lines and programs that `scripts/` reads for it; None where it reads none.
        commands: such command lines, each as far as its subcommand.
        own_actions: what it does at each event anyway, so that the cost of its plain probe includes it.
        enters_kernel: whether its probes in user programs enter the kernel at an event.
        stands_for: the interface of the kernel of whose probes the cost of its plain probe is taken.
        is_lower_bound: whether it does nothing but what a probe asks for.
        packages: what brings it, by the names of Debian and Ubuntu.
        guest_packages: what brings it in an emulated machine, of its release of Debian; None where it cannot run there.
        spoils: whether it leaves the kernel slower until the next boot, so that nothing else is measured before that.
        stops_at_events: whether it stops the program at each event and looks, which takes it two switches of process.
        followed: whether each of its versions in Debian is counted, or it is counted once on each kernel.
    """

    name: str
    ending: str
    tracer: str
    look: tuple[int, int]
    program: str
    options: Mapping[str, Any]
    language: str | None = None
    commands: tuple[str, ...] = ()
    own_actions: tuple[str, ...] = ()
    enters_kernel: bool = True
    stands_for: Literal["bpf", "ftrace"] | None = None
    is_lower_bound: bool = False
    packages: tuple[Package, ...] = ()
    guest_packages: tuple[str, ...] | None = None
    spoils: bool = False
    stops_at_events: bool = False
    followed: Literal["version", "kernel"] | None = None


def _records() -> dict[str, TracingTool]:
    """Name to record, in the order of the file. Raises: TypeError for a key that no record has, or lacks."""
    whole, records = beside(__file__, "tools"), {}
    for name, own in whole["tool"].items():
        family = whole["family"].get(own.pop("family", None), {})
        keys: dict[str, Any] = {"name": name, "program": name, "options": {}} | family | own
        keys["packages"] = [Package(**package) for package in keys.get("packages", ())]
        keys |= {key: tuple(value) for key, value in keys.items() if isinstance(value, list)}
        records[name] = TracingTool(**keys)
    return records


TOOLS = _records()  # every tool by its name, in the order in which they are offered and shown


def known_tool(tracer: str) -> TracingTool | None:
    """The tool of a tracer's id, whatever version follows it: `bpftrace` of `bpftrace-git`; None of an unknown id."""
    names = (name for name in TOOLS if f"{tracer}-".startswith(f"{name}-"))
    return TOOLS.get(max(names, key=len, default=""))


def plain_tools(interface: str) -> tuple[str, ...]:
    """The tools whose plain probe costs what any probe of a kernel's interface costs; that which does least first."""
    some = [tool for tool in TOOLS.values() if tool.stands_for == interface]
    return tuple(tool.name for tool in sorted(some, key=lambda tool: not tool.is_lower_bound))


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a machine can do to its times; braces in its texts are for what was found of it.

    Attributes:
        seen: where it is found.
        file, shows: where that is one file with a setting, which file, and the pattern that it then has.
        found: what it is.
        why: why it matters.
        advice: what to do.
        measure: what `measure` does where it holds: it begins nothing, or says so and goes on, or only records it.
        fault: why the numbers of a submission that recorded it lead nothing; empty where they may.
    """

    seen: str = ""
    file: str = ""
    shows: str = ""
    found: str
    why: str
    advice: str
    measure: Literal["refuses", "says", "records"] = "records"
    fault: str = ""


CONDITIONS = {name: Condition(**condition) for name, condition in beside(__file__, "conditions").items()}
"""Each by its id, which is in `run.warnings` of a submission."""


def faults_of(recorded: Iterable[str]) -> tuple[str, ...]:
    """Why the numbers of a submission that recorded these conditions lead nothing; empty where they may."""
    return tuple(CONDITIONS[name].fault for name in recorded if name in CONDITIONS and CONDITIONS[name].fault)
