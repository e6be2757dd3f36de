"""Whose a file is: what we run, and what root writes, no other user may have made or may replace.

A path is ours if root, the caller or the user of sudo(8) owns each part of it, and no other user may write one.
git asks the same of a repository that it finds (CVE-2022-24765).
"""

import grp
import os
import pwd
import stat
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from probe_effect.host import ROOT
from probe_effect.model import HostNotReady, UsageError

PROGRAM_FILE = Path(__file__).resolve()
PROGRAM = PROGRAM_FILE.parents[3]
"""The checkout, or the folder of libraries, that this program runs from: who may write there has us already."""

MAKE_OURS = "if you mean it, make it yours with chown and chmod"
MOST_LINKS = 40  # as many as the kernel follows (MAXSYMLINKS of include/linux/namei.h)


def sudo_user() -> tuple[int, int] | None:
    """User and group who called sudo(8); None without it."""
    ids = [os.environ.get(name, "") for name in ("SUDO_UID", "SUDO_GID")]
    if os.geteuid() != 0 or not all(number.isdecimal() for number in ids):
        return None
    user, group = map(int, ids)
    return user, group


def our_users() -> set[int]:
    """The users whose files are ours: we, and who called sudo(8)."""
    return {os.geteuid(), os.getuid(), *(sudo_user() or ())[:1]}


@cache
def _authors() -> frozenset[int]:
    """Who owns a folder on the way to our own code, and so has us already.

    That may be the user of a checkout, or of a runner whose folder a container has mounted. In a user namespace it is
    nobody (65534), as whom root is seen there.
    """
    return frozenset(folder.stat().st_uid for folder in PROGRAM_FILE.parents)


def stranger(path: Path, below: Path | None = None, links: int = MOST_LINKS) -> str | None:
    """The first part of a path that somebody else owns or may write, in words; None if the path is ours.

    `below`: a folder of the path that the user named, or that was looked at before. Its owner is trusted with what is
    in it, and only the parts below it are looked at.
    """
    path = path.absolute()
    start = below.absolute() if below and below.is_dir() else PROGRAM if path.is_relative_to(PROGRAM) else ROOT
    first = start.stat()
    trusted = {0, first.st_uid, *our_users(), *_authors()}
    at, waiting = start, deque(path.relative_to(start).parts)
    while waiting:
        name = waiting.popleft()
        at = at.parent if name == ".." else at / name
        if not at.is_relative_to(start):
            return stranger(at.joinpath(*waiting), None, links)
        try:
            status = at.lstat()
        except OSError:  # not there, or closed to us: then nothing can be run
            return None
        if why := _fault(status, first, trusted, is_last=not waiting):
            return f"{at} {why}"
        if stat.S_ISLNK(status.st_mode):
            if not links:
                return f"{at} is one of more than {MOST_LINKS} links"
            links, target, at = links - 1, at.readlink(), at.parent
            if target.is_absolute():
                inside = below if below and target.is_relative_to(below.absolute()) else None
                return stranger(target.joinpath(*waiting), inside, links)
            waiting.extendleft(reversed(target.parts))
    return None


def _fault(status: os.stat_result, first: os.stat_result, trusted: set[int], *, is_last: bool) -> str | None:
    """Who else owns or may write a part of a path; None for nobody. `first`: of the folder from which one looks."""
    if status.st_uid not in trusted:
        return f"belongs to {_name(status.st_uid)}"
    writers = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if stat.S_ISLNK(status.st_mode) or (is_sticky and not is_last):  # there each user replaces only his own
        return None
    if not first.st_mode & stat.S_ISVTX:  # whoever may write the first folder is trusted below it
        writers &= ~(first.st_mode & stat.S_IWOTH)
        writers &= ~(first.st_mode & stat.S_IWGRP) if first.st_gid == status.st_gid else -1
    if writers & stat.S_IWOTH:
        return "may be written by everybody"
    if writers & stat.S_IWGRP and not _is_private(status.st_gid, trusted):
        group = str(status.st_gid)
        with suppress(KeyError):
            group = grp.getgrgid(status.st_gid).gr_name
        return f"may be written by the group {group}"
    return None


def _is_private(group: int, trusted: set[int]) -> bool:
    """Whether a group has no other users than these: root's, or one that has the name of its only user."""
    with suppress(KeyError):
        entry = grp.getgrgid(group)
        users = {pwd.getpwuid(user) for user in trusted if _name(user) != str(user)}
        names = {user.pw_name for user in users}
        own = {user.pw_name for user in users if user.pw_gid == group}
        return (group == 0 or entry.gr_name in own) and set(entry.gr_mem) <= names
    return False


def _name(user: int) -> str:
    with suppress(KeyError):
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    return str(user)


def demand_owner(folder: Path) -> None:
    """Raise HostNotReady for root in another user's folder: what root makes there, its owner cannot change or remove.

    What git does for root in a user's clone leaves objects and branches of root's.
    """
    owner = folder.stat().st_uid
    if os.geteuid() == 0 != owner:
        msg = f"{folder}: belongs to {_name(owner)}, and would hold files of root's afterwards"
        raise HostNotReady(f"{msg}; do it as that user, without sudo: it needs no root")


def demand(paths: Iterable[Path], so: str, below: Path | None = None) -> None:
    """Raise UsageError for the first of the paths that is not ours; `so` says how the user says that he means it."""
    for path in paths:
        if fault := stranger(path, below):
            owner = f" (of {_name(path.lstat().st_uid)})" if path.exists() else ""
            ours = " and ".join(dict.fromkeys(("root", _name(os.getuid()).partition(" ")[0])))
            msg = f"{path}{owner}: {fault}, so that another user may decide what runs here"
            raise UsageError(f"{msg}; expected that only {ours} may write it; {so}")
