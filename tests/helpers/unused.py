"""Code that nothing uses, as vulture finds it; the classes of tracers are used by name, in `tools.toml`.

Usage: PYTHONPATH=tests .venv/bin/python -m helpers.unused; exit status above 0 where it finds anything.
"""

from __future__ import annotations

from vulture.config import make_config
from vulture.core import Vulture

from probe_effect.records import TOOLS


def main() -> int:
    """Print what is unused; vulture's exit status."""
    settings = make_config([])
    names = [*settings["ignore_names"], *(tool.tracer.partition(":")[2] for tool in TOOLS.values())]
    unused = Vulture(ignore_names=names, ignore_decorators=settings["ignore_decorators"])
    unused.scavenge(settings["paths"])
    return int(unused.report())


if __name__ == "__main__":
    raise SystemExit(main())
