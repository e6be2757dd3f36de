"""Where each thing has its page. An address is a promise: once published it stays, because people cite it."""

from probe_effect.numbers import names
from probe_effect.numbers.submission import Number, Submission


def case(case_id: str) -> str:
    """The page of a case."""
    return f"/costs/{case_id}/"


def suite(suite_id: str) -> str:
    """The page of a suite."""
    return f"/suites/{suite_id}/"


def tracer(tracer_id: str) -> str:
    """The page of the tool that `tracer_id` is, in whatever version."""
    return f"/tracers/{names.tool_of(tracer_id)}/"


def machine(machine_id: str) -> str:
    """The page of a machine whose times were measured."""
    return f"/machines/{machine_id}/"


def kernel(machine_id: str) -> str:
    """The page of an emulated machine."""
    return f"/kernels/{machine_id}/"


def architecture(name: str) -> str:
    """The page of an architecture on which anything was counted, by its one name."""
    return f"/kernels/{names.architecture(name)}/"


def machine_of(submission: Submission) -> str:
    """The page of the machine of a submission."""
    return machine(submission.machine) if submission.metric == "time" else kernel(submission.machine)


def submission(submission_id: str) -> str:
    """The page of a submission, `<machine>/<folder>`."""
    return f"/results/{submission_id}/"


def number(one: Number, quantity: str | None = None) -> str:
    """The page of a number with the rows that it is made of, or its line for one quantity, a column of its table."""
    return f"/results/{one.id}/" + (f"#{quantity}" if quantity else "")


def figure(source_id: str, figure_id: str | None = None) -> str:
    """The page of a source, or the row of one of its figures."""
    return f"/sources/{source_id}/" + (f"#{figure_id}" if figure_id else "")


def chart(name: str) -> str:
    """The page of a figure; its files are beside it."""
    return f"/charts/{name}/"


def column(name: str) -> str:
    """The entry of the dictionary for a column of the site's tables."""
    return f"/data/dictionary/#{name}"
