"""Where benchmarks put their tables: between two marks of a page that is written by hand."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
END = "<!-- end -->"


def put(page: str, benchmark: str, text: str) -> None:
    """Put `text` into a page of the project, in place of what the benchmark wrote there before.

    Raises: ValueError where the page has no place for it.
    """
    path, begin = PROJECT / page, f"<!-- benchmarks/{benchmark}.py -->"
    before, mark, rest = path.read_text(encoding="utf-8").partition(begin)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{path}: has no place for the tables; expected a line {begin} and below it {END}")
    path.write_text(f"{before}{mark}\n\n{text}\n\n{end}{after}", encoding="utf-8")
