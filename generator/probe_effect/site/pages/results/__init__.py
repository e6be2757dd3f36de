"""What pages show of each type of result: one module for each, found by the name that `suite.toml` gives the type.

Each module has `VIEW`, for times, and may have `COUNTED`, for counted instructions of the same suites.
"""

from importlib import import_module

from probe_effect.model import Metric
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.submission import Submission
from probe_effect.site.pages.results import cost
from probe_effect.site.pages.results.view import ResultView
from probe_effect.store.suite_file import RESULT_TYPES, Suite

MODULES = {name: import_module(f"{__name__}.{name}") for name in RESULT_TYPES}

VIEWS: dict[tuple[str, Metric], ResultView] = {
    **{(name, "time"): module.VIEW for name, module in MODULES.items()},
    **{(name, "instructions"): getattr(module, "COUNTED", cost.COUNTED) for name, module in MODULES.items()},
}


def view_of(suite: Suite | None, metric: Metric = "time") -> ResultView:
    """How pages show the numbers of a suite; those of one that is gone are costs of an event."""
    return VIEWS[suite.measures if suite else "cost", metric]


def suite_of(submission: Submission, catalogue: Catalogue) -> Suite | None:
    """The suite that was run, as it is today; None where it is gone."""
    folder = catalogue.by_suite.get(submission.suite)
    return folder.suite if folder else None


def view_of_submission(submission: Submission, catalogue: Catalogue) -> ResultView:
    return view_of(suite_of(submission, catalogue), submission.metric)
