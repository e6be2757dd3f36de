"""Runs the tests of our BPF code in emulated kernels: PYTHONPATH=tests python -m live_kernels bookworm/arm64 .."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from live_kernels.machine import FILES, image
from probe_effect.cli.measure_settings import CACHE
from probe_effect.guests.debian import ARCHITECTURES, DEFAULT, find_kernel, locked
from probe_effect.guests.guest import LIBRARY
from probe_effect.guests.qemu import GuestLost, RunningGuest, find_emulator
from probe_effect.host.compilers import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE_S = 1_800.0
"""For a boot, and for all tests in one kernel. A quiet host needs 2 minutes for both, a busy one ten times as long."""

Outcome = tuple[str, str, str]
"""A test's name, what came of it, and why it was skipped or failed."""


def main(words: Sequence[str]) -> int:
    """Run the tests in each kernel, and print what came of them; whether any failed, or a kernel ran none."""
    is_red = False
    for word in words:
        kernel, _, architecture = word.partition("/")
        try:
            origin, tests = outcomes(kernel, architecture or DEFAULT.debian)
        except GuestLost as lost:
            origin, tests = word, [("the emulated machine", "failed", str(lost))]
        click.echo(told(f"{origin}, {architecture or DEFAULT.debian}", tests))
        is_red |= not any(outcome == "passed" for _, outcome, _ in tests)
        is_red |= any(outcome == "failed" for _, outcome, _ in tests)
    return is_red


def outcomes(words: str, architecture: str, *more: str) -> tuple[str, list[Outcome]]:
    """The kernel's package and version, and what came of each test in it; `more` are further words for pytest.

    Raises: GuestLost when the kernel does not boot, or dies of a test.
    """
    cache, processor = cache_folder() / CACHE, ARCHITECTURES[architecture]
    with locked(cache):
        kernel = find_kernel(words, cache, processor)
        bootable, emulator = image(kernel, processor, cache), find_emulator(processor, cache)
        guest = RunningGuest(bootable, emulator, "tcg")
    try:
        guest.wait_for_boot(PATIENCE_S)
        answer = guest.ask({"words": [*(f"{LIBRARY}/{name}" for name in FILES), *more]}, PATIENCE_S)
    finally:
        guest.end()
    return kernel.origin, [(name, outcome, why) for name, outcome, why in answer["tests"]]


def told(kernel: str, tests: Sequence[Outcome]) -> str:
    """How many tests passed, were skipped and failed, and below it each that did not pass with the reason."""
    numbers = Counter(outcome for _, outcome, _ in tests)
    head = ", ".join(f"{numbers[outcome]} {outcome}" for outcome in ("passed", "skipped", "failed"))
    rest = [f"  {outcome} {name}: {why}" for name, outcome, why in tests if outcome != "passed"]
    return "\n".join([f"{kernel}: {head}", *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
