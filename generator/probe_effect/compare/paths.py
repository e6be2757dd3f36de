"""What an event executes more where it is traced: by function and by what functions are for; and two such paths."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from probe_effect import toml
from probe_effect.model import Key
from probe_effect.numbers.submission import Submission
from probe_effect.store.further_tables import Classes, EventPath, Stack, added, read_paths, summed
from probe_effect.store.places import SubmissionFolder

OTHER = "other"

MOST_APART_RATIO = 0.1
"""By how much the commonest event may differ from the mean one of its run: beyond, events are of several kinds."""

CLONE = re.compile(r"\.(isra|constprop|part|cold|llvm|lto_priv)\b.*")
"""What compilers add to the name of a function of which they make another one."""


@dataclass(frozen=True)
class AddedPath:
    """What an event of `traced` executes more than one of the untraced loop of the same run, by stack."""

    traced: EventPath
    stacks: Mapping[Stack, Classes]

    @property
    def total(self) -> Classes:
        """The sum of all functions."""
        return summed(self.stacks.values())

    def by_function(self) -> dict[str, Classes]:
        """The sum of each function over all that call it, without what a compiler adds to its name; most first."""
        return _grouped(self.stacks, plain)

    def by_purpose(self) -> dict[str, Classes]:
        """The sum of all functions of one purpose; most first."""
        return _grouped(self.stacks, purpose_of)


def _grouped(stacks: Mapping[Stack, Classes], name_of: Callable[[str], str]) -> dict[str, Classes]:
    found: dict[str, Classes] = {}
    for stack, classes in stacks.items():
        name = name_of(stack[-1])
        found[name] = found.get(name, Classes()).plus(classes)
    return dict(sorted(found.items(), key=lambda one: (-one[1].instructions, one[0])))


def plain(function: str) -> str:
    """A function's name as the source has it."""
    return CLONE.sub("", function)


@cache
def purposes() -> dict[str, str]:
    """What functions are for, and that in more words."""
    return {name: says for name, says, _ in _purposes()} | {OTHER: "what belongs to none of these"}


@cache
def _purposes() -> list[tuple[str, str, re.Pattern[str]]]:
    file = toml.beside(__file__, "purposes")
    return [(one["name"], one["says"], re.compile("|".join(one["functions"]))) for one in file["purpose"]]


@lru_cache(maxsize=4096)
def purpose_of(function: str) -> str:
    """What a function of the kernel is for; `OTHER` where the list does not say."""
    name = plain(function)
    return next((purpose for purpose, _, pattern in _purposes() if pattern.fullmatch(name)), OTHER)


def paths_of(submission: Submission) -> Mapping[Key, AddedPath]:
    """What the events of a count execute more, for each key that was recorded; empty where nothing was.

    A key is missing of which no event is like most: a record that is written or dropped, as room is there or not.
    """
    return _paths_of(submission.files, submission.digest)


@lru_cache(maxsize=512)
def _paths_of(files: SubmissionFolder, digest: str | None) -> Mapping[Key, AddedPath]:
    del digest  # it is of the files' content, which may change while we run
    events, _ = read_paths(files.paths, str(files.paths))
    untraced = {one.key.level: one for one in events if one.key.is_baseline}
    pairs = (
        (one, untraced.get(one.key.level))
        for one in events
        if not one.key.is_baseline and abs(one.total.instructions - one.counted) <= MOST_APART_RATIO * one.counted
    )
    return {one.key: AddedPath(one, added(one, before)) for one, before in pairs if before}


@cache
def _names() -> dict[str, str]:
    """What a release renamed, to the name before."""
    file = toml.beside(__file__, "purposes")
    return {name: first for first, names in file["renamed"].items() for name in names}


def differences(before: AddedPath, after: AddedPath) -> dict[str, tuple[int, int]]:
    """The functions of which two events do not execute the same: instructions of each; the greatest differences first.

    A renamed one has its name before. One that a compiler put into its caller is missing, and the caller is longer.
    """
    was, now = (_grouped(one.stacks, lambda name: _names().get(plain(name), plain(name))) for one in (before, after))
    nothing = Classes()
    pairs = {
        name: (was.get(name, nothing).instructions, now.get(name, nothing).instructions) for name in {**was, **now}
    }
    found = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    return dict(sorted(found.items(), key=lambda one: (-abs(one[1][1] - one[1][0]), one[0])))
