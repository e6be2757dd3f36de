"""A program that makes known numbers of events, and what tests of the running system need of this machine."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from helpers.needs import lacking
from probe_effect.live import kernel_calls
from probe_effect.live.kernel_calls import OLDEST
from probe_effect.model import series_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FUNCTIONS = 500

SOURCE = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int x;
%s
__attribute__((noinline)) void often(void) { x++; }
/* counted READS CALLS CHILDREN [endless]: each child does the same as its parent, before it. */
int main(int count, char **words)
{
    char byte;
    int zero = open("/dev/zero", O_RDONLY);
    long reads = atol(words[1]), calls = atol(words[2]), children = atol(words[3]);
    for (long i = 0; i < children; i++)
        if (fork() == 0)
            break;
        else
            wait(0);
    do
        for (long i = 0; i < reads; i++)
            if (read(zero, &byte, 1) != 1)
                return 1;
    while (count > 4);
    for (long i = 0; i < calls; i++) {
        often();
        %s
    }
    return 0;
}
"""


def _reason() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    if reason := lacking(["cc"]):
        return reason
    try:
        os.close(kernel_calls.enable_statistics())
    except OSError as error:
        return f"BPF is refused here: {error.strerror}"
    return None


def _without_cookies() -> str | None:
    """Without them a count is refused, which `test_a_kernel_without_cookies_is_told_what_counting_expects` looks at."""
    release = os.uname().release
    oldest = series_of(OLDEST)
    return None if series_of(release) >= oldest else f"Linux {release} has no cookies of perf links; {OLDEST} has"


def _traces(skip: pytest.MarkDecorator) -> Callable[[Any], Any]:
    """Whoever measures meanwhile is refused, for these probes are seen by all: one worker has all such tests."""
    return lambda test: pytest.mark.xdist_group("tracer")(skip(test))


needs_bpf = _traces(pytest.mark.skipif(_reason() is not None, reason=str(_reason())))
needs_counting = _traces(
    pytest.mark.skipif(bool(_reason() or _without_cookies()), reason=_reason() or str(_without_cookies()))
)
lacks_cookies = pytest.mark.skipif(bool(_reason()) or not _without_cookies(), reason="the kernel can do what it lacks")


def written(folder: Path) -> Path:
    """The source of the program, with `FUNCTIONS` functions `one_N` beside `often`."""
    functions = "\n".join(f"__attribute__((noinline)) void one_{i}(void) {{ x += {i}; }}" for i in range(FUNCTIONS))
    calls = "".join(f"one_{i}();" for i in range(FUNCTIONS))
    source = folder / "counted.c"
    source.write_text(SOURCE % (functions, calls), encoding="utf-8")
    return source


def compiled(folder: Path) -> Path:
    """The program, in that folder."""
    program = folder / "counted"
    subprocess.run(["cc", "-O1", "-o", program, written(folder)], check=True)  # noqa: S607
    return program
