"""The command `probe-effect` on a machine of fakes: KERNEL ARGUMENT..., run by Python as a program of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest.mock import patch

from probe_effect.cli import main, measure_display, measure_settings
from probe_effect.measure import diagnosis, testbed
from probe_effect.tracers import tool
from probe_effect.tracers.bpftrace import Bpftrace

if __name__ == "__main__":
    kernel = Path(sys.argv.pop(1))
    os.geteuid = lambda: 0
    with (
        patch.object(tool, "may_trace", lambda _: True),
        patch.object(measure_settings, "known_tracers", lambda: {"bpftrace": Bpftrace(root=kernel)}),
        # Tests side by side are not to tidy up after each other, nor to wait for each other.
        patch.object(measure_display, "leftovers", list),
        patch.object(diagnosis, "tracing", list),
        patch.object(diagnosis, "present", frozenset),
        patch.object(testbed, "LOCKS", Path(os.environ.get("XDG_CACHE_HOME", kernel))),
    ):
        main()
