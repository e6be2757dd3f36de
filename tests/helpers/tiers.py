"""Two tiers of tests: what `make test` runs, and what is deep besides, which `make test-all` runs with `--deep`.

A test is deep by `pytest.mark.deep`, at the head of its file or above itself.

A worker takes all tests of an `xdist_group`, or of a file without one, and the groups of `FIRST` in `conftest.py`
before all others: a long group belongs there, so that no worker is left with it at the end. A test of every page reads
the pages that `html_page.one_of_each` gives it, unless it looks at what differs between pages of one kind, such as
links. A test of a build takes the smallest data that show its point; `site_build.assembled` is what Hugo would get,
without Hugo. What `data/published` has is not typed again: `data/transcribed.csv` has a few figures of each source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from _pytest.terminal import TerminalReporter

EXAMPLES = {"fast": 25, "deep": 200}
"""What hypothesis tries of each property, by tier."""

NONE = "No test was run: those that are marked deep run with --deep alone, as `make test-all` does."

# Failures are found again by their printed example; a deadline would fail tests on a busy machine.
for tier, examples in EXAMPLES.items():
    settings.register_profile(
        tier,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that chooses the tier."""
    parser.addoption("--deep", action="store_true", help="run the deep tests too, as make test-all does")


def pytest_configure(config: pytest.Config) -> None:
    """Try as many examples as the tier has."""
    settings.load_profile("deep" if config.getoption("deep") else "fast")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the deep tests out of the first tier."""
    if not config.getoption("deep"):
        deep = [item for item in items if item.get_closest_marker("deep")]
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


def pytest_terminal_summary(terminalreporter: TerminalReporter, exitstatus: int) -> None:
    """Say why there was nothing to run, which pytest ends with a status of its own."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        terminalreporter.write_line(NONE)


def deep_but(values: Iterable[object], first: Collection[object]) -> list[object]:
    """All of `values` for `parametrize`; those that are not among `first` run in the deep tier alone."""
    return [one if one in first else pytest.param(one, marks=pytest.mark.deep) for one in values]
