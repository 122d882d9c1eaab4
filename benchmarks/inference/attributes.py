"""Attribute inference from the published votes, from those of our own forests, and on digits."""

import csv
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.inference import measures
from dpassay.attacks.inference.attribute import (
    calibrated_across,
    disagreement,
    low_consensus,
)
from dpassay.attacks.inference.measures import Estimate, Roc
from dpassay.reference.ensembles.records import People, rare_digit
from dpassay.reference.ensembles.teachers import Teachers, votes_of

from ..adult import adult
from ..long_runs import DATA, KEPT
from .balanced import FullScore, judged_fully
from .learned import Stratum, auc_ahead, by_stratum, described, learned, learned_across

SEED = 0
ATTACKS = {
    "below 75 %": "consensus below 75 %",
    "calibrated": "consensus, calibrated",
    "learned": "learned",
}


class Told(NamedTuple):
    """Votes (n, 2) on people, who has the attribute (n,) of bool, and their true labels (n,)."""

    name: str
    attribute: str
    teachers: int
    trained: int
    votes: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    truths: NDArray[np.int64]
    labels: tuple[str, ...]


class Attacked(NamedTuple):
    """What the attacks on one set of votes found.

    beyond: strata by what, each with its strata and the area within them all; alone: the area of
    the true label by itself, said the better way round; ahead: of that over low consensus.
    """

    told: Told
    by_attack: dict[str, FullScore]
    beyond: dict[str, tuple[list[Stratum], Estimate]]
    alone: Estimate
    alone_curve: Roc
    ahead: Estimate


def data_is_here() -> bool:
    return (DATA / "wang2022_adult_histograms.csv").is_file()


def all_votes(executor: Executor) -> list[Told]:
    """The published votes and those of our own forests on Adult, where there is data; digits."""
    rare = rare_digit()
    found = [trained("rare digit", rare, 50, executor)]
    if not data_is_here():
        return found
    people = adult(DATA)
    own = trained("Adult, trained here", people, 250, executor)
    votes, holder = published()
    order = np.append(np.flatnonzero(own.hidden), np.flatnonzero(~own.hidden))
    told = own._replace(
        name="Adult, published", votes=votes, hidden=holder, truths=own.truths[order]
    )
    return [told, own, *found]


def trained(name: str, people: People, teachers: int, executor: Executor) -> Told:
    task = people.task
    votes = votes_of(Teachers(task, "forest", teachers, SEED), executor, KEPT / "trainings")
    return Told(
        name,
        people.attribute,
        teachers,
        len(task.records),
        np.asarray(votes.histograms),
        people.hidden == 1,
        task.truths,
        task.names,
    )


def published() -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    with (DATA / "wang2022_adult_histograms.csv").open() as file:
        rows = list(csv.DictReader(file))
    votes = [[int(row["votes_low_income"]), int(row["votes_high_income"])] for row in rows]
    return np.array(votes), np.array([row["group"] == "phd" for row in rows])


def alignment() -> tuple[float, float]:
    """How published votes and true income correlate in the test file's order, and turned.

    Turned: the most, when the rows are shifted by any other number against each other.
    """
    votes, holder = published()
    people = adult(DATA)
    incomes = people.task.truths[people.hidden == 0].astype(float)
    high = votes[~holder, 1].astype(float)
    high, incomes = ((x - x.mean()) / x.std() / np.sqrt(x.size) for x in (high, incomes))
    turned = np.fft.irfft(np.fft.rfft(high) * np.conj(np.fft.rfft(incomes)), high.size)
    return float(turned[0]), float(np.abs(turned[1:]).max())


def attacked(people: Told) -> Attacked:
    hidden, scores = people.hidden, disagreement(people.votes)
    features = described(people.votes)
    model = learned(features, hidden, seed=SEED)
    by_attack = {
        "below 75 %": judged_fully(scores, low_consensus(people.votes), hidden),
        "calibrated": judged_fully(scores, calibrated_across(scores, hidden, seed=SEED), hidden),
        "learned": judged_fully(model, learned_across(features, hidden, seed=SEED), hidden),
    }
    beyond = {
        what: (by_stratum(scores, hidden, of), measures.auc(scores, hidden, strata=of))
        for what, of in (("predicted", people.votes.argmax(1)), ("true", people.truths))
    }
    label = people.truths.astype(float)
    if measures.auc(label, hidden).value < 0.5:
        label = -label
    return Attacked(
        people,
        by_attack,
        beyond,
        measures.auc(label, hidden),
        measures.roc(label, hidden),
        auc_ahead(label, scores, hidden),
    )
