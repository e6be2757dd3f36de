"""Tests of one group are of one worker, which makes what they share once."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("ours")
@pytest.mark.parametrize("text", ["a", "b@c", "d]"])
def test_the_id_by_which_a_worker_is_chosen_ends_with_the_group(
    request: pytest.FixtureRequest, worker_id: str, text: str
) -> None:
    assert text in request.node.nodeid
    assert request.node.nodeid.endswith("@ours") or worker_id == "master"


def test_a_test_of_no_group_is_of_its_file(request: pytest.FixtureRequest, worker_id: str) -> None:
    assert request.node.nodeid.endswith("@test_groups") or worker_id == "master"
