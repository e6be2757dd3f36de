"""What an event executes more where it is traced: by function and by what functions are for; and two such paths."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from probe_effect.model import Key
from probe_effect.numbers.submission import Submission
from probe_effect.records import beside
from probe_effect.store.further_tables import Classes, EventPath, Stack, added, read_paths, summed
from probe_effect.store.places import SubmissionFolder

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
    return dict(sorted(sums.items(), key=lambda one: (-one[1].instructions, one[0])))


def plain(function: str) -> str:
    """A function's name as the source has it."""
    return CLONE.sub("", function)


_file = cache(partial(beside, __file__, "purposes"))


def purposes() -> dict[str, str]:
    """The purposes of functions, each with more words."""
    return {one["name"]: one["says"] for one in _file()["purpose"]} | {OTHER: "what belongs to none of these"}


@lru_cache(maxsize=4096)
def purpose_of(function: str) -> str:
    """The purpose of a function of the kernel; `OTHER` where the list does not say."""
    name = plain(function)
    patterns = ((one["name"], "|".join(one["functions"])) for one in _file()["purpose"])
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
    untraced = {one.key.level: one for one in events if one.key.is_baseline}
    pairs = (
        (one, untraced.get(one.key.level))
        for one in events
        if not one.key.is_baseline and abs(one.total.instructions - one.counted) <= MOST_APART_RATIO * one.counted
    )
    return {one.key: AddedPath(one, added(one, before)) for one, before in pairs if before}


def differences(before: AddedPath, after: AddedPath) -> dict[str, tuple[int, int]]:
    """The functions of which two events do not execute the same: instructions of each; the greatest differences first.

    A renamed one has its name before. One that a compiler put into its caller is missing, and the caller is longer.
    """
    old_names = {name: first for first, names in _file()["renamed"].items() for name in names}
    was, now = (_grouped(one.stacks, lambda name: old_names.get(plain(name), plain(name))) for one in (before, after))
    pairs = {name: tuple(its.get(name, Classes()).instructions for its in (was, now)) for name in was | now}
    changed = ((name, (first, second)) for name, (first, second) in pairs.items() if first != second)
    return dict(sorted(changed, key=lambda one: (-abs(one[1][1] - one[1][0]), one[0])))
