"""The ids of machines, which are the names of their folders and pages, and say nothing of who owns a machine.

The same hardware and kernel give the same id; all hosted runners of one image and one CPU have one id together.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from probe_effect.store.machine_file import HOSTED, Author, Machine, System, canonical_architecture

NOISE = re.compile(r"\((r|tm|c)\)|\b(cpu|processor|\d+-core)\b|@.*|with .* graphics", re.IGNORECASE)
"""Words in a CPU's name that distinguish no CPUs."""

HASH_DIGITS = 4

IMAGE = re.compile(r"(\D*\d+(?:\.\d+)?).*")
"""What names an image: `Ubuntu 24.04` of `Ubuntu 24.04.3 LTS`."""


def with_id(machine: Machine, signature: Iterable[str], kernel_release: str) -> Machine:
    """The machine with an id such as `amd-epyc-2t-kvm-3f07`: CPU, threads, hypervisor, and four digits of a hash.

    Memory counts in whole GiB: what the kernel manages differs a little from boot to boot.
    """
    memory_gib = None if machine.memory_bytes is None else round(machine.memory_bytes / 2**30)
    facts = machine.cpu_model, *signature, machine.microcode, machine.threads, memory_gib, kernel_release
    return machine.model_copy(update={"id": _id("", machine, machine.virtualization or "", facts)})


def runner_id(machine: Machine, system: System) -> str:
    """A slug such as `hosted-ubuntu-24-04-amd-epyc-7763-4t-3f07`: the image of a hosted runner, its CPU and threads.

    Each run has another host, and the image another kernel every few weeks, so neither makes it another machine.
    """
    image = IMAGE.sub(r"\1", system.os or "unknown image")
    facts = image, canonical_architecture(machine.architecture), machine.cpu_model, machine.threads
    return _id(f"{HOSTED} {image} ", machine, "", facts)


def as_author(machine: Machine, system: System, author: Author) -> Machine:
    """The machine with the id under which a run of `author` is kept."""
    return machine.model_copy(update={"id": runner_id(machine, system)}) if author == HOSTED else machine


def is_hosted(machine: str) -> bool:
    """Whether the id is that of a hosted runner, as all are that begin so."""
    return machine.startswith(f"{HOSTED}-")


def _id(begin: str, machine: Machine, more: str, facts: Iterable[object]) -> str:
    digest = hashlib.sha256("\0".join(map(str, facts)).encode()).hexdigest()[:HASH_DIGITS]
    name = _slug(begin + NOISE.sub(" ", machine.cpu_model or "unknown cpu"))
    return "-".join(filter(None, (name, f"{machine.threads}t", _slug(more), digest)))


def _slug(text: str) -> str:
    """`text` in lower-case letters and digits with single hyphens, at most 60 characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")
