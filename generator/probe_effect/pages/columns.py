"""Every column of the tables that the site makes, read from `columns.toml`: its header, and what its cells mean.

Headers link to their entry, `/data/dictionary/#<id>` (`head` in `templates/macros.j2`).
"""

from dataclasses import dataclass
from typing import Literal

from probe_effect.toml import beside

RULES = {"left": ":--", "right": "--:", "center": ":-:"}
"""How Markdown writes the alignment of a column."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its id, its header, what a cell says, the unit of its cells, and how they are aligned."""

    id: str
    label: str
    meaning: str
    unit: str = ""
    align: Literal["left", "right", "center"] = "left"

    @property
    def rule(self) -> str:
        """Its alignment as the line below a Markdown header has it."""
        return RULES[self.align]


_FILE = beside(__file__, "columns")
COLUMNS = {name: TableColumn(name, **own) for name, own in _FILE.items()}
"""Column id to column, in the order of the dictionary."""
