"""Rewritten code does what it did, and each of its decisions is counted.

Every case would miss a rewriter that leaves its kind of decision as it is, and one that changes
what the code returns.
"""

import ast
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.paths.constants import around, sums, whole_constants
from dpassay.verifiers.paths.counting import DecisionCounter
from dpassay.verifiers.paths.decision import Decision
from dpassay.verifiers.paths.decisions import COUNTER, rewrite


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
    "clip": ("return x.clip(0, 9).sum()", "x.clip(0, 9)", {"kept"}),
    "clip that changes": ("return x.clip(0, 3).sum()", "x.clip(0, 3)", {"changed"}),
    "clip by the module": (
        "return np.clip(x, 0, a_max=3).sum()",
        "np.clip(x, 0, a_max=3)",
        {"changed"},
    ),
    "cast by the module": (
        "return np.astype(x, np.int8).sum()",
        "np.astype(x, np.int8)",
        {"kept"},
    ),
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


ALIKE: dict[str, str] = {
    "clip of a draw": (
        "import numpy as np\nrng = np.random.default_rng(0)\n"
        "def f():\n return np.clip(rng.normal(size=2), -1, 1), rng.normal()"
    ),
    "minimum of what is taken off": (
        "import numpy as np\nleft = [3, 2, 1]\ndef f():\n return np.minimum(left.pop(), 5), left"
    ),
    "clip of what is awaited": (
        "import asyncio\nimport numpy as np\nseen = []\n"
        "async def g():\n seen.append(1)\n return 7\n"
        "async def h():\n return np.fmin(await g(), 5), seen\ndef f():\n return asyncio.run(h())"
    ),
    "clip of the target's own": (
        "class A:\n n = 0\n def clip(self, x):\n  self.n += 1\n  return x\n"
        "def f():\n a = A()\n return a.clip(3), a.n"
    ),
    "cast that is not there": (
        "seen = []\ndef f():\n try:\n  return [].astype(seen.append(1))\n"
        " except AttributeError:\n  return seen"
    ),
    "comparison of a large number": "def f():\n return 10**400 > 3",
    "choice of a large number": "def f():\n return min(10**400, 3), max(3, -(10**400))",
    "slice up to a large number": "def f():\n return [1, 2][: 10**400]",
    "slice of a sparse matrix": (
        "import scipy.sparse as s\ndef f():\n return s.eye(5).tocsr()[:3].toarray().tolist()"
    ),
    "slice of what counts its lengths": (
        "class A:\n n = 0\n def __len__(self):\n  A.n += 1\n  return 9\n"
        " def __getitem__(self, key):\n  return key\ndef f():\n return A()[:3], A.n"
    ),
    "cast by words in a dictionary": (
        "import numpy as np\nwords = {'dtype': 'int8'}\n"
        "def f():\n return np.ones(2).astype(**words).dtype"
    ),
    "clip by words in a dictionary": (
        "import numpy as np\nwords = {'a_min': 0, 'a_max': 1}\n"
        "def f():\n return np.clip([2, 3], **words).tolist()"
    ),
    "iterator that ends as it is made": (
        "class A:\n def __iter__(self):\n  raise StopIteration\n"
        "def f():\n try:\n  for _ in A():\n   pass\n"
        " except Exception as error:\n  return type(error).__name__"
    ),
    "iterator that gives no iterator": (
        "class B:\n n = 0\n def __next__(self):\n  self.n += 1\n  if self.n > 3:\n"
        "   raise StopIteration\n  return self.n\nclass A:\n def __iter__(self):\n  return B()\n"
        "def f():\n found = []\n for each in A():\n  found.append(each)\n return found"
    ),
    "comparison of what tells its class when asked": (
        "class A:\n n = 0\n @property\n def __class__(self):\n  A.n += 1\n  return str\n"
        " def __gt__(self, other):\n  return True\ndef f():\n return A() > 3, A.n"
    ),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_rewritten_code_does_what_the_source_does_and_no_more(kind: str) -> None:
    plain, changed, _, _ = _rewritten(ALIKE[kind])
    assert repr(changed["f"]()) == repr(plain["f"]())


LAZY = (
    "class Lazy:\n asked = 0\n def __bool__(self):\n  Lazy.asked += 1\n  return True\n"
    " def __eq__(self, other):\n  return self\n"
)
TRUTHS: dict[str, tuple[str, str, set[str]]] = {
    "if": ("if x:\n  return 1", "x", {"true"}),
    "comparison": ("return 1 if x == 3 else 0", "x == 3", {"true"}),
    "while": ("while x:\n  return 1", "x", {"true"}),
    "negation": ("return 1 if not x else 0", "not x", {"false"}),
    "operand of a test": ("return 1 if x and y > 1 else 0", "x", {"true"}),
    "comprehension": ("return [1 for _ in 'a' if x]", "x", {"true"}),
    "guard": ("match y:\n  case 2 if x == 3:\n   return 1", "x == 3", {"true"}),
    "value of a comparison": ("return x == 3", "x == 3", set()),
    "value of an operand": ("return x and y", "x", set()),
    "value of the last operand": ("return y and x", "x", set()),
    "value that is always true": ("return Lazy or y", "Lazy", {"true"}),
}


@pytest.mark.parametrize("kind", TRUTHS)
def test_the_truth_of_an_object_is_asked_for_as_often_as_by_the_source(kind: str) -> None:
    body, text, expected = TRUTHS[kind]
    plain, changed, decisions, counter = _rewritten(f"{LAZY}def f(x, y):\n {body}\n")
    assert (
        repr(changed["f"](changed["Lazy"](), 2)).partition(" at ")[0]
        == (repr(plain["f"](plain["Lazy"](), 2)).partition(" at ")[0])
    )
    assert changed["Lazy"].asked == plain["Lazy"].asked
    assert _taken(decisions, counter, text) == expected


@pytest.mark.parametrize(
    "decorator",
    [
        "jit",
        "njit(cache=True)",
        "numba.vectorize",
        "numba.guvectorize(['void(f8[:])'], '(n)')",
        "numba.stencil",
        "cfunc('f8(f8)')",
        "torch.jit.script",
        "functools.partial(jax.jit, static_argnums=0)",
    ],
)
def test_functions_that_are_compiled_are_left_as_they_are(decorator: str) -> None:
    source = (
        f"@{decorator}\ndef f(x):\n def g(y):\n  return y[:3]\n return g(x) if x > 3 else 0\n"
        "@functools.cache\ndef h(x):\n return x > 4\n"
    )
    tree, decisions = rewrite(source, "a.py", 0)
    assert ast.dump(tree.body[0]) == ast.dump(ast.parse(source).body[0])
    assert [one.text for one in decisions] == ["h", "x > 4"]


@pytest.mark.parametrize(
    "source",
    [
        b"# coding: latin-1\nz = '\xe9\xe9', 1 if 'abcd' > 'ab' else 0\n",
        "\ufeffz = '\u00e9\u20ac', 1 if 'abcd' > 'ab' else 0\n".encode(),
        "'\x0c\u2028\x0b\\\r\n'\r\nz = '\u00e9', 1 if 'abcd' > 'ab' else 0\r\n",
        "z = ('\u00e9', 1 if 'abcd' >\r\n   'ab' else 0)\n",
    ],
)
def test_the_text_of_a_decision_is_right_whatever_letters_stand_before_it(
    source: str | bytes,
) -> None:
    _, decisions = rewrite(source, "a.py", 0)
    assert [one.text for one in decisions] == ["'abcd' > 'ab'"]


def test_the_file_is_not_split_anew_for_each_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    def split(*_: object) -> None:
        raise AssertionError("splits the whole file")

    monkeypatch.setattr(ast, "get_source_segment", split)
    _, decisions = rewrite("def f(x):\n return x > 3\n", "a.py", 0)
    assert [one.text for one in decisions] == ["f", "x > 3"]


def _module(name: str, counter: DecisionCounter | None) -> ModuleType:
    """A module anew, rewritten where there is a counter."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    module = importlib.util.module_from_spec(spec)
    code: Any = Path(spec.origin).read_bytes()
    if counter is not None:
        code, _ = rewrite(code, spec.origin, 0)
        setattr(module, COUNTER, counter)
    exec(compile(code, spec.origin, "exec", dont_inherit=True), module.__dict__)
    return module


NUMBERS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
ARRAY = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0], [2.0, 6.0, 5.0]])
PROSE = "Each vote  counts once;\n\tno teacher votes more-than-once. " * 3
WORKS: dict[str, Callable[[Any], Any]] = {
    "statistics": lambda m: [
        m.mean(NUMBERS),
        m.median_grouped(NUMBERS),
        m.multimode(NUMBERS),
        m.stdev(NUMBERS),
        m.quantiles(NUMBERS, n=7),
        m.linear_regression(NUMBERS, NUMBERS[::-1]),
        m.NormalDist(2, 3).overlap(m.NormalDist(4, 1)),
        m.NormalDist().inv_cdf(0.999),
    ],
    "fractions": lambda m: [
        m.Fraction("-3.14e-2") ** -2,
        m.Fraction(355, 113).limit_denominator(40),
        m.Fraction(7, 3) // m.Fraction(-2, 5) < 3,
        hash(m.Fraction(1, 3)),
        round(m.Fraction(7, 2)),
    ],
    "heapq": lambda m: [
        list(m.merge(sorted(NUMBERS), [2, 7], [])),
        m.nlargest(4, NUMBERS, key=lambda one: -one),
        m.nsmallest(4, NUMBERS),
        m.nsmallest(1, NUMBERS),
    ],
    "textwrap": lambda m: [
        m.wrap(PROSE, 17, max_lines=4, initial_indent="* "),
        m.fill(PROSE, 9, break_long_words=True),
        m.dedent("  a\n\n    b\n  c"),
        m.indent(PROSE, "> "),
        m.shorten(PROSE, 31),
    ],
    "random": lambda m: [
        (rng := m.Random(8)).sample(range(99), 9),
        rng.choices("abc", [3, 1, 2], k=9),
        rng.gammavariate(0.3, 2),
        rng.vonmisesvariate(1, 4),
        rng.triangular(),
        rng.randrange(5, 50, 7),
        rng.random(),
    ],
    "difflib": lambda m: [
        list(m.unified_diff(PROSE.split(), [*PROSE.upper().split(), "once;"])),
        list(m.ndiff(["one\n", "two\n"], ["ore\n", "tree\n", "two\n"])),
        m.get_close_matches("appel", ["ape", "apple", "peach"]),
    ],
    "colorsys": lambda m: [m.rgb_to_hls(0.1, 0.7, 0.3), m.hsv_to_rgb(0.83, 0.4, 0.2)],
    "shlex": lambda m: [m.split('a \'b c\' "d\\" e" f\\ g # h', comments=True), m.quote("it's")],
    "fnmatch": lambda m: [m.translate("a[!b-d]*?.[x-a]y*"), m.filter(["ab", "b"], "a*")],
    "json.encoder": lambda m: [*m.JSONEncoder(indent=1).iterencode({"a": [1, None, 2.5, "é"]})],
    "graphlib": lambda m: [*m.TopologicalSorter({1: {2, 3}, 2: {3}}).static_order()],
    "calendar": lambda m: [m.TextCalendar(6).formatmonth(2024, 2), m.monthrange(1900, 2)],
    "numpy.lib._arraypad_impl": lambda m: [
        m.pad(ARRAY, 2, mode) for mode in ("constant", "reflect", "wrap", "linear_ramp")
    ],
    "numpy.lib._arraysetops_impl": lambda m: [
        m.unique(NUMBERS, return_index=True, return_counts=True),
        m.isin(NUMBERS, [1, 5, 70]),
        m.setxor1d(NUMBERS, [1, 5, 70]),
    ],
    "numpy.lib._histograms_impl": lambda m: [
        m.histogram(NUMBERS, bins) for bins in ("auto", "fd", 4, [1, 4, 9])
    ],
    "numpy.lib._nanfunctions_impl": lambda m: [
        m.nanmedian(ARRAY, axis=0),
        m.nanquantile(ARRAY, 0.3),
        m.nanvar(ARRAY),
    ],
    "scipy.stats._entropy": lambda m: [
        m.entropy(NUMBERS),
        m.entropy(ARRAY, ARRAY.T, base=2),
        m.differential_entropy(NUMBERS, method="ebrahimi"),
    ],
    "scipy.special._logsumexp": lambda m: [m.logsumexp(ARRAY, axis=1), m.softmax(ARRAY)],
}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("name", WORKS)
def test_modules_of_others_give_the_same_results(name: str) -> None:
    counter = DecisionCounter()
    plain, changed = _module(name, None), _module(name, counter)
    counter.clear()
    assert repr(WORKS[name](changed)) == repr(WORKS[name](plain))
    assert counter.taken
