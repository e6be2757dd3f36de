"""Where the evidence puts its tables: into fragments that the site's method draws in."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def write(name: str, text: str) -> None:
    """Write the tables that a page has where it says `{{< fragment "method/NAME.md" >}}`."""
    (PROJECT / "site" / "assets" / "fragments" / "method" / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
