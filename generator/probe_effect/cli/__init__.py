"""The command `probe-effect`: the only place that prints or exits.

One module per verb has its options and its help. What it does is often in a module beside it (`<verb>_run`), which is
imported when the command is called: so help and complaints about usage are there at once.
"""

from probe_effect.cli.group import main

__all__ = ["main"]
