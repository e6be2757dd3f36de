"""The command `probe-effect`: the only place that prints or exits.

One module per verb, with its options and its help; what it does is imported when it is called, often from a module
beside it (`<verb>_run`), so that help and complaints about usage are there at once.
"""

from __future__ import annotations

from probe_effect.cli.group import main

__all__ = ["main"]
