"""Adversaries against teachers, prompts and neighbours: what they add, choose and find."""

import numpy as np
import pytest
from clouds import NOISE, TEACHERS, parties, task, train

from dpassay.attacks.private_prediction import Capc, Pate, PrivateKnn, PromptPate, divergences
from dpassay.attacks.private_prediction.adversaries import Adversary, score_of, wrong_labels
from dpassay.attacks.private_prediction.against_prompts import Prompted, prompt_pate
from dpassay.attacks.private_prediction.against_teachers import capc, pate
from dpassay.attacks.private_prediction.deployments import PredictionDeployment
from dpassay.attacks.private_prediction.neighbours import PLACES, Knn, expected_votes, private_knn
from dpassay.attacks.private_prediction.prompting.prompts import Prompt
from dpassay.attacks.private_prediction.trainings import Ensemble
from dpassay.reference.ensembles.records import Task


def test_the_wrong_label_is_the_likeliest_of_the_wrong() -> None:
    votes = np.array([[5, 3, 1], [1, 3, 5]])
    assert wrong_labels(votes, np.array([0, 0])).tolist() == [1, 2]


@pytest.mark.slow("over half a second")
def test_a_query_that_is_added_with_a_label_decides_its_nearest_neighbour() -> None:
    """Every party then votes that label: anything else was trained on another record."""
    for adversary in (Adversary.NAT_MIAQ, Adversary.POIS_MIAQ):
        found = pate(
            Ensemble.drawn(task(), "nearest", TEACHERS, 20, 0), TEACHERS, NOISE, adversary, train
        )
        for asked, truth in zip(found.asked, task().truths, strict=True):
            worlds = asked.worlds
            assert isinstance(worlds, Pate)
            assert worlds.altered.max() == 1.0
            assert (worlds.altered.argmax() == truth) == (adversary is Adversary.NAT_MIAQ)


@pytest.mark.slow("over half a second")
def test_a_record_that_changes_nothing_gives_nothing_away() -> None:
    """Trained on other subsets than the votes without it, it would seem to by chance."""
    far = Task(
        "far",
        task().records,
        task().labels,
        np.concatenate([task().queries, [[1e6, 1e6]]]),
        np.append(task().truths, 0),
        3,
    )
    ensemble = Ensemble.drawn(far, "nearest", TEACHERS, 40, 0)

    def only_the_far_point(ensemble, added):
        if added is None:
            return train(ensemble, None)
        harmless = np.full_like(added.records, 1e6)
        return train(ensemble, type(added)(harmless, added.labels, added.asked))

    found = pate(ensemble, TEACHERS, NOISE, Adversary.POIS_MINQ, only_the_far_point)
    scores = [score_of(asked.worlds) for asked in found.asked[:-1]]
    assert max(scores) == 0.0


def test_pate_chooses_its_poison_by_other_trainings_than_it_measures() -> None:
    """The first half says that record 1 is worst, the second record 0: 1 is chosen, 0 it says."""
    clouds, half = task(), 10

    def pretended(ensemble, added):
        if added is None:
            return np.zeros((2 * half, len(clouds.queries)), dtype=np.int64)
        votes = np.zeros((2 * half, len(added.labels), len(clouds.queries)), dtype=np.int64)
        votes[:half, 1] = 1
        votes[half:, 0] = 1
        return votes

    ensemble = Ensemble.drawn(clouds, "nearest", TEACHERS, 2 * half, 0)
    found = pate(ensemble, TEACHERS, NOISE, Adversary.POIS_MINQ, pretended)
    assert all(asked.score > 0.0 for asked in found.asked)
    assert all(score_of(asked.worlds) == 0.0 for asked in found.asked)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("adversary", list(Adversary))
def test_capc_finds_its_best_party(adversary) -> None:
    """By asking for each party anew, without the classes of parties that are tried once."""
    ensemble = parties()
    kept = []

    def watched(ensemble, added):
        kept.append(train(ensemble, added))
        return kept[-1]

    found = capc(ensemble, TEACHERS, NOISE, adversary, watched)
    plain, altered = kept
    one_hot = np.eye(3)

    def score(query, party, vote):
        return score_of(Capc(NOISE, one_hot[plain[:, query]], one_hot[vote], party))

    queries, all_parties = range(plain.shape[1]), range(TEACHERS)
    if adversary.repeats:
        best = [max(score(q, p, altered[p, q]) for p in all_parties) for q in queries]
        assert [asked.score for asked in found.asked] == pytest.approx(best)
    else:
        totals = [
            sum(score(q, p, altered[p, a, q]) for q in queries)
            for p in all_parties
            for a in range(altered.shape[1])
        ]
        assert sum(asked.score for asked in found.asked) == pytest.approx(max(totals))


@pytest.mark.slow("over half a second")
def test_parties_of_a_learner_that_takes_chances_have_laws() -> None:
    found = capc(parties("tree", 8), TEACHERS, NOISE, Adversary.NAT_MIAQ, train)
    worlds = [asked.worlds for asked in found.asked]
    laws = np.concatenate([w.parties for w in worlds if isinstance(w, Capc)])
    assert ((laws > 0.0) & (laws < 1.0)).any()
    assert laws.sum(-1) == pytest.approx(1.0)


def test_prompts_are_replaced_where_most_is_given_away() -> None:
    """Each teacher says its example's label to everything, and obeys what a prompt demands."""

    def teacher(prompt, queries):
        said = prompt.examples[0][1] if prompt.always is None else prompt.always
        return np.full(len(queries), prompt.shown(said), dtype=np.int64)

    labels = [0, 0, 0, 1, 1, 2]
    prompts = tuple(Prompt("clouds", ("a", "b", "c"), (("text", y),)) for y in labels)
    asked = ["one", "two"]
    prompted = Prompted(teacher, prompts, asked, np.array([2, 0]), NOISE)
    here = np.array([3, 2, 1])

    def given_away(giver, taker):
        there = here - np.eye(3, dtype=int)[giver] + np.eye(3, dtype=int)[taker]
        return score_of(PromptPate(NOISE, here, there))

    natural = prompt_pate(prompted, Adversary.NAT_MIAQ, 0)
    assert [a.score for a in natural.asked] == pytest.approx(
        [max(given_away(g, 2) for g in (0, 1)), max(given_away(g, 0) for g in (1, 2))]
    )
    everywhere = prompt_pate(prompted, Adversary.POIS_MINQ, 0)
    most = max(given_away(g, t) for g in range(3) for t in range(3) if g != t)
    assert sum(a.score for a in everywhere.asked) == pytest.approx(2 * most)
    assert "teacher" in everywhere.crafted


@pytest.mark.parametrize("source", ["test", "train", "embedding"])
def test_the_point_that_serves_all_queries_is_expected_most(source) -> None:
    clouds = task()
    found = private_knn(Knn(clouds, 5, 0.5, NOISE), Adversary.POIS_MINQ, source)
    worlds = [asked.worlds for asked in found.asked]
    assert all(isinstance(w, PrivateKnn) for w in worlds)
    knn = [w for w in worlds if isinstance(w, PrivateKnn)]
    included = [w.inclusion for w in knn]
    points = {"test": clouds.queries, "train": clouds.records}
    if source in points:
        each = [
            float(expected_votes(p, clouds.queries, clouds.records, 5, 0.5)) for p in points[source]
        ]
        assert sum(included) == pytest.approx(max(each))
    assert len({w.label for w in knn}) == 1
    assert PLACES[source] in found.crafted


def test_a_query_among_the_records_votes_whenever_it_is_drawn() -> None:
    clouds = task()
    natural = private_knn(Knn(clouds, 5, 0.5, NOISE), Adversary.NAT_MIAQ, "test")
    poisoned = private_knn(Knn(clouds, 5, 0.5, NOISE), Adversary.POIS_MIAQ, "test")
    for one, other, truth in zip(natural.asked, poisoned.asked, clouds.truths, strict=True):
        assert isinstance(one.worlds, PrivateKnn)
        assert isinstance(other.worlds, PrivateKnn)
        assert one.worlds.inclusion == other.worlds.inclusion == 0.5
        assert one.worlds.label == truth != other.worlds.label


def deployed(mechanism, **other) -> PredictionDeployment:
    settings = {"teachers": 6, "learner": "nearest", "trainings": 20, "sampling": 0.5, "seed": 0}
    return PredictionDeployment(mechanism, task(), NOISE, **settings | other)


@pytest.mark.slow("over half a second")
def test_pate_gives_away_less_than_capc_of_a_party_that_is_known() -> None:
    """Chadha et al. 2024, section 5.4: a random partition hides whose vote the record moves."""
    worst = {
        mechanism: max(
            divergences(asked.worlds, [2.0]).max()
            for asked in deployed(mechanism, trainings=40)
            .attacked(Adversary.POIS_MIAQ, train, "test")
            .asked
        )
        for mechanism in ("pate", "capc")
    }
    assert worst["pate"] < worst["capc"]


@pytest.mark.parametrize(
    ("mechanism", "other", "message"),
    [
        ("pate", {"teachers": 61}, "61 teachers: expected 1 to 60, the records of clouds"),
        ("pate", {"trainings": 1}, "1 trainings: expected two or more"),
        ("capc", {"learner": "oracle"}, "learner 'oracle': expected one of nearest"),
        ("prompt-pate", {}, "6 teachers: expected at most"),
        ("private-knn", {"teachers": 31}, "31 neighbours: expected at most 30"),
    ],
)
def test_what_the_records_do_not_allow_is_refused_in_a_line(mechanism, other, message) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        deployed(mechanism, **other).attacked(Adversary.NAT_MIAQ, train, "test")
    assert "\n" not in str(raised.value)
