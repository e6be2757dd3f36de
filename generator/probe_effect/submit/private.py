"""Texts that would tell who owns a machine, looked for in the files before they are published.

The tool records none of it. This is the second look: a tracer's message in a note may hold a path, for one.
"""

import ipaddress
import os
import pwd
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.model import Problem
from probe_effect.store.places import DataFolder
from probe_effect.submit.bundle import Item

RULE = "private"

SAYS_NOTHING = frozenset(
    "root admin administrator user guest nobody daemon test localhost localdomain local host home linux freebsd "
    "debian ubuntu fedora arch alpine vagrant runner pi ec2-user build builder bench benchmark".split()
)
"""Names of users and hosts that identify no one."""

FILLED_BY_NOBODY = re.compile(
    "none|unknown|default.string|n/?a|not.(specified|applicable|available|present)"
    "|to.be.filled.*|system.*number|[0x. -]+"
)
SHORTEST = {"user name": 3, "host name": 3, "serial number": 5}

SERIALS = (
    *(f"sys/class/dmi/id/{name}_serial" for name in ("product", "board", "chassis")),
    "sys/class/dmi/id/product_uuid",
    "proc/device-tree/serial-number",
    "etc/machine-id",
)

HARDWARE_ADDRESS = re.compile(r"(?<![0-9a-f:])[0-9a-f]{2}(:[0-9a-f]{2}){5}(?![0-9a-f:])", re.IGNORECASE)
HOME_FOLDER = re.compile(r"/(home|Users)/[^/\s\"']+")
FORMS = (("a hardware address", HARDWARE_ADDRESS), ("the path of a home folder", HOME_FOLDER))
"""Forms of text that belong in no submission, with what each is."""


HINT = "put another word in its place; if it only happens to be the same word, say so with --allow WORD"


@dataclass(frozen=True, slots=True)
class Mark:
    """A text that names this machine or its user, and what it is: `host name`."""

    kind: str
    text: str

    def pattern(self) -> re.Pattern[str]:
        """The pattern that finds the text as a separate word."""
        return re.compile(rf"(?<!\w){re.escape(self.text)}(?!\w)", re.IGNORECASE)


def marks_of_host(root: Path = ROOT, environment: Mapping[str, str] | None = None) -> list[Mark]:
    """The texts that name this machine and its user, by the files below `root` and by variables, ours by default."""
    variables = os.environ if environment is None else environment
    homes = (variables[name] for name in ("HOME", "XDG_CACHE_HOME") if variables.get(name))
    found = [
        *(Mark("host name", text) for text in _host_names(root)),
        *(Mark("user name", text) for text in _user_names(variables)),
        *(Mark("home folder", text) for text in homes),
        *(Mark("network address", text) for text in _addresses(root)),
        *(Mark("serial number", text) for text in _serials(root)),
    ]
    return [mark for mark in dict.fromkeys(found) if _tells(mark)]


def find_private(
    items: Iterable[Item], marks: Sequence[Mark], allowed: Collection[str], data: DataFolder
) -> list[Problem]:
    """Every place in the files with one of `marks`, or with a form of text that belongs in no submission.

    A credit is given on purpose: its words are not looked for. Nor are the `allowed` ones.
    """
    problems: list[Problem] = []
    for item in items:
        given = " ".join(filter(None, (*allowed, item.document.submitter.name, item.document.submitter.url)))
        patterns = [(f"this machine's {mark.kind}", mark.pattern()) for mark in marks]
        wanted = [(kind, pattern) for kind, pattern in (*patterns, *FORMS) if not pattern.search(given)]
        for path in item.files():
            problems += _in_file(path, wanted, data.relative(path))
    return problems


def _in_file(path: Path, wanted: Sequence[tuple[str, re.Pattern[str]]], file: str) -> Iterator[Problem]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
        for kind, pattern in wanted:
            if found := pattern.search(line):
                message = f"holds `{found[0]}`, {kind}; expected nothing that tells whose machine it is"
                yield Problem("error", file, number, found.start() + 1, RULE, message, HINT)


def _host_names(root: Path) -> Iterator[str]:
    for name in (read_text(root, "proc/sys/kernel/hostname") or os.uname().nodename, read_text(root, "etc/hostname")):
        if name:
            yield from (name, name.partition(".")[0])


def _user_names(variables: Mapping[str, str]) -> Iterator[str]:
    yield from (variables[name] for name in ("SUDO_USER", "DOAS_USER", "LOGNAME", "USER") if variables.get(name))
    try:
        yield pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # an id without an entry, as in containers
        return


def _addresses(root: Path) -> Iterator[str]:
    """Hardware and internet addresses of this machine, except those that every machine has."""
    lines = (read_text(root, "proc/net/fib_trie") or "").splitlines()
    for line, after in pairwise(lines):
        if after.strip() == "/32 host LOCAL":
            yield from _shown(line.strip(" |-"))
    for line in (read_text(root, "proc/net/if_inet6") or "").splitlines():
        yield from _shown(str(ipaddress.IPv6Address(int(line.split()[0], 16))))
    for card in sorted((root / "sys/class/net").glob("*")):
        address = read_text(root, f"sys/class/net/{card.name}/address")
        if address and address.strip("0:"):
            yield address


def _shown(text: str) -> Iterator[str]:
    address = ipaddress.ip_address(text)
    if not (address.is_loopback or address.is_unspecified):
        yield str(address)


def _serials(root: Path) -> Iterator[str]:
    for path in SERIALS:
        if text := read_text(root, path):
            yield text.strip("\0 ")
    if found := re.search(r"^Serial\s*: (\w+)$", read_text(root, "proc/cpuinfo") or "", re.MULTILINE):
        yield found[1]


def _tells(mark: Mark) -> bool:
    """Whether the text identifies this machine or user, and no others."""
    text = mark.text.strip().lower()
    if text in SAYS_NOTHING or text in {"", "/", "/root"} or FILLED_BY_NOBODY.fullmatch(text):
        return False
    return len(text) >= SHORTEST.get(mark.kind, 1)
