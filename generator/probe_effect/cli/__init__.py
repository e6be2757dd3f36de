"""The command `probe-effect`: one module per verb; the only place that prints or exits."""

from __future__ import annotations

from probe_effect.cli.group import main

__all__ = ["main"]
