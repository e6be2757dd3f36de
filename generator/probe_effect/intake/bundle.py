"""The content of a pull request, and the texts in it that would tell who owns a machine.

The tool records none of it. This is the second look: a tracer's message in a note may hold a path, for one.
"""

import ipaddress
import os
import pwd
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from probe_effect.host import ROOT, read_text
from probe_effect.model import BadData, HostNotReady, ProbeEffectError, Problem, UsageError
from probe_effect.numbers.index import grouped_by
from probe_effect.records import beside
from probe_effect.store.documents import write_document
from probe_effect.store.machine_file import MachineFile, Submitter, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder

IN_REPOSITORY = "data/results"


@dataclass(frozen=True, slots=True)
class Item:
    """One submission that could be read."""

    submission: SubmissionFolder
    document: MachineFile
    is_changed: bool = False
    """Whether the document differs from the one on disk."""

    def files(self) -> list[Path]:
        return sorted(path for path in self.submission.folder.iterdir() if path.is_file())

    def target(self, path: Path) -> str:
        """The path in the repository of a file of the submission."""
        return f"{IN_REPOSITORY}/{self.submission.id}/{path.name}"

    @property
    def credit(self) -> str | None:
        return self.document.submitter.name

    def credited(self, name: str | None) -> "Item":
        """The item with `name` as its credit, in memory; None removes the credit."""
        if name == self.credit:
            return self
        submitter = Submitter(name=name, url=self.document.submitter.url if name else None)
        return Item(self.submission, self.document.model_copy(update={"submitter": submitter}), is_changed=True)

    def save(self) -> None:
        """Write the changed document. Raises: HostNotReady."""
        if self.is_changed:
            write_document(self.submission.machine_file, self.document)


@dataclass(frozen=True, slots=True)
class SubmissionBundle:
    """All submissions of one machine."""

    machine: str
    items: Sequence[Item]

    @property
    def branch(self) -> str:
        newest = max(item.document.run.started[:10] for item in self.items)
        return f"submit/{self.machine}-{newest}"

    def credited(self, name: str | None) -> "SubmissionBundle":
        """The bundle with `name` as the credit of each submission, in memory."""
        return SubmissionBundle(self.machine, [item.credited(name) for item in self.items])

    @property
    def title(self) -> str:
        """One line for the commit and the pull request; of ids only, so that nothing in it can mean anything."""
        suites = dict.fromkeys(item.document.run.suite for item in self.items)
        return f"Results of {self.machine}: {', '.join(suites)}"


def read_bundles(submissions: Iterable[SubmissionFolder], data: DataFolder) -> list[SubmissionBundle]:
    """A bundle for each machine, in the order of the folders. Raises: BadData, UsageError."""
    by_target: dict[str, Item] = {}
    for submission in submissions:
        document, problems = read_machine_file(submission.machine_file, data.relative(submission.machine_file))
        if document is None:
            raise BadData(problems)
        other = by_target.setdefault(submission.id, Item(submission, document))
        if other.submission.folder != submission.folder:
            taken = f"{other.submission.folder} in the repository, {submission.id}"
            raise UsageError(f"{submission.folder}: has the place of {taken}. Rename one.")
    machines = grouped_by(by_target.values(), lambda item: item.submission.machine)
    return [SubmissionBundle(name, items) for name, items in machines.items()]


def lay_out(items: Iterable[Item], root: Path) -> None:
    """Copy the files of `items` below `root`, laid out like the repository: outside a clone, to be sent by hand.

    Older files are replaced. Raises: ProbeEffectError when another run has the place of a submission;
        HostNotReady.
    """
    for item in items:
        rows = item.submission.samples
        there = root / item.target(rows)
        if there.exists() and there.read_bytes() != rows.read_bytes():
            msg = f"{there.parent}: holds another run than {rows.parent}. Remove that folder, or rename yours."
            raise ProbeEffectError(msg)
        for path in item.files():
            target = root / item.target(path)
            if target.exists() and target.samefile(path):
                continue
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            except OSError as error:
                message = f"{target}: cannot be written: {error.strerror}. Run this where you may write."
                raise HostNotReady(message) from error


KNOWN = beside(__file__)
SHORTEST: dict[str, int] = KNOWN["shortest"]

FORMS = (
    ("a hardware address", re.compile(r"(?<![0-9a-f:])[0-9a-f]{2}(:[0-9a-f]{2}){5}(?![0-9a-f:])", re.IGNORECASE)),
    ("the path of a home folder", re.compile(r"/(home|Users)/[^/\s\"']+")),
)
"""Forms of text that belong in no submission, with what each is."""

LOCAL = "/32 host LOCAL"
"""What the kernel writes below an address of its own."""

HINT = "put another word in its place; if it only happens to be the same word, say so with --allow WORD"


class Mark(NamedTuple):
    """A text that names this machine or its user, and what it is: `host name`."""

    kind: str
    text: str

    def pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w){re.escape(self.text)}(?!\w)", re.IGNORECASE)


def marks_of_host(root: Path = ROOT, environment: Mapping[str, str] | None = None) -> list[Mark]:
    """The texts that name this machine and its user, by the files below `root` and by variables, ours by default."""
    variables = os.environ if environment is None else environment
    hosts = [read_text(root, "proc/sys/kernel/hostname") or os.uname().nodename, read_text(root, "etc/hostname") or ""]
    users = [variables.get(name, "") for name in ("SUDO_USER", "DOAS_USER", "LOGNAME", "USER")]
    with suppress(KeyError):  # an id without an entry, as in containers
        users.append(pwd.getpwuid(os.getuid()).pw_name)
    serials = [(read_text(root, path) or "").strip("\0 ") for path in KNOWN["serials"]]
    serials += re.findall(r"^Serial\s*: (\w+)$", read_text(root, "proc/cpuinfo") or "", re.MULTILINE)
    by_kind = {
        "host name": [part for name in hosts for part in (name, name.partition(".")[0])],
        "user name": users,
        "home folder": [variables.get(name, "") for name in ("HOME", "XDG_CACHE_HOME")],
        "network address": _addresses(root),
        "serial number": serials,
    }
    marks = dict.fromkeys(Mark(kind, text) for kind, texts in by_kind.items() for text in texts)
    return [mark for mark in marks if _tells(mark)]


def find_private(
    items: Iterable[Item], marks: Sequence[Mark], allowed: Collection[str], data: DataFolder
) -> list[Problem]:
    """Every place in the files with one of `marks`, or with a form of text that belongs in no submission.

    A credit is given on purpose: its words are not looked for. Nor are the `allowed` ones.
    """
    problems: list[Problem] = []
    patterns = [*((f"this machine's {mark.kind}", mark.pattern()) for mark in marks), *FORMS]
    for item in items:
        given = " ".join(filter(None, (*allowed, item.document.submitter.name, item.document.submitter.url)))
        wanted = [(kind, pattern) for kind, pattern in patterns if not pattern.search(given)]
        for path in item.files():
            file, text = data.relative(path), path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.split("\n"), start=1):
                for kind, match in ((kind, pattern.search(line)) for kind, pattern in wanted):
                    if match:
                        message = f"holds `{match[0]}`, {kind}; expected nothing that tells whose machine it is"
                        problems.append(Problem("error", file, number, match.start() + 1, "private", message, HINT))
    return problems


def _addresses(root: Path) -> list[str]:
    """Internet and hardware addresses of this machine, except those that every machine has."""
    lines = (read_text(root, "proc/net/fib_trie") or "").splitlines()
    old = [ipaddress.ip_address(line.strip(" |-")) for line, after in pairwise(lines) if after.strip() == LOCAL]
    lines = (read_text(root, "proc/net/if_inet6") or "").splitlines()
    new = [ipaddress.IPv6Address(int(line.split()[0], 16)) for line in lines]
    own = [str(address) for address in (*old, *new) if not (address.is_loopback or address.is_unspecified)]
    cards = [
        read_text(root, f"{card.relative_to(root)}/address") or "" for card in sorted(root.glob("sys/class/net/*"))
    ]
    return [*own, *(address for address in cards if address.strip("0:"))]


def _tells(mark: Mark) -> bool:
    """Whether the text identifies this machine or user, and no others."""
    text = mark.text.strip().lower()
    if text in {"", "/", "/root", *KNOWN["says_nothing"]} or re.fullmatch(KNOWN["filled_by_nobody"], text):
        return False
    return len(text) >= SHORTEST.get(mark.kind, 1)
