"""Given the teachers' votes, or queries: a teacher who counts for more, inputs that share noise."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA, mechanism
from .entry import FRESH, LAW, Shelf

VOTES = GNMAX | {"inputs": {"form": "votes"}}
LESS_NOISE = mechanism("gaussian:10", classes=4, teachers=50) | {"inputs": {"form": "votes"}}

_FILE = Path(__file__).with_name("queries.jsonl")
QUERIES = mechanism("gaussian:10", classes=5, teachers=60) | {
    "inputs": {"file": str(_FILE), "form": "query"}
}
_ROWS = [json.loads(line) for line in _FILE.read_text().splitlines()]
_HISTOGRAMS = {row["input"]: np.array(row["histogram"]) for row in _ROWS}

shelf = Shelf("forms", LAW, VOTES)
correct = Shelf("none", (), VOTES)


def weighed(
    teacher: int | None, sigma: float = SIGMA, classes: int = 10
) -> Callable[[np.ndarray, int, np.random.Generator], Any]:
    """An aggregator of votes that counts one teacher's vote three times."""

    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        histogram = np.bincount(votes, minlength=classes).astype(float)
        if teacher is not None and teacher < votes.size:  # of other totals, some are missing
            histogram[votes[teacher]] += 2.0
        return (histogram + rng.normal(0, sigma, (size, classes))).argmax(1)

    return draw


for _teacher in (0, 100, 200):
    shelf.draws(
        f"teacher-{_teacher}-thrice", f"The vote of teacher {_teacher} counts three times."
    )(weighed(_teacher))
for _teacher in (0, 30):
    shelf.draws(
        f"teacher-{_teacher}-of-50-thrice",
        f"The vote of teacher {_teacher} counts three times.",
        claim=LESS_NOISE,
    )(weighed(_teacher, 10.0, 4))
correct.draws("votes-counted", "Counts the votes that it is given.")(weighed(None))


def noisy(query: int, size: int, rng: np.random.Generator) -> Any:
    histogram = _HISTOGRAMS[query]
    return (histogram + rng.normal(0, 10.0, (size, histogram.size))).argmax(1)


@shelf.makes(
    "inputs-in-lockstep",
    "A generator for each input, seeded by its votes and a secret.",
    claim=QUERIES,
    checks=FRESH,
)
def inputs_in_lockstep(seed: int) -> Any:
    kept: dict[int, np.random.Generator] = {}

    def sample(query: int, size: int) -> Any:
        votes = _HISTOGRAMS[query].tolist()
        rng = kept.setdefault(query, np.random.default_rng([seed, *votes]))
        return noisy(query, size, rng)

    return sample


@correct.makes(
    "generator-for-each-input", "A generator for each input, seeded by a secret.", claim=QUERIES
)
def generator_for_each_input(seed: int) -> Any:
    kept: dict[int, np.random.Generator] = {}

    def sample(query: int, size: int) -> Any:
        return noisy(query, size, kept.setdefault(query, np.random.default_rng([seed, query])))

    return sample
