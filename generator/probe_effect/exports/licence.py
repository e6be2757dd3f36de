"""Under which terms the data is published: the licence's name, address and our text about it."""

from __future__ import annotations

NAME = "CC-BY-4.0"
TITLE = "Creative Commons Attribution 4.0 International"
URL = "https://creativecommons.org/licenses/by/4.0/"

CREATOR = "The Probe Effect authors"

TEXT = f"""\
The data in this folder (suites' results under results/, transcribed figures under published/, and the suites) is
licensed under the {TITLE} licence (CC BY 4.0):
{URL}legalcode

You may share and adapt it for any purpose, if you give appropriate credit: "Probe Effect", with the date or version of
the data that you used.

Figures under published/ are facts that others printed; each folder's source.toml names who printed them. Scripts and
programs under suites/ are code and are licensed under the Apache License 2.0:
https://www.apache.org/licenses/LICENSE-2.0
"""
"""The text of `LICENSE` in the data."""
