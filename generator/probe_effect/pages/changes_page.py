"""The change log of the data: entries by day, each with a sentence and where its things have their pages."""

from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.changes import Entry
from probe_effect.pages import addresses

PAGE, FEED = "/data/changes/", "/data/changes.xml"


def heading(entry: Entry) -> str:
    """What changed, in a few words without links."""
    if entry.submission is not None:
        one, submitter = entry.submission, entry.submission.document.submitter
        done = "measured" if one.metric == "time" else "counted"
        by = f" by {submitter.name}" if submitter.name else ""
        return f"{entry.kind.capitalize()}: suite {one.suite}, {done} on {names.machine_name(one)}{by}"
    if len(entry.what) > 1:
        return f"{entry.kind.capitalize()}: {len(entry.what)} {_noun(entry)}s"
    return f"{entry.kind.capitalize()}: {entry.what[0]}"


def sentence(entry: Entry) -> str:
    """Why it changed, with the old and the new value of a correction; empty for what was measured."""
    values = f"Was {entry.old}, is {entry.new}." if entry.kind == "corrected" else ""
    return " ".join(filter(None, (values, entry.why)))


def withdrawn(submission_id: str, catalogue: Catalogue) -> dict[str, str]:
    """Front matter `withdrawn`, which the page's header prints, where the submission is; else none."""
    for one in catalogue.changes:
        if one.kind == "withdrawn" and submission_id in one.what:
            why = f"Withdrawn on {names.date_words(one.date)}: {one.why}"
            return {"withdrawn": f"{why} No table, chart or guidance of this site has it."}
    return {}


def address(what: str) -> str:
    """The page of what an entry names."""
    source, _, figure = what.partition("#")
    if figure:
        return addresses.figure(source, figure)
    # A number's id is its submission's with more behind it, and so is its address.
    return addresses.submission(what) if "/" in what else addresses.figure(source)


def _noun(entry: Entry) -> str:
    first = entry.what[0]
    return "figure" if "#" in first else "source" if "/" not in first else "number" if first.count("/") > 1 else "run"
