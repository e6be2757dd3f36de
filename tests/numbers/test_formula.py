"""Arithmetic over figures: exact, and nothing but arithmetic whatever the text is."""

from __future__ import annotations

import ast
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.numbers.published import MAX_LENGTH, MAX_NODES, FormulaError, evaluate, holds

VALUES = {"a": Fraction(7), "b": Fraction(2), "zero": Fraction(0), "third": Fraction(1, 3)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a - b", Fraction(5), id="names"),
        pytest.param("1 + 2 * 3", Fraction(7), id="times before plus"),
        pytest.param("(1 + 2) * 3", Fraction(9), id="brackets"),
        pytest.param("a / b / 2", Fraction(7, 4), id="division from the left"),
        pytest.param("-a + b", Fraction(-5), id="minus in front"),
        pytest.param("0.1 + 0.2", Fraction(3, 10), id="decimals are decimals"),
        pytest.param("third * 3", Fraction(1), id="a third is a third"),
        pytest.param("sum(a, b, 1)", Fraction(10), id="sum"),
        pytest.param("min(a, b)", Fraction(2), id="min"),
        pytest.param("max(a, b)", Fraction(7), id="max"),
        pytest.param("median(1, 2, 3, 10)", Fraction(5, 2), id="median of an even number"),
        pytest.param("abs(b - a)", Fraction(5), id="abs"),
    ],
)
def test_formulas_give_what_arithmetic_gives(text: str, value: Fraction) -> None:
    assert evaluate(text, VALUES) == value


def test_time_stamps_beyond_what_floats_hold_keep_their_difference() -> None:
    stamps = {"start": Fraction(2**53), "stop": Fraction(2**53 + 1)}
    assert evaluate("stop - start", stamps) == 1
    assert evaluate(f"{2**63 + 1} - {2**63}", {}) == 1


@pytest.mark.parametrize(
    ("text", "truth"),
    [("a > b", True), ("a < b", False), ("a >= 7", True), ("b <= 1", False), ("a == 3.5 * b", True), ("a == b", False)],
)
def test_comparisons_hold_or_do_not(text: str, truth: bool) -> None:
    assert holds(text, VALUES) is truth


HOSTILE = [
    pytest.param("unknown", id="unknown figure"),
    pytest.param("", id="empty"),
    pytest.param("a +", id="half a formula"),
    pytest.param("a; b", id="two statements"),
    pytest.param("a = 1", id="assignment"),
    pytest.param("(a := 1)", id="assignment expression"),
    pytest.param("a.__class__", id="attribute"),
    pytest.param("().__class__.__bases__[0]", id="way to object"),
    pytest.param("__import__('os')", id="import"),
    pytest.param("eval('1')", id="eval"),
    pytest.param("abs.__call__(1)", id="call of an attribute"),
    pytest.param("sum(a, start=b)", id="keyword"),
    pytest.param("sum(*a)", id="starred"),
    pytest.param("sum()", id="nothing to add"),
    pytest.param("abs(a, b)", id="abs of two"),
    pytest.param("median", id="a function without its brackets"),
    pytest.param("a[0]", id="index"),
    pytest.param("[a]", id="list"),
    pytest.param("[x for x in (1,)]", id="comprehension"),
    pytest.param("lambda: 1", id="lambda"),
    pytest.param("'a' * 10", id="text"),
    pytest.param("b'a'", id="bytes"),
    pytest.param("f'{a}'", id="f-string"),
    pytest.param("1j", id="complex"),
    pytest.param("True", id="truth"),
    pytest.param("None", id="none"),
    pytest.param("...", id="ellipsis"),
    pytest.param("a if b else 1", id="condition"),
    pytest.param("a and b", id="and"),
    pytest.param("~a", id="bits"),
    pytest.param("9**9**9", id="huge power"),
    pytest.param("1 << 99999999", id="huge shift"),
    pytest.param("a // b", id="floor"),
    pytest.param("a % b", id="remainder"),
    pytest.param("a @ b", id="matrix"),
    pytest.param("1 / 0", id="by zero"),
    pytest.param("a / (b - 2)", id="by a difference of zero"),
    pytest.param("1e999", id="beyond floats"),
    pytest.param("*".join(["1e99"] * 100), id="huge product"),
    pytest.param("9" * 1900, id="huge number"),
    pytest.param("-" * 1900 + "1", id="many signs"),
    pytest.param("(" * 900 + "1" + ")" * 900, id="deep brackets"),
    pytest.param("abs(" * 400 + "1" + ")" * 400, id="deep calls"),
    pytest.param("1" + "+1" * MAX_NODES, id="many parts"),
    pytest.param("1" + " " * MAX_LENGTH, id="long"),
    pytest.param("a\x00b", id="NUL"),
    pytest.param("\ud800", id="half a character"),
    pytest.param("a\\", id="backslash"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_not_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        evaluate(text, VALUES)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_side_of_a_comparison_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        holds(f"{text} < 2", VALUES)


@pytest.mark.parametrize("text", ["a", "a < b < 9", "a != b", "a in b", "a is b", "a < b and b < a"])
def test_only_one_comparison_is_a_comparison(text: str) -> None:
    with pytest.raises(FormulaError, match="is not one comparison"):
        holds(text, VALUES)


def test_a_message_names_the_figure_that_is_unknown() -> None:
    with pytest.raises(FormulaError, match="`speed` is not a figure"):
        evaluate("a * speed", VALUES)


NUMBERS = st.integers(0, 99).map(str) | st.sampled_from(["a", "b", "third", "zero", "0.25", "12.5"])
FORMULAS = st.recursive(
    NUMBERS,
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda part: f"({part[0]} {part[1]} {part[2]})")
        | inner.map(lambda part: f"-{part}")
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"max({', '.join(parts)})")
    ),
    max_leaves=12,
)


def by_python(text: str) -> Fraction | None:
    """What Python itself makes of the formula with every number a Fraction; None when it divides by zero."""
    tree = ast.parse(text, mode="eval")

    class Exact(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            name, text = ast.Name("Fraction", ast.Load()), ast.Constant(str(node.value))
            return ast.Call(name, [text], [])

    code = compile(ast.fix_missing_locations(Exact().visit(tree)), "formula", "eval")
    try:
        return Fraction(eval(code, {"Fraction": Fraction, "max": lambda *parts: max(parts), **VALUES}))  # noqa: S307 (our own text)
    except ZeroDivisionError:
        return None


@given(FORMULAS)
def test_every_formula_is_what_exact_arithmetic_makes_of_it(text: str) -> None:
    expected = by_python(text)
    if expected is None:
        with pytest.raises(FormulaError, match="divides by zero"):
            evaluate(text, VALUES)
    else:
        assert evaluate(text, VALUES) == expected


@given(st.text(max_size=60) | st.text(alphabet="ab019.+-*/()<>= ,sumabsmedian[]{}'\"_", max_size=60))
def test_any_text_is_computed_or_refused_and_nothing_else(text: str) -> None:
    with suppress(FormulaError):
        assert isinstance(evaluate(text, VALUES), Fraction)
    with suppress(FormulaError):
        assert isinstance(holds(text, VALUES), bool)
