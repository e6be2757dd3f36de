"""Where CI is root and may trace, no test of a tracer that it installs is skipped."""

from __future__ import annotations

import os
import sys

import pytest

from probe_effect.host import ROOT
from probe_effect.host.kernel import MAY_NOT_MOUNT, tracefs_missing
from probe_effect.host.processes import may_trace
from probe_effect.tracers.tool import known_tracers

INSTALLED = (
    *("bpftrace", "libbpf", "perf-stat", "perf-record", "perf-trace", "ftrace", "trace-cmd", "strace"),
    *("lttng-ust", "uftrace", "gdb", "ltrace", "valgrind"),
)
"""What `make test` installs, or the kernel has."""


@pytest.mark.skipif("CI" not in os.environ, reason="only CI must have all of them")
@pytest.mark.skipif(not sys.platform.startswith("linux") or os.geteuid() != 0, reason="needs root of Linux")
@pytest.mark.skipif(not may_trace(ROOT), reason="root may not trace here, as in a container without --privileged")
@pytest.mark.skipif(tracefs_missing(ROOT) == MAY_NOT_MOUNT, reason="root may not mount tracefs here, as in a container")
@pytest.mark.parametrize("tracer", INSTALLED)
def test_in_ci_a_tracer_that_is_installed_can_run(tracer: str) -> None:
    assert known_tracers()[tracer].available() is None
