"""A script's form for one system, where its names of kernel functions hold on that system only."""

from pathlib import Path

LINUX = ".linux"
"""What comes before the last ending of a form for Linux: `02-kprobe.linux.d` is the form of `02-kprobe.d`."""


def linux_form(script: Path) -> Path | None:
    """The form of a script or counting twin for Linux; None where the script itself serves there."""
    path = script.with_suffix(f"{LINUX}{script.suffix}")
    return path if path.is_file() else None


def plain_form(script: Path) -> Path | None:
    """Beside which script a form for Linux must lie, whether that is there or not; None for what is no such form."""
    if not script.stem.endswith(LINUX):
        return None
    return script.with_name(f"{script.stem.removesuffix(LINUX)}{script.suffix}")
