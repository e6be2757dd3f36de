"""Probe Effect: what observing costs, measured and published."""

from importlib.metadata import version

__version__ = version("probe-effect")
