"""The words in which readers are asked what they want to see, and what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.answer.asking import ACTIONS, QUESTIONS, action_words, questions

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue


def test_every_kind_of_probe_and_every_action_of_our_suites_has_words(catalogue: Catalogue) -> None:
    suites = [folder.suite for folder in catalogue.suites if folder.suite.measures == "cost"]
    known = {kind for group in QUESTIONS.values() for kind in group}
    assert {case.probe for suite in suites for case in suite.cases} <= known
    assert {case.action for suite in suites for case in suite.cases} <= ACTIONS.keys()


def test_no_two_kinds_of_probe_have_the_same_words() -> None:
    words = [said for group in QUESTIONS.values() for said in group.values()]
    assert len(words) == len(set(words))
    assert len(set(ACTIONS.values())) == len(ACTIONS)


def test_only_groups_with_something_in_them_are_offered_in_their_order() -> None:
    assert questions({"usdt", "tracepoint-entry"}) == [
        ("System calls", [("tracepoint-entry", "A system call, when it is made")]),
        ("My program", [("usdt", "A place that the author marked (USDT)")]),
    ]


def test_what_has_no_words_is_offered_last_under_its_own_name() -> None:
    assert questions({"new-kind", "usdt"})[-1] == ("Other probes", [("new-kind", "new kind")])
    assert action_words("count-by-colour") == "count by colour"
