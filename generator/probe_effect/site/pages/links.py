"""Links and cells that many pages have: a number, a case, a run, a machine, each leading to its page."""

from collections.abc import Sequence

from markupsafe import Markup

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import PublishedSource
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import TOOLS
from probe_effect.site.pages import addresses, instructions, parts
from probe_effect.site.pages.parts import Link, Pieces
from probe_effect.site.pages.text import bracketed, escape, link, listed, say, together
from probe_effect.store.beside_files import Figure


def number(value: Number | None, quantity: str, text: object) -> object:
    """The cell of a measured or counted value, which leads to its line on its own page; empty without a number."""
    if value is None:
        return ""
    is_said = value.is_known and text not in {None, units.MISSING}
    return Link(text, addresses.number(value, quantity)) if is_said else text


def count(value: Number | None) -> object:
    """The cell of a count in a table of many, which leads to its page; empty where nobody ran it."""
    return number(value, "instructions", instructions.cell(value))


def case(case_id: str, title: object, level: str | None = None) -> Markup:
    """A case by its title, with a level in brackets where there is one."""
    return bracketed(link(title, addresses.case(case_id)), names.level(level))


def run(submission: Submission) -> Markup:
    return link(submission.files.folder.name, addresses.submission(submission.id))


def suite(suite_id: str, title: object = None) -> Markup:
    return link(title or suite_id, addresses.suite(suite_id))


def tracer(tracer_id: str, title: object) -> Markup:
    """A tracer; a tool that nobody has described has no page."""
    return link(title, addresses.tracer(tracer_id)) if names.tool_of(tracer_id) in TOOLS else escape(title)


def machine(submission: Submission, name: object = None) -> Markup:
    return link(name or names.machine_name(submission), addresses.machine_of(submission))


def grade(subject: Number | Submission) -> Markup:
    """The grade of a time or of a run of times, and what kept it from a better one."""
    reasons = say(": {}", "; ".join(subject.grade_reasons)) if subject.grade_reasons else ""
    return say("Grade **{}**{}. [What grades mean](/machines/#grades).", subject.grade or "none", reasons)


def figure(source: PublishedSource, published_figure: Figure) -> dict[str, object]:
    """The cells of a published figure by the names of their columns; a time says where it was derived."""
    times = {
        "published-cost": (published_figure.cost_ns, published_figure.cost_from),
        "published-baseline": (published_figure.baseline_ns, published_figure.baseline_from),
    }
    return {
        "source": link(parts.source_label(source.document), addresses.figure(source.id)),
        "tracer": published_figure.tracer or "",
        "what": bracketed(published_figure.what, published_figure.platform),
        "figure-grade": f"{published_figure.grade}, excerpt only" if source.from_excerpt else published_figure.grade,
        **{
            name: Pieces([units.duration(float(value_ns)), " (derived)" if origin == "derived" else ""])
            for name, (value_ns, origin) in times.items()
            if value_ns is not None
        },
    }


def raw_files(submission: Submission) -> Markup:
    """The files of a submission as it was sent; their names are ours."""
    folder = f"/data/results/{submission.id}"
    return listed(link(path.name, f"{folder}/{path.name}") for path in submission.files.content)


def credit(submissions: Sequence[Submission]) -> Markup:
    """Who measured, where they want to be named, the text of a name alone; and whether the project itself did."""
    people = "; ".join(
        dict.fromkeys(name for submission in submissions if (name := submission.document.submitter.name))
    )
    own = sum(submission.document.provenance.kind == "project" for submission in submissions)
    verb = "Measured" if submissions[0].metric == "time" else "Counted"
    what = "this" if len(submissions) == 1 else f"{own} of these {len(submissions)} runs"
    how = "The project itself ran {}, as machine.json says; [a signature](/method/checks/#signed-runs) can prove it."
    return together(people and say("{} by {}.", verb, people), own and say(how, what))
