"""Probe Effect: what observing costs, measured and published."""


def __getattr__(name: str) -> str:
    """`__version__`, looked up when it is asked for: reading what is installed takes a fifth of a command's start."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("probe-effect")
