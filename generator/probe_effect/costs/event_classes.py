"""Of which classes the instructions of an event are: by the recorded path of its kind of probe, or of others.

A count says how many instructions an event adds, and a path which (`store/event_paths.py`). METHOD.md, "From counts to
time", says what a count has that has no path.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.compare.paths import paths_of
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.first_instruction import mechanism_of
from probe_effect.costs.row import PLAIN_ACTION
from probe_effect.model import Key
from probe_effect.numbers.likeness import release_distance
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number
from probe_effect.store.event_paths import Classes
from probe_effect.store.suite_file import Case

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


def recorded(found: Evidence) -> Iterator[RecordedClasses]:
    """Everything that was recorded of counts on the architectures of machines with costs."""
    for one in (one for counts in found.counts.values() for one in counts):
        case, own = found.case_of[one.case], one.submission
        path = paths_of(own).get(Key(one.case, one.tracer, None))
        if path is not None and path.total.instructions > 0:
            classes = path.total._replace(traps=max(0, path.total.traps - sum(exceptions_of(case, one))))
            kernel, tool = own.document.system.kernel_release, tool_of(one.tracer)
            yield RecordedClasses(own.architecture, kernel, tool, case.probe, case.action, classes)


def classes_of(known: Iterable[RecordedClasses], case: Case, number: Number) -> Array:
    """How many instructions of each class an event has, in the order of `Classes`: as many in all as were counted.

    An event of a recorded run may be several, such as both system calls of the loop, so a path is scaled to the count.
    Where an action is of more instructions than the probe and what was recorded of it, the rest are plain ones: they
    copy, compare and hash.
    """
    near = [one for one in known if one.architecture == number.submission.architecture]
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
    same = (one for one in near if (one.probe, one.action) == (probe, action))
    first = min(same, key=lambda one: (release_distance(release, one.kernel), one.tool != tool), default=None)
    return None if first is None else np.array(first.classes, dtype=float)


def _total(some: Iterable[RecordedClasses]) -> Array:
    """Of all together, without exceptions; a plain instruction where nothing was recorded."""
    total = np.sum([one.classes for one in some] or [Classes(1)], axis=0)
    return np.array(Classes(*total)._replace(traps=0), dtype=float)
