"""Where each thing has its page. An address is a promise: once published it stays, because people cite it."""

from probe_effect.numbers import names
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.numbers.submission import Number, Submission

case = "/costs/{}/".format
suite = "/suites/{}/".format
machine = "/machines/{}/".format  # a machine whose times were measured, by its id
kernel = "/kernels/{}/".format  # an emulated machine, by its id
submission = "/results/{}/".format  # a submission, by `<machine>/<folder>`
chart = "/charts/{}/".format
column = "/data/dictionary/#{}".format
"""The entry of the dictionary for a column of the site's tables."""


def tracer(tracer_id: str) -> str:
    """The page of the tool that `tracer_id` is, in whatever version."""
    return f"/tracers/{names.tool_of(tracer_id)}/"


def architecture(name: str, suite_id: str = FIRST_SUITE) -> str:
    """The page of what was counted of a suite on an architecture, by its one name; the first suite's has them all."""
    own = kernel(names.architecture(name))
    return own if suite_id == FIRST_SUITE else f"{own}{suite_id}/"


def machine_of(submission: Submission) -> str:
    return (machine if submission.metric == "time" else kernel)(submission.machine)


def number(measurement: Number, quantity: str | None = None) -> str:
    """The page of a number with the rows that it is made of, or its line for one quantity, a column of its table."""
    return submission(measurement.id) + (f"#{quantity}" if quantity else "")


def figure(source_id: str, figure_id: str | None = None) -> str:
    return f"/sources/{source_id}/" + (f"#{figure_id}" if figure_id else "")
