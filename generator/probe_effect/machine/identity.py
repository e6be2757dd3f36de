"""The machine's id: the same hardware and kernel give the same id, and it says nothing of who owns them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOISE = re.compile(r"\((r|tm|c)\)|\b(cpu|processor|\d+-core)\b|@.*|with .* graphics", re.IGNORECASE)
"""Words in a CPU's name that tell nothing apart."""

HASH_DIGITS = 4
GIBIBYTE = 1 << 30


def machine_id(
    *,
    cpu_model: str | None,
    signature: Iterable[str],
    microcode: str | None,
    threads: int,
    memory_bytes: int | None,
    virtualization: str | None,
    kernel_release: str,
) -> str:
    """A slug such as `amd-epyc-2t-kvm-3f07`: CPU, threads, hypervisor, and four digits of a hash over the rest.

    Memory counts in whole GiB: what the kernel manages differs a little from boot to boot.
    """
    memory_gib = None if memory_bytes is None else round(memory_bytes / GIBIBYTE)
    facts = (cpu_model, *signature, microcode, threads, memory_gib, kernel_release)
    digest = hashlib.sha256("\0".join(str(fact) for fact in facts).encode()).hexdigest()[:HASH_DIGITS]
    parts = (slug(NOISE.sub(" ", cpu_model or "unknown cpu")), f"{threads}t", slug(virtualization or ""), digest)
    return "-".join(part for part in parts if part)


def slug(text: str) -> str:
    """`text` in lower-case letters and digits with single hyphens, at most 60 characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")
