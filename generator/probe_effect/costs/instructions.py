"""How the probes of a measured case fired, what an event executes more for them, and of which classes that is.

On a user function the first instruction decides how a probe fires, in the kernel what was recorded. What decides, with
where that was read, is in `first_instruction.toml`.

A count says how many instructions an event adds, and a path which (`store/result_tables.py`): by function, by what
functions are for (`purposes.toml`), and by class. The page /method/estimates/ says what a count has that has no path.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import PLAIN_ACTION
from probe_effect.model import NOP10_CALLED_SINCE, Key, series_of
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import release_distance
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import beside
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.result_tables import Classes, EventPath, Stack, added, read_paths, summed
from probe_effect.store.suite_file import Case

Mechanism = Literal["emulated", "stepped", "called"]
_FACTS = beside(__file__, "first_instruction")
_X86, _ARM64 = _FACTS["x86"], _FACTS["arm64"]
_SINCE = {what: tuple(release) for what, release in _FACTS["since"].items()}
_NOPS, _NOPS_OF_5 = (tuple(map(bytes.fromhex, _X86[name])) for name in ("nops", "nops_of_5"))
_NOP_OF_10, _PREFIXES, _REFUSED_PREFIXES, _REFUSED = (
    bytes.fromhex(_X86[name]) for name in ("nop_of_10", "prefixes", "refused_prefixes", "refused")
)


def mechanism(first_bytes: str, architecture: str, kernel_release: str) -> Mechanism | None:
    """How the kernel carries out the instruction under a uprobe, with which the bytes begin; `uname` names the rest.

    `emulated` by the kernel within the one exception; `stepped` as a copy elsewhere, with a second exception; `called`
    without any, the instruction having become a call. None where nothing is known of the architecture, where the text
    is no hexadecimal digits or too few, and where the kernel refuses to probe such an instruction.
    """
    decoder = {"x86_64": _x86, "amd64": _x86, "aarch64": _arm64, "arm64": _arm64}.get(architecture)
    try:
        code = bytes.fromhex(first_bytes)
    except ValueError:
        return None
    return decoder(code, series_of(kernel_release)) if decoder else None


def _x86(code: bytes, kernel: tuple[int, int]) -> Mechanism | None:
    is_nop5 = len(code) >= 5 and code.startswith(_NOPS_OF_5)
    is_nop10 = len(code) >= 10 and code.startswith(_NOP_OF_10)
    if (is_nop5 and _SINCE["called"] <= kernel < NOP10_CALLED_SINCE) or (is_nop10 and kernel >= NOP10_CALLED_SINCE):
        return "called"
    if code.startswith(_NOPS) or (is_nop5 and kernel >= NOP10_CALLED_SINCE):
        return "emulated" if kernel >= _SINCE["nops"] else "stepped"
    prefixes = code[: len(code) - len(code.lstrip(_PREFIXES))]
    code = code.lstrip(b"\xf2\xf3")  # `prefix* + nop`, and branches with a prefix that they do not heed
    if not code or set(prefixes) & set(_REFUSED_PREFIXES) or code[0] in _REFUSED:
        return None
    # Whether a 64-bit register is pushed, with `41` before it for one of the newer eight.
    opcode = code[1] if code[0] == 0x41 and len(code) > 1 else code[0]
    if 0x50 <= opcode <= 0x57:
        return "emulated" if kernel >= _SINCE["push"] else "stepped"
    if code[0] == 0x0F and len(code) < 2:
        return None
    is_nop = code[0] == 0x90 and (0xF3 not in prefixes or kernel < _SINCE["pause"])
    is_near = code[0] == 0x0F and 0x80 <= code[1] <= 0x8F
    is_branch = is_near or code[0] in {0xE8, 0xE9, 0xEB} or 0x70 <= code[0] <= 0x7F  # relative, or conditional
    return "emulated" if is_nop or is_branch else "stepped"


def _arm64(code: bytes, kernel: tuple[int, int]) -> Mechanism | None:
    if len(code) < 4:
        return None
    instruction = int.from_bytes(code[:4], "little")
    if instruction == _ARM64["nop"]:
        return "emulated" if kernel >= _SINCE["arm64_nop"] else "stepped"
    if _is_one(instruction, _ARM64["simulated"]):
        return "emulated"
    if _is_one(instruction, [_ARM64["hint"]]):
        return "stepped" if instruction >> 5 & 0x7F in _ARM64["stepped_hints"] else None
    return None if _is_one(instruction, _ARM64["refused"]) else "stepped"


def _is_one(instruction: int, patterns: Sequence[tuple[int, int]]) -> bool:
    return any(instruction & mask == value for mask, value in patterns)


def on_nop(measured: Number) -> Mechanism | None:
    """How a static user probe fires where something was measured: on the plain nop that `sys/sdt.h` leaves."""
    architecture = measured.submission.architecture
    nop = {"x86_64": "90", "aarch64": "1f 20 03 d5"}.get(architecture, "")
    return mechanism(nop, architecture, measured.submission.document.system.kernel_release)


def writes_red_zone(how: str | None, kernel_release: str) -> bool:
    """Whether a probe that fires so writes below the stack pointer, where a function may keep data."""
    return how == "called" and series_of(kernel_release) < NOP10_CALLED_SINCE


def mechanism_of(case: Case, measured: Number) -> str | None:
    """How the probes of a case fired where it was measured: on a user function, or as kprobes; None where not known."""
    document = measured.submission.document
    kprobes = document.run.mechanisms.get(f"{case.id} {measured.tracer}")
    if kprobes is not None or "uprobe" not in case.needs:
        return kprobes
    if case.probe.startswith("usdt"):
        return on_nop(measured)
    first = next((document.run.functions.get(function, "") for function in case.functions), "")
    return mechanism(first, measured.submission.architecture, document.system.kernel_release)


def is_in_red_zone(case: Case | None, measured: Number) -> bool:
    """Whether the probes of a case wrote below the stack pointer where it was measured."""
    release = measured.submission.document.system.kernel_release
    return case is not None and writes_red_zone(mechanism_of(case, measured), release)


OTHER = "other"

# By how much the commonest event may differ from the mean one of its run: beyond, events are of several kinds.
MOST_APART_RATIO = 0.1
# What compilers add to the name of a function of which they make another one.
CLONE = re.compile(r"\.(isra|constprop|part|cold|llvm|lto_priv)\b.*")


@dataclass(frozen=True)
class AddedPath:
    """What an event of `traced` executes more than one of the untraced loop of the same run, by stack."""

    traced: EventPath
    stacks: Mapping[Stack, Classes]

    @property
    def total(self) -> Classes:
        return summed(self.stacks.values())

    def by_function(self) -> dict[str, Classes]:
        """The sum of each function over all that call it, without what a compiler adds to its name; most first."""
        return _grouped(self.stacks, plain)

    def by_purpose(self) -> dict[str, Classes]:
        """The sum of all functions of one purpose; most first."""
        return _grouped(self.stacks, purpose_of)


def _grouped(stacks: Mapping[Stack, Classes], name_of: Callable[[str], str]) -> dict[str, Classes]:
    sums: dict[str, Classes] = {}
    for stack, classes in stacks.items():
        name = name_of(stack[-1])
        sums[name] = sums.get(name, Classes()).plus(classes)
    return dict(sorted(sums.items(), key=lambda entry: (-entry[1].instructions, entry[0])))


def plain(function: str) -> str:
    """A function's name as the source has it."""
    return CLONE.sub("", function)


_file = cache(partial(beside, __file__, "purposes"))


def purposes() -> dict[str, str]:
    """The purposes of functions, each with more words."""
    return {entry["name"]: entry["says"] for entry in _file()["purpose"]} | {OTHER: "what belongs to none of these"}


@lru_cache(maxsize=4096)
def purpose_of(function: str) -> str:
    """The purpose of a function of the kernel; `OTHER` where the list does not say."""
    name = plain(function)
    patterns = ((entry["name"], "|".join(entry["functions"])) for entry in _file()["purpose"])
    return next((purpose for purpose, pattern in patterns if re.fullmatch(pattern, name)), OTHER)


def paths_of(submission: Submission) -> Mapping[Key, AddedPath]:
    """The added path of an event, for each key that was recorded; empty where nothing was.

    A key is missing of which no event is like most: a record that is written or dropped, as room is there or not.
    """
    return _paths_of(submission.files, submission.digest)


@lru_cache(maxsize=512)
def _paths_of(files: SubmissionFolder, digest: str | None) -> Mapping[Key, AddedPath]:
    del digest  # it is of the files' content, which may change while we run
    events, _ = read_paths(files.paths, str(files.paths))
    untraced = {event.key.level: event for event in events if event.key.is_baseline}
    pairs = (
        (event, untraced.get(event.key.level))
        for event in events
        if not event.key.is_baseline
        and abs(event.total.instructions - event.counted) <= MOST_APART_RATIO * event.counted
    )
    return {event.key: AddedPath(event, added(event, before)) for event, before in pairs if before}


def differences(before: AddedPath, after: AddedPath) -> dict[str, tuple[int, int]]:
    """The functions of which two events do not execute the same: instructions of each; the greatest differences first.

    A renamed one has its name before. One that a compiler put into its caller is missing, and the caller is longer.
    """
    old_names = {name: first for first, names in _file()["renamed"].items() for name in names}
    was, now = (_grouped(path.stacks, lambda name: old_names.get(plain(name), plain(name))) for path in (before, after))
    pairs = {name: tuple(its.get(name, Classes()).instructions for its in (was, now)) for name in was | now}
    changed = ((name, (first, second)) for name, (first, second) in pairs.items() if first != second)
    return dict(sorted(changed, key=lambda change: (-abs(change[1][1] - change[1][0]), change[0])))


Array = NDArray[np.float64]

EXCEPTIONS = {"emulated": (1, 0), "stepped": (1, 1), "trap": (1, 0), "called": (0, 0), "ftrace": (0, 0), "jump": (0, 0)}
"""What the kernel does at a probe, to the breakpoints and the single steps of an event; no probe but these has any."""


class RecordedClasses(NamedTuple):
    """The classes of what a probe with an action adds; `traps` are those beside the exceptions of the probe."""

    architecture: str
    kernel: str
    tool: str
    probe: str
    action: str
    classes: Sequence[float]


def exceptions_of(case: Case, number: Number, mechanism: str | None = None) -> tuple[int, int]:
    """The breakpoints and single steps of an event, or of one whose probe is made by another mechanism."""
    made = mechanism_of(case, number)
    return EXCEPTIONS.get((mechanism if made else None) or made or "", (0, 0))


def recorded(evidence: Evidence) -> Iterator[RecordedClasses]:
    """Everything that was recorded of counts on the architectures of machines with costs."""
    for number in (number for case in evidence.case_of for number in evidence.counts_of(case)):
        case, own = evidence.case_of[number.case], number.submission
        path = paths_of(own).get(Key(number.case, number.tracer, None))
        if path is not None and path.total.instructions > 0:
            classes = path.total._replace(traps=max(0, path.total.traps - sum(exceptions_of(case, number))))
            kernel, tool = own.document.system.kernel_release, tool_of(number.tracer)
            yield RecordedClasses(own.architecture, kernel, tool, case.probe, case.action, classes)


def classes_of(records: Iterable[RecordedClasses], case: Case, number: Number) -> Array:
    """How many instructions of each class an event has, in the order of `Classes`: as many in all as were counted.

    An event of a recorded run may be several, such as both system calls of the loop, so a path is scaled to the count.
    Where an action is of more instructions than the probe and what was recorded of it, the rest are plain ones: they
    copy, compare and hash.
    """
    near = [record for record in records if record.architecture == number.submission.architecture]
    counted = number.known_cost.value
    own, plain = (_nearest(near, number, case.probe, action) for action in (case.action, PLAIN_ACTION))
    if own is not None or plain is None:
        whole = _total(near) if own is None else own
        return whole * (counted / float(whole[0]))
    kprobe, acting = (_nearest(near, number, "kprobe", action) for action in (PLAIN_ACTION, case.action))
    action = np.maximum(acting - kprobe, 0) if acting is not None and kprobe is not None else np.zeros_like(plain)
    made = plain * min(1.0, max(0.0, counted - float(action[0])) / float(plain[0])) + action
    made[0] = counted
    return made


def _nearest(near: Iterable[RecordedClasses], number: Number, probe: str, action: str) -> Array | None:
    """On the nearest kernel, and there with the same tool rather than another."""
    release, tool = number.submission.document.system.kernel_release, tool_of(number.tracer)
    same = (record for record in near if (record.probe, record.action) == (probe, action))
    first = min(same, key=lambda record: (release_distance(release, record.kernel), record.tool != tool), default=None)
    return None if first is None else np.array(first.classes, dtype=float)


def _total(some: Iterable[RecordedClasses]) -> Array:
    """The instructions of all together by class, without exceptions; one plain one where nothing was recorded."""
    total = np.sum([record.classes for record in some] or [Classes(1)], axis=0)
    return np.array(Classes(*total)._replace(traps=0), dtype=float)
