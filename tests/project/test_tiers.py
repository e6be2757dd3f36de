"""The tiers: what is deep waits for its tier, what takes long is refused, and nothing ends without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.tiers import Job, counts, table
from helpers.time_record import REASONS

pytest_plugins = "pytester"

SHALLOW_AND_DEEP = """
import pytest
def test_of_the_first_tier(): ...
@pytest.mark.deep
def test_of_the_second(): ...
"""

BUSY = """
import time, pytest
def busy():
    while time.process_time() < begun + 0.4: pass
begun = time.process_time()
{mark}
def test_that_takes_long(): busy()
"""


CONFTEST = """
pytest_plugins = ["helpers.tiers", "helpers.time_record"]
def pytest_configure():
    from helpers import time_record
    time_record.LIMIT_S = 0.2
"""


@pytest.fixture
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder whose tests have tiers as ours do, with less time for each."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini("[pytest]\nmarkers = deep: not of the first tier\n    site: s\n    browser: b\n    tracer: t\n")
    pytester.makeconftest(CONFTEST)
    return pytester


@pytest.mark.parametrize(("words", "counts"), [([], {"passed": 1, "deselected": 1}), (["--deep"], {"passed": 2})])
def test_what_is_deep_runs_with_its_tier_alone(
    tests: pytest.Pytester, words: list[str], counts: dict[str, int]
) -> None:
    tests.makepyfile(SHALLOW_AND_DEEP)
    assert tests.runpytest_subprocess(*words).parseoutcomes() == counts


def test_a_run_without_any_test_fails_and_says_why(tests: pytest.Pytester) -> None:
    tests.makepyfile(SHALLOW_AND_DEEP)
    ended = tests.runpytest_subprocess("-k", "second", "-n", "1")
    assert ended.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "marked deep run with --deep" in ended.stdout.str()


def test_a_test_of_the_first_tier_that_takes_long_fails_with_what_to_do(tests: pytest.Pytester) -> None:
    tests.makepyfile(test_it=BUSY.format(mark=""))
    ended = tests.runpytest_subprocess()
    assert ended.parseoutcomes() == {"failed": 1}
    assert "test_it.py::test_that_takes_long took" in ended.stdout.str()
    assert "tests/long.toml" in ended.stdout.str()


@pytest.mark.deep
def test_a_deep_test_may_take_as_long_as_it_needs(tests: pytest.Pytester) -> None:
    tests.makepyfile(BUSY.format(mark="@pytest.mark.deep"))
    assert tests.runpytest_subprocess("--deep").parseoutcomes() == {"passed": 1}


def test_a_fixture_that_takes_long_is_refused_by_its_name(tests: pytest.Pytester) -> None:
    tests.makepyfile(BUSY.format(mark="@pytest.fixture") + "def test_of_it(test_that_takes_long): ...\n")
    ended = tests.runpytest_subprocess()
    assert ended.parseoutcomes() == {"errors": 1}
    assert "test_that_takes_long took" in ended.stdout.str()


@pytest.mark.deep
def test_a_worker_that_dies_is_named_with_its_test(tests: pytest.Pytester) -> None:
    tests.makepyfile("import os\ndef test_that_ends_its_process(): os._exit(7)\n")
    ended = tests.runpytest_subprocess("-n", "1")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    assert "crashed while running" in ended.stdout.str()
    assert "test_that_ends_its_process" in ended.stdout.str()


def test_what_is_on_the_list_of_long_ones_is_there_and_has_a_reason() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("*.py")}
    for name, reason in REASONS.items():
        file, has_test, function = name.rpartition("::")
        assert f"def {function}(" in (texts[file] if has_test else "".join(texts.values())), name
        assert len(reason.split()) > 3, name


def test_what_a_job_counted_is_that_of_its_greatest_run_of_tests() -> None:
    output = "== 2 failed, 90 passed, 3 skipped in 12.30s ==\nstrangers\n22 passed in 4.01s\n"
    assert counts(output) == {"failed": 2, "passed": 90, "skipped": 3}
    assert counts("make: *** [test] Error 2") == {}


def test_a_job_that_failed_before_any_test_shows_its_exit_status() -> None:
    jobs = [
        Job("12ab34cd", "make test", "cold", 119.6, 200.4, 0, {"passed": 90, "skipped": 3}),
        Job("12ab34cd", "make site", "cold", 59.0, 80.0, 2, {}),
    ]
    said = table(jobs, [("test_x.py::test_y", 9.6)])
    assert "| `make test` | cold | 2 min 0 s | 200 s | 90 | 3 | 0 | 12ab34cd |" in said
    assert "| `make site` | cold | 0 min 59 s | 80 s |  |  | exit 2 | 12ab34cd |" in said
    assert "`test_x.py::test_y` 10" in said
