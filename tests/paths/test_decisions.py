"""Rewritten code does what it did, and each of its decisions is counted.

Every case would miss a rewriter that leaves its kind of decision as it is, and one that changes
what the code returns.
"""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.paths.constants import around, sums, whole_constants
from dpassay.verifiers.paths.counting import DecisionCounter
from dpassay.verifiers.paths.decisions import COUNTER, Decision, rewrite


def _rewritten(
    source: str,
) -> tuple[dict[str, Any], dict[str, Any], list[Decision], DecisionCounter]:
    """The names of a module as it stands, and rewritten, its decisions and their counter."""
    plain: dict[str, Any] = {}
    exec(compile(source, "<plain>", "exec"), plain)
    tree, decisions = rewrite(source, "folder/target.py", 0)
    counter = DecisionCounter()
    changed: dict[str, Any] = {COUNTER: counter}
    exec(compile(tree, "<changed>", "exec"), changed)
    counter.clear()
    return plain, changed, decisions, counter


def _taken(decisions: list[Decision], counter: DecisionCounter, text: str) -> set[str]:
    number = next(i for i, one in enumerate(decisions) if one.text == text)
    return {way for (at, way) in counter.taken if at == number}


BODY: dict[str, tuple[str, str, list[tuple[Any, set[str]]]]] = {
    "if": ("if x > 3:\n  return 1\n return 0", "x > 3", [(3, {"false"}), (4, {"true"})]),
    "ternary": ("return 1 if x == 3 else 0", "x == 3", [(3, {"true"}), (4, {"false"})]),
    "operand": (
        "return 1 if x > 0 and x % 2 == 1 else 0",
        "x % 2 == 1",
        [(-1, set()), (2, {"false"}), (3, {"true"})],
    ),
    "bare operand": (
        "flag = x in (1, 2)\n return 5 if flag or x > 9 else 6",
        "flag",
        [(1, {"true"}), (4, {"false"})],
    ),
    "factor": ("return 2 * (x >= 7)", "x >= 7", [(7, {"true"}), (6, {"false"})]),
    "while": (
        "while x > 2:\n  x -= 1\n return x",
        "x > 2",
        [(1, {"false"}), (3, {"true", "false"})],
    ),
    "loop": (
        "s = 0\n for i in range(x):\n  s += i\n return s",
        "range(x)",
        [(0, {"no turn"}), (1, {"one turn"}), (5, {"several turns"})],
    ),
    "comprehension": (
        "return [i for i in range(x) if i != 2]",
        "i != 2",
        [(1, {"true"}), (3, {"true", "false"})],
    ),
    "slice": ("return list(range(x))[:4]", "list(range(x))[:4]", [(4, {"whole"}), (5, {"cut"})]),
    "smallest": ("return min(x, 6)", "min(x, 6)", [(5, {"argument 1"}), (7, {"argument 2"})]),
    "case": (
        "match x:\n  case 1:\n   return 5\n  case _:\n   return 6",
        "case 1",
        [(1, {"taken"}), (2, set())],
    ),
    "handler": (
        "try:\n  return 6 // x\n except ZeroDivisionError:\n  return 0",
        "except ZeroDivisionError",
        [(0, {"taken"}), (2, set())],
    ),
    "negated": ("return 1 if not x else 0", "not x", [(0, {"true"}), (1, {"false"})]),
    "chained": ("return 1 if 0 < x < 5 else 0", "0 < x < 5", [(2, {"true"}), (7, {"false"})]),
}


@pytest.mark.parametrize("kind", BODY)
def test_each_kind_of_decision_is_counted_and_the_code_returns_the_same(kind: str) -> None:
    body, text, cases = BODY[kind]
    plain, changed, decisions, counter = _rewritten(f"def f(x):\n {body}\n")
    for given, expected in cases:
        counter.clear()
        assert changed["f"](given) == plain["f"](given)
        assert _taken(decisions, counter, text) == expected


ARRAYS: dict[str, tuple[str, str, set[str]]] = {
    "mask": ("return x[x > 2].sum()", "x > 2", {"true", "false"}),
    "where": ("return np.where(x < 0, 0, x).sum()", "x < 0", {"false"}),
    "minimum": ("return np.minimum(x, 2).sum()", "np.minimum(x, 2)", {"changed"}),
    "clip": ("return x.clip(0, 9).sum()", "x.clip(0, 9)", {"changed"}),
    "cast": ("return x.astype(np.int8).sum()", "x.astype(np.int8)", {"kept"}),
    "cast by word": ("return x.astype(dtype='int8', copy=False).sum()", "?", set()),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_masks_clips_and_casts_of_arrays_are_counted(kind: str) -> None:
    body, text, expected = ARRAYS[kind]
    plain, changed, decisions, counter = _rewritten(f"import numpy as np\ndef f(x):\n {body}\n")
    counter.clear()
    given = np.array([1, 2, 3, 4])
    assert changed["f"](given) == plain["f"](given)
    if text != "?":
        assert _taken(decisions, counter, text) == expected


def test_a_cast_that_changes_a_value_says_so() -> None:
    _, changed, decisions, counter = _rewritten("def f(x):\n return x.astype('int8')\n")
    changed["f"](np.array([300]))
    assert _taken(decisions, counter, "x.astype('int8')") == {"changed"}


def test_a_test_that_ends_in_raise_is_no_decision() -> None:
    source = "def f(x):\n if x < 0 or x > 9:\n  raise ValueError(x)\n assert x != 5\n return x\n"
    *_, decisions, _ = _rewritten(source)
    assert [one.text for one in decisions] == ["f"]


def test_decorators_docstrings_and_future_imports_stay_where_they_are() -> None:
    source = (
        '"""A module."""\nfrom __future__ import annotations\nimport functools\n'
        "class A:\n    '''A class.'''\n    @functools.cached_property\n    def x(self) -> int:\n"
        "        '''A value.'''\n        return 1 if self else 2\n"
    )
    plain, changed, _, _ = _rewritten(source)
    assert changed["A"]().x == plain["A"]().x == 1
    assert changed["A"].x.__doc__ == "A value."


def test_the_sides_of_a_comparison_of_two_numbers_are_kept() -> None:
    _, changed, decisions, counter = _rewritten("def f(x):\n return 3 if len(x) >= 50 else 4\n")
    changed["f"]([0] * 20)
    number = next(i for i, one in enumerate(decisions) if one.text == "len(x) >= 50")
    assert counter.sides[number] == (20.0, 50.0)


CONSTANTS: dict[str, tuple[str, int]] = {
    "literal": ("def f(x):\n return x > 43\n", 43),
    "name of the module": ("LIMIT = 512\ndef f(x):\n return x > LIMIT\n", 512),
    "product": ("N = 3 * 1500\n", 4500),
    "shift": ("N = 1 << 14\n", 16384),
    "power": ("def f(x):\n return x > 2 ** 11\n", 2048),
    "whole float": ("N = int(2e3)\n", 2000),
    "product of names": ("A = 60\nB = A * 24\n", 1440),
    "default": ("def f(x, chunk=77):\n return x\n", 77),
    "list": ("SIZES = [8, 130]\n", 130),
    "dict": ("D = {'most': 321}\n", 321),
    "slice": ("def f(x):\n return x[:19]\n", 19),
    "attribute": ("class A:\n    most: int = 55\n", 55),
    "type by name": ("import numpy as np\ndef f(x):\n return x.astype(np.int16)\n", 32768),
    "type in words": ("def f(x):\n return x.astype('uint8')\n", 256),
}


@pytest.mark.parametrize("way", CONSTANTS)
def test_whole_numbers_are_found_however_they_are_written(way: str) -> None:
    source, expected = CONSTANTS[way]
    assert expected in whole_constants(ast.parse(source))


def test_sizes_lie_beside_a_constant_and_well_beyond_it() -> None:
    assert set(around(10)) == {9, 10, 11, 20, 41}
    assert set(around(0)) == {0, 1}


def test_a_remainder_is_left_by_a_sum_of_two_constants() -> None:
    found = set(sums([7, 1024]))
    assert any(size % 1024 == 7 and size > 900 for size in found)


def test_the_counter_passes_on_what_a_comparison_raises() -> None:
    _, changed, _, _ = _rewritten("def f(x):\n return x < 3\n")
    compare: Callable[[Any], Any] = changed["f"]
    with pytest.raises(TypeError):
        compare("a")
