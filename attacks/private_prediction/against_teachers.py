"""The three adversaries against ensembles of trained teachers: PATE and CaPC."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...reference import Noise
from ...reference.arrays import Integers, Matrix, Vector
from .adversaries import (
    Adversary,
    Attack,
    WorldsQuery,
    asked,
    evenly_by_consensus,
    score_of,
    wrong_labels,
)
from .laws import laws_of, tallied
from .models import Capc, Pate
from .theory import Worlds
from .trainings import Added, Ensemble, Train

_POISONS = 20
"""Wrongly labelled queries that are tried, where one of them has to serve all queries."""


def pate(
    ensemble: Ensemble,
    teachers: int,
    noise: Noise,
    adversary: Adversary,
    train: Train,
    *,
    records: int = 1,
) -> Attack:
    """Each query of the task with PATE's votes, the altered teachers' by trainings of their own.

    ensemble: teachers on random parts (`Ensemble.drawn`); teachers: k of the deployment; records:
    how often the record is added, each time to another teacher. Choices are made on the first half
    of the trainings, and of one record; worlds are estimated on the second.
    """
    halves = _halves(len(ensemble.subsets))
    found = _votes(ensemble, adversary, train, halves[0])
    first, second = (
        (laws_of(found.plain[half], found.classes), laws_of(found.altered[half], found.classes))
        for half in halves
    )

    def worlds(laws: tuple[Matrix, Matrix], query: int, poison: int, records: int = 1) -> Pate:
        altered = laws[1][query] if adversary.repeats else laws[1][poison, query]
        return Pate(noise, teachers, laws[0][query], altered, records)

    queries = range(found.plain.shape[1])
    best = 0
    if not adversary.repeats:
        poisons = range(found.altered.shape[1])
        best = max(poisons, key=lambda p: sum(_score(worlds(first, q, p)) for q in queries))
    each = [asked(q, worlds(second, q, best, records), worlds(first, q, best)) for q in queries]
    return Attack(adversary, found.crafted[best], tuple(each), records)


def capc(
    ensemble: Ensemble,
    teachers: int,
    noise: Noise,
    adversary: Adversary,
    train: Train,
    *,
    records: int = 1,
) -> Attack:
    """Each query of the task with CaPC's votes, of the parties that give away most.

    ensemble: all parties (`Ensemble.parties`), some trainings of each; records: how often the
    record is added, each time to another party: those that give away most one by one. Against the
    adversary of natural queries the same parties serve all of them; otherwise each query has its
    own. Of several trainings choices are made on the first half, and worlds estimated on the
    second.
    """
    trainings = len(ensemble.subsets) // teachers
    halves = _halves(trainings)
    rows = np.arange(len(ensemble.subsets)).reshape(trainings, teachers)
    found = _votes(ensemble, adversary, train, rows[halves[0]].ravel())
    plain = found.plain.reshape(trainings, teachers, -1)
    altered = found.altered.reshape(trainings, teachers, *found.altered.shape[1:])
    queries = range(plain.shape[2])
    first, second = (
        (laws_of(plain[half], found.classes), laws_of(altered[half], found.classes))
        for half in halves
    )

    def options(laws: tuple[Matrix, Matrix], query: int, poison: int) -> Options:
        of_party = laws[1][:, query] if adversary.repeats else laws[1][:, poison, query]
        return Options(noise, laws[0][:, query], of_party)

    if adversary.repeats:
        pairs = [(options(first, q, 0), options(second, q, 0)) for q in queries]
        each = [_own_parties(q, *pair, records) for q, pair in enumerate(pairs)]
        best = "its best party" if records == 1 else f"its {records} best parties"
        return Attack(adversary, f"{found.crafted[0]}, at {best}", tuple(each), records)
    scores = [[options(first, q, p).scores for q in queries] for p in range(altered.shape[2])]
    totals = np.sum(scores, 1)  # (poisons, parties)
    poison = int(np.sort(totals, -1)[:, -records:].sum(-1).argmax())
    parties = _best(totals[poison], records)
    worlds = [
        [options(laws, q, poison).worlds(parties) for laws in (first, second)] for q in queries
    ]
    each = [asked(q, measured, chosen_by) for q, (chosen_by, measured) in enumerate(worlds)]
    crafted = f"{found.crafted[poison]}, at {_named(parties)}"
    return Attack(adversary, crafted, tuple(each), records)


def _score(worlds: Pate) -> float:
    """The score by `score_of`; 0 at once where the record changes no vote, as is most common."""
    return 0.0 if (worlds.law == worlds.altered).all() else score_of(worlds)


def _best(scores: Vector, records: int) -> tuple[int, ...]:
    """The places of so many highest scores, the highest first."""
    return tuple(int(i) for i in np.argsort(-scores, kind="stable")[:records])


def _named(parties: tuple[int, ...]) -> str:
    """The altered parties in words."""
    if len(parties) == 1:
        return f"party {parties[0]}"
    return f"parties {', '.join(map(str, sorted(parties)))}"


def _own_parties(query: int, first: "Options", second: "Options", records: int) -> WorldsQuery:
    """The query at the parties that give away most by the first half of the trainings."""
    best = _best(first.scores, records)
    score = float(first.scores[best[0]]) if records == 1 else score_of(first.worlds(best))
    return WorldsQuery(query, second.worlds(best), score)


class Options:
    """The parties (k, c) of one query, any one of which may be the altered one, (k, c).

    scores: what each would give away (k,). Parties that vote alike, and would vote alike when
    altered, are tried once.
    """

    def __init__(self, noise: Noise, parties: Matrix, altered: Matrix) -> None:
        self.noise, self.parties, self.altered = noise, parties, altered

    @cached_property
    def scores(self) -> Vector:
        """See the class."""
        parties, altered = self.parties, self.altered
        kinds, first, of_party = np.unique(
            np.concatenate([parties, altered], -1), axis=0, return_index=True, return_inverse=True
        )
        changed = (kinds[:, : parties.shape[1]] != kinds[:, parties.shape[1] :]).any(-1)
        scores = np.zeros(len(kinds))
        for kind in np.flatnonzero(changed):
            scores[kind] = score_of(self.worlds((int(first[kind]),)))
        return np.asarray(scores[of_party.ravel()])

    def worlds(self, parties: tuple[int, ...]) -> Worlds:
        """The two worlds, if these parties are the altered ones."""
        return Capc(self.noise, self.parties, self.altered[list(parties)], parties)


@dataclass(frozen=True)
class _Votes:
    """Votes of all teachers without the added record (t, m), and with it (t, m) or (t, a, m)."""

    plain: Integers
    altered: Integers
    classes: int
    crafted: list[str]


def _halves(trainings: int) -> tuple[Integers, Integers]:
    """The trainings to choose a record by, and those to measure it by; a single one is for both."""
    if trainings == 1:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    first, second = np.array_split(np.arange(trainings), 2)
    return first, second


def _votes(ensemble: Ensemble, adversary: Adversary, train: Train, chosen_by: Integers) -> _Votes:
    """chosen_by: the teachers (t,) by whose votes wrong labels and poisons are chosen."""
    task = ensemble.task
    plain = train(ensemble, None)
    histograms = tallied(plain[chosen_by], task.classes)
    labels = wrong_labels(histograms, task.truths) if adversary.poisons else task.truths
    if adversary.repeats:
        crafted = [adversary.adds]
        added = Added(task.queries, labels, np.arange(len(task.queries)))
    else:
        tried = evenly_by_consensus(histograms, _POISONS)
        crafted = [f"query {q} with the wrong label {task.called(labels[q])}" for q in tried]
        added = Added(task.queries[tried], labels[tried])
    return _Votes(plain, train(ensemble, added), task.classes, crafted)
