"""Four hundred questions have the answers that they had: a changed answer is written down, and seen in its commit."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from helpers.frozen_questions import FILE, Frozen

pytestmark = pytest.mark.deep

NEAR = 1e-4


def is_same(one: Any, other: Any) -> bool:  # noqa: ANN401 (JSON)
    """Whether two answers are the same but for the last digits of their numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=NEAR, abs_tol=1e-9)
    return bool(one == other)


def test_a_frozen_question_has_the_answer_that_is_written_down() -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    frozen = Frozen(document["runs"])
    changed = [
        {"asked": {key: value for key, value in one.items() if key != "answer"}, "was": one["answer"], "is": answer}
        for one in document["questions"]
        if not is_same(answer := json.loads(json.dumps(frozen.ask(one))), one["answer"])
    ]
    assert not changed, "\n".join(
        [
            f"{len(changed)} of {len(document['questions'])} answers changed. If that is meant, write them down with",
            "PYTHONPATH=tests .venv/bin/python -m helpers.frozen_questions, and say in the commit why each changed:",
            *(json.dumps(one, ensure_ascii=False) for one in changed[:20]),
        ]
    )
