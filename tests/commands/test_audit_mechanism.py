"""`dpassay audit --mechanism`: adversaries on records, beside exact costs and theory."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, get_args

import click
import numpy as np
import pytest
from typed import assert_misuse, typed

from dpassay.attacks.auditing import region
from dpassay.attacks.private_prediction import Pate, PromptPate, divergences, experiments
from dpassay.attacks.private_prediction.adversaries import Adversary, Attack, asked
from dpassay.attacks.private_prediction.audited import Audited, Terms, audited, surely_changed
from dpassay.attacks.private_prediction.deployments import Mechanism
from dpassay.attacks.private_prediction.neighbours import Source
from dpassay.reference import parse_noise
from dpassay.reference.ensembles.teachers import LEARNERS
from dpassay.reference.parallel.executors import Here
from dpassay.verifiers.commands import audit_mechanism
from dpassay.verifiers.commands.audit import audit
from dpassay.verifiers.commands.audit_mechanism import MechanismAudit
from dpassay.verifiers.findings.report import Verdict

ORDERS = np.array([2.0, 8.0])
NOISE = parse_noise("gaussian:2")
MOVED = np.array([-1, 1, 0])


def attack(adversary: Adversary, queries: int = 3) -> Attack:
    """One vote of 20 moves, between classes further and further apart."""
    found = []
    for gap in range(queries):
        here = np.array([10 + gap, 10 - gap, 0])
        found.append(asked(gap, PromptPate(NOISE, here, here + MOVED)))
    return Attack(adversary, "a record", tuple(found))


def terms(**other) -> Terms:
    given = {"orders": ORDERS, "times": 1, "experiments": 10**6, "alpha": 1e-6, "seed": 0}
    return Terms(**given | other)


def test_a_repeated_query_counts_as_often_as_it_is_asked() -> None:
    made = attack(Adversary.POIS_MIAQ)
    once = audited(made, terms(), Here())
    often = audited(made, terms(times=7), Here())
    worst = max(divergences(a.worlds, [2.0]).max() for a in made.asked)
    assert once.exact[0] == pytest.approx(worst)
    assert (once.queries, often.queries) == (1, 7)
    for name in ("charged", "theory", "changed", "exact", "two_cut", "region"):
        assert getattr(often, name) == pytest.approx(7 * getattr(once, name))


@pytest.mark.slow("over half a second")
def test_natural_queries_add_up_and_share_the_error() -> None:
    made = attack(Adversary.POIS_MINQ)
    found = audited(made, terms(times=7), Here())
    each = [divergences(a.worlds, ORDERS) for a in made.asked]
    assert found.exact == pytest.approx(np.sum(each, 0).max(0))
    bounds = np.zeros((2, ORDERS.size))
    for a in made.asked:
        rng = np.random.default_rng([0, a.query])
        bounds += region(experiments(a.worlds, 10**6, rng), ORDERS, 1e-6 / 6)
    assert found.region == pytest.approx(bounds.max(0))


def test_adversaries_share_the_error(monkeypatch) -> None:
    """Of three, the first is audited at a third."""
    asked_at = []

    def stopped(attack: Attack, terms: Terms, executor: object, *, anew: bool) -> Audited:
        asked_at.append(terms.alpha)
        raise InterruptedError

    monkeypatch.setattr(audit_mechanism, "audited", stopped)
    deployment: Any = SimpleNamespace(attacked=lambda *_: None)
    three: Any = [(adversary, "records") for adversary in tuple(Adversary)[:3]]
    work = audit_mechanism.Work(Here(), None, anew=False)
    with pytest.raises(InterruptedError):
        audit_mechanism.audit_mechanism(deployment, three, terms(alpha=0.03), 1e-5, work)
    assert asked_at == pytest.approx([0.01])


@pytest.mark.parametrize("anew", [False, True])
def test_bounds_come_near_the_exact_cost_and_do_not_exceed_it(anew) -> None:
    """Above it once in a million; a tenth below it means another pair of worlds was counted."""
    found = audited(attack(Adversary.NAT_MIAQ), terms(), Here(), anew=anew)
    for bound in (found.two_cut, found.region):
        assert (bound <= found.exact * (1 + 1e-9)).all()
        assert (bound > 0.8 * found.exact).all()
    assert (found.exact <= found.changed * (1 + 1e-9)).all()
    assert (found.changed <= found.theory).all()


@pytest.mark.slow("any work is the same over any workers in test_workers")
# scipy's line search silences its warning by a filter that threads share, and may undo for another
@pytest.mark.filterwarnings("ignore::scipy.optimize._linesearch.LineSearchWarning")
def test_running_code_gives_the_same_counts_over_any_workers() -> None:
    made, settings = attack(Adversary.POIS_MINQ), terms(experiments=20_000)
    alone = audited(made, settings, Here(), anew=True)
    with ThreadPoolExecutor(2) as threads:
        shared = audited(made, settings, threads, anew=True)
    assert (alone.region == shared.region).all()
    assert (alone.region != audited(made, settings, Here()).region).any()


def test_the_options_offer_what_there_is() -> None:
    """They are spelled out, as the command line loads before the library does."""
    offered = {p.name: p.type.choices for p in audit.params if isinstance(p.type, click.Choice)}
    assert tuple(offered["adversaries"]) == tuple(a.value for a in Adversary)
    assert tuple(offered["mechanism"]) == get_args(Mechanism)
    assert tuple(offered["learner"]) == tuple(LEARNERS)
    assert tuple(offered["source"]) == get_args(Source)


def test_a_vote_that_may_not_move_gives_away_less_than_one_that_does() -> None:
    law = np.array([0.5, 0.4, 0.1])
    worlds = Pate(NOISE, 20, law, np.array([0.4, 0.5, 0.1]))
    found = audited(Attack(Adversary.NAT_MIAQ, "a record", (asked(0, worlds),)), terms(), Here())
    assert (found.exact < 0.1 * found.changed).all()


@pytest.mark.parametrize("seed", range(3))
def test_theory_averaged_over_too_few_votes_refutes_nothing(seed) -> None:
    """The mean is heavy-tailed: of 1,000 votes it was below the exact cost in 8 of 10 runs."""
    law, altered = np.array([0.9, 0.1]), np.array([0.0, 1.0])
    worlds = Pate(parse_noise("gaussian:0.5"), 20, law, altered)
    made = Attack(Adversary.NAT_MIAQ, "a record", (asked(0, worlds),))
    settings = terms(orders=np.array([1.25]), experiments=10**8, seed=seed)
    found = audited(made, settings, Here())
    assert MechanismAudit.of(made, found, settings, 1e-6).verdict is Verdict.PASS
    assert found.charged == pytest.approx(1.25 / 0.25)


def test_sums_over_teachers_trained_once_are_said_to_be_no_bounds() -> None:
    """A repeated query of PATE asks the same votes: 1,000 times cost .00083, not .12 (order 2)."""
    worlds = Pate(NOISE, 20, np.array([0.6, 0.4]), np.array([0.5, 0.5]))
    made = Attack(Adversary.NAT_MIAQ, "a record", (asked(0, worlds),))
    often, once = (terms(times=n, experiments=1000) for n in (1000, 1))
    assert audited(made, often, Here()).resampled
    assert not audited(made, once, Here()).resampled
    fixed = attack(Adversary.NAT_MIAQ)
    found = audited(fixed, often, Here())
    assert not found.resampled
    message = "\n".join(MechanismAudit.of(fixed, found, often, 1e-6).lines())
    assert "trained anew" not in message


def test_a_vote_that_changed_gives_away_all_that_a_changed_vote_may() -> None:
    """Votes are fixed, and a label of 1e-40 carries the cost (mpmath: 4.514 at order 20)."""
    here, there = np.array([50, 0]), np.array([49, 1])
    worlds, orders = PromptPate(NOISE, here, there), np.array([20.0])
    assert surely_changed(worlds, orders).max() == pytest.approx(4.514, abs=1e-3)
    assert divergences(worlds, orders).max() == pytest.approx(4.514, abs=1e-3)
    same = PromptPate(NOISE, np.array([45, 5]), np.array([45, 5]))
    most = max(
        divergences(PromptPate(NOISE, same.here, same.here + way), orders).max()
        for way in (MOVED[:2], -MOVED[:2])
        if (same.here + way >= 0).all()
    )
    assert surely_changed(same, orders).max() == pytest.approx(most)


def test_theory_that_labels_exceed_is_refuted() -> None:
    costs = np.array([0.1, 0.2])
    for bound, verdict in ((0.3, Verdict.FAIL), (0.05, Verdict.PASS), (0.0, Verdict.INCONCLUSIVE)):
        found = Audited(
            costs, costs, costs, costs, np.full(2, bound), np.zeros(2), 0, 1, resampled=False
        )
        audit = MechanismAudit.of(attack(Adversary.NAT_MIAQ), found, terms(), 1e-6)
        assert audit.verdict is verdict


def run(*arguments):
    return typed("audit", *arguments)


@pytest.mark.slow("trains ensembles for every adversary, twice; for one the next test does")
def test_the_command_prints_costs_and_json(tmp_path) -> None:
    arguments = ("--mechanism", "capc", "--queries", "1", "--teachers", "20", "--noise")
    more = ("gaussian:3", "--experiments", "1000000", "--order", "2", "--cache", str(tmp_path))
    done = run(*arguments, *more, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["mechanism"], found["data"], found["verdict"]) == ("capc", "digits", "pass")
    assert [each["adversary"] for each in found["audits"]] == [a.value for a in Adversary]
    for each in found["audits"]:
        assert 0 < each["exact"][0] <= each["changed"][0] <= each["theory"][0]
    text = run(*arguments, *more, "--workers", "2").stdout
    assert "nat-miaq adds" in text
    assert f"{found['audits'][0]['region'][0]:.4g}" in text  # the same, with two workers
    assert list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give TARGET, --claim FILE and --pair HISTOGRAM HISTOGRAM, or --mechanism NAME"),
        (("--teachers", "5"), "--teachers belongs to --mechanism NAME"),
        (("--mechanism", "pate", "x.py:f"), "--mechanism stands for TARGET"),
        (("--mechanism", "pate", "--data", "people.csv"), "a CSV file with --label COLUMN"),
        (("--mechanism", "pate", "--data", "a.csv", "--label", "x"), "a.csv: not read"),
        (("--mechanism", "pate", "--label", "x"), "digits has its own labels"),
        (("--mechanism", "pate", "--queries", "400"), "400 queries: digits has 1 to 360"),
        (("--mechanism", "capc", "--teachers", "2000"), "2000 teachers: expected 1 to 1437"),
        (("--mechanism", "capc", "--group", "51"), "51 records altered: expected 1 to 50"),
        (("--mechanism", "pate", "--noise", "laplace:3", "--queries", "1"), "expected gaussian"),
        (
            ("--mechanism", "pate", "--source", "train"),
            "--source belongs to --mechanism private-knn",
        ),
        (("--mechanism", "private-knn", "--learner", "tree"), "--mechanism pate or capc"),
        (("--mechanism", "pate", "--order", "1"), "order 1: expected a finite number"),
        (("--mechanism", "capc", "--workers", "2", "--dask", "x"), "give one or the other"),
    ],
)
def test_misuse_is_one_line(tmp_path, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    assert_misuse(run(*arguments), message)


@pytest.mark.slow("over half a second")
def test_each_prompt_is_told_and_the_best_is_taken() -> None:
    """Catches a prompt that is left out, costs of another one, and a mean that is a sum."""
    arguments = ("--mechanism", "prompt-pate", "--queries", "4", "--teachers", "12", "--order", "2")
    more = ("--experiments", "10000", "--adversary", "pois-minq", "--noise", "gaussian:3")
    done = run(*arguments, *more, "--json")
    assert done.returncode in (0, 3), done.stderr
    (audit,) = json.loads(done.stdout)["audits"]
    tried = {each["crafted"].split("`")[1]: each["exact"][0] for each in audit["tried"]}
    kinds = [name.partition(":")[0] for name in tried]
    assert kinds == ["confident", "unconfident", "all same", "mapping"]
    chosen = audit["crafted"].split("`")[1]
    assert tried[chosen] == pytest.approx(audit["exact"][0]) == max(tried.values())
    assert len(set(tried.values())) > 1
    # the larger direction of each query, at least the larger direction of the sum
    assert 4 * audit["mean_exact"][0] == pytest.approx(audit["exact"][0], rel=0.3)
    text = run(*arguments, *more).stdout
    assert "mean of one" in text
    assert f"{audit['mean_exact'][0]:.4g}" in text
    assert all(f"`{name}`" in text for name in tried)
    assert all(f"{cost:.4g}" in text for cost in tried.values())


def test_a_group_says_what_it_refutes_of_one_record() -> None:
    """Four records: a ninth at four times the order, a sixteenth of a claim of Gaussian noise."""
    arguments = ("--mechanism", "capc", "--queries", "2", "--teachers", "20", "--noise")
    more = ("gaussian:3", "--experiments", "1000000", "--adversary", "pois-miaq", "--order", "1.5")
    done = run(*arguments, *more, "--order", "2", "--group", "4", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (audit,) = found["audits"]
    assert found["group"] == audit["records_altered"] == 4
    assert audit["charged"][1] == pytest.approx(16 * 2 / 9, rel=0.5)  # of four, by Theorem 6
    any_claim, gaussian = audit["refuted_of_one_record"]
    assert any_claim["orders"] == [8.0]  # group privacy says nothing below order 2
    assert any_claim["two_cut"] == pytest.approx([audit["two_cut"][1] / 9])
    assert gaussian["orders"] == [1.5, 2.0]
    assert gaussian["region"] == pytest.approx([bound / 16 for bound in audit["region"]])


def test_of_samples_no_claim_of_gaussian_noise_is_refuted() -> None:
    """Several records of a sample cost no whole number of times as much as one."""
    arguments = ("--mechanism", "private-knn", "--queries", "1", "--teachers", "10")
    more = ("--experiments", "1000", "--order", "2", "--group", "2", "--adversary", "nat-miaq")
    done = run(*arguments, *more, "--json")
    (audit,) = json.loads(done.stdout)["audits"]
    assert [each["claims"] for each in audit["refuted_of_one_record"]] == ["of any mechanism"]
