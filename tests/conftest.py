"""What several test files share: moderate hypothesis settings and one small data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from builders import write_data

if TYPE_CHECKING:
    from pathlib import Path

# Failures are found again by their printed example; a deadline would fail tests on a busy machine.
settings.register_profile(
    "project",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("project")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small sound data folder: one suite, one submission, one source."""
    return write_data(tmp_path)
