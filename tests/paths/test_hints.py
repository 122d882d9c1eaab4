"""Hints at a target's source: each kind at its line, none at correct code of the same look.

Catches a hint at seeds drawn from the system, at scales of the shape alone, at labels made whole,
and a kind that correct deployments have nearly as often as broken ones.
"""

import ast
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numeric_zoo
import pytest
import table_zoo
from paths.hinted import kinds_of

import zoo
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.steering.candidates import LabelSource
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.decision import TAKEN, Decision
from dpassay.verifiers.paths.hints import (
    MADE_WHOLE,
    SCALE_OF_DATA,
    SEED_OF_DATA,
    WORDS,
    Hint,
    hints,
)
from dpassay.verifiers.paths.lines import code_hints
from dpassay.verifiers.paths.search import Search
from dpassay.verifiers.paths.shadow import Shadow
from dpassay.verifiers.targets.labels import LABELS

FOUND = {
    "rng = np.random.default_rng(int(histogram.sum()))": "seed-of-data",
    "rng = random.Random(str(histogram))": "seed-of-data",
    "np.random.seed(abs(hash(histogram.tobytes())) % 2**32)": "seed-of-data",
    "rng = np.random.default_rng(int(time.time()))": "seed-of-time",
    "random.seed(time.time_ns())": "seed-of-time",
    "rng = np.random.default_rng([7, os.getpid()])": "seed-of-process",
    "np.random.seed(secrets.randbits(16))": "seed-of-few-bits",
    "rng = random.Random(int.from_bytes(os.urandom(4)))": "seed-of-few-bits",
    "noise = rng.normal(0, 40, size).astype(int)": "made-whole",
    "noise = int(rng.normal(0, 40))": "made-whole",
    "noise = rng.normal(0, 40, size) // 1": "made-whole",
    "noisy = np.rint(histogram + rng.laplace(0, 2, size))": "made-whole",
    "noise = rng.normal(0, SIGMA / histogram.sum(), size)": "scale-of-data",
    "noise = rng.laplace(scale=histogram.max() * 0.1)": "scale-of-data",
    "noise = rng.standard_normal(size) * histogram.std()": "scale-of-data",
    "noise = rng.normal(0, 20 if histogram.max() > 9 else 40, size)": "scale-of-data",
}

NONE = [
    "rng = np.random.default_rng()",
    "rng = np.random.default_rng(secrets.randbits(128))",
    "rng = np.random.default_rng(SEED)",
    "rng = np.random.default_rng(int.from_bytes(os.urandom(16)))",
    "rng = np.random.default_rng(histogram.size)",
    "histogram = np.asarray(histogram, dtype=int)",
    "label = int((histogram + rng.normal(0, 40, size)).argmax())",
    "labels = (histogram + rng.normal(0, 40, size)).argmax(-1).astype(int)",
    "noise = rng.normal(histogram, 40)",
    "noise = rng.normal(0, 40 / len(histogram), histogram.shape)",
    "noise = rng.normal(0, 40, (size, histogram.sum()))",
    "self.kept[histogram.tobytes()] = rng.normal(0, self.sigma)",
    "half = size // 2",
]


def _kinds(statement: str) -> list[tuple[int, str]]:
    text = f"def aggregate(self, histogram, size, rng):\n    {statement}\n"
    return [(one.line, one.kind) for one in hints(ast.parse(text), "aggregator.py")]


@pytest.mark.parametrize("statement", FOUND)
def test_each_kind_is_hinted_at_its_line(statement: str) -> None:
    assert _kinds(statement) == [(2, FOUND[statement])]


@pytest.mark.parametrize("statement", NONE)
def test_what_only_looks_alike_is_not(statement: str) -> None:
    assert _kinds(statement) == []


def test_names_are_followed_through_assignments_and_tests() -> None:
    text = """
def aggregate(histogram, size):
    h = np.asarray(histogram)
    second = int(np.sort(h)[-2])
    scale = 40.0
    if second == 43:
        scale = 20.0
    noise = rng.normal(0, scale, (size, h.size))
    return (h + noise).argmax(-1)
"""
    (found,) = hints(ast.parse(text), "aggregator.py")
    assert (found.line, found.kind, found.function) == (8, "scale-of-data", 2)
    assert found.words == "the scale of the noise is made of the histogram"


def test_a_function_does_not_take_the_names_of_another() -> None:
    text = """
def one(histogram):
    scale = histogram.max()
    return scale

def other(size, scale):
    return rng.normal(0, scale, size)
"""
    assert hints(ast.parse(text), "aggregator.py") == []


TARGET = """
import time

import numpy as np


def unused(histogram):
    return np.random.default_rng(int(time.time()))


def aggregate(histogram, size):
    h = np.asarray(histogram)
    rng = np.random.default_rng(abs(hash(h.tobytes())))
    scale = 20.0 if h.max() > 240 else 40.0
    return (h + rng.normal(0, scale, (size, h.size)).round()).argmax(-1)
"""


@pytest.mark.slow("a search of seconds")
def test_two_hints_at_code_that_ran_stand_beside_a_pass(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(TARGET.replace(".round()", ".astype(int)"))
    mechanism = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
    claim = parse_claim({"mechanism": mechanism})
    asker = LabelSource(make_plan(claim, 3, True, ()), 3, 27.0, other_totals=True)
    with Shadow(f"{tmp_path / 'target.py'}:aggregate", LABELS) as shadow:
        search = Search(shadow, asker)
        search.run()
    found = code_hints(search)
    assert [one.message for one in found] == [
        "a hint, no finding: look at target.py:13: the generator's seed is made of the histogram",
        "a hint, no finding: look at target.py:15: the scale of the noise is made of the histogram",
    ]
    assert {one.code for one in found} == {"code-hint"}
    assert found[0].fields == {"file": "target.py", "line": 13, "kind": "seed-of-data"}


def _search(*functions_that_ran: int) -> Any:
    """A search of a file with functions at lines 1 and 20, and a hint of each kind in both."""
    decisions = [Decision("a.py", line, "f", (TAKEN,), shown=False) for line in (1, 20)]
    found = [
        Hint("a.py", function + 1 + place, kind, function, WORDS[kind].format(data="votes"))
        for function in (1, 20)
        for place, kind in enumerate((MADE_WHOLE, SEED_OF_DATA, SCALE_OF_DATA))
    ]
    met = {([1, 20].index(line), TAKEN) for line in functions_that_ran}
    shadow = SimpleNamespace(decisions=decisions, hints=found)
    exercised = SimpleNamespace(outcomes=set())
    return SimpleNamespace(shadow=shadow, exercised=exercised, met=met, spared=())


def test_functions_that_never_ran_have_no_hints_and_whole_noise_comes_last() -> None:
    assert code_hints(_search()) == []
    assert [one.fields["line"] for one in code_hints(_search(20))] == [22, 23]
    assert [one.fields["line"] for one in code_hints(_search(1, 20))] == [3, 4]


def test_whole_noise_is_no_hint_where_the_claim_has_it() -> None:
    search = _search(1)
    search.shadow.hints = [one for one in search.shadow.hints if one.kind == MADE_WHOLE]
    assert [one.fields["kind"] for one in code_hints(search)] == ["made-whole"]
    assert code_hints(search, whole=True) == []


@pytest.mark.slow("reads three zoos")
def test_each_kind_holds_five_to_one_on_the_zoos() -> None:
    """Seeds count together: no zoo has a clock, or a process, of its own."""
    broken, correct = Counter[str](), Counter[str]()
    for zoo_of in (zoo, numeric_zoo, table_zoo):
        for count, entries in ((broken, zoo_of.BROKEN), (correct, zoo_of.CORRECT)):
            for entry in entries:
                count.update({kind.partition("-")[0] for kind in kinds_of(entry)})
    assert min(broken[kind] for kind in ("seed", "made", "scale")) >= 5
    for kind in ("seed", "made", "scale"):
        assert broken[kind] >= 5 * correct[kind], (kind, broken[kind], correct[kind])
