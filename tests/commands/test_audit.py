"""`dpassay audit`: lower bounds from labels, their coverage and their power."""

import json

import numpy as np
import pytest
from claims import gnmax, in_toml
from runs import claimed, drawing_with
from scipy.stats import binom
from typed import assert_misuse, typed

from dpassay.attacks.auditing import anytime_interval
from dpassay.reference import NoisyArgmax, parse_noise
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.verifiers.commands.audit_pair import audit_pair as audit
from dpassay.verifiers.findings.pair_bounds import ORDERS
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.claim import InputsClaim
from dpassay.verifiers.targets import InProcessTarget

HERE, THERE = np.array([5, 5, 0]), np.array([4, 6, 0])


def claim(noise="gaussian:2", **privacy):
    table = {"epsilon": 6.0, "delta": 1e-5, "queries": 5} | privacy
    return claimed(noise, classes=3, teachers=10, privacy=table)


def target(noise="gaussian:2", seed=0):
    return drawing_with(noise, seed)


def exact(noise):
    mechanism = NoisyArgmax(parse_noise(noise))
    p, q = (mechanism.log_probabilities(h.astype(float)) for h in (HERE, THERE))
    return np.maximum(renyi_divergence(p, q, ORDERS), renyi_divergence(q, p, ORDERS))


def test_a_pair_is_one_of_the_claimed_neighbours() -> None:
    """A teacher more or less has another total of votes, which is asked then, and then alone."""
    made = claim(epsilon=2.0, queries=1)
    less = made.model_copy(
        update={"mechanism": made.mechanism.model_copy(update={"adjacency": "add-remove"})}
    )
    found = audit(target("gaussian:0.1"), less, HERE, np.array([5, 6, 0]), 4000)
    assert found.refuted
    for here, there, facts in (
        (HERE, THERE, "no neighbours: .* teachers = 10"),
        (np.array([6, 5, 0]), np.array([6, 6, 0]), "12 votes.*10 teachers"),
    ):
        with pytest.raises(ValueError, match=facts):
            audit(target(), less, here, there, 4000)
    with pytest.raises(ValueError, match=r"11 votes.*10 teachers"):
        audit(target(), made, HERE, np.array([5, 6, 0]), 4000)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("p", [0.0, 0.002, 0.3, 0.5, 1.0])
def test_the_interval_holds_at_all_looks_at_once(p) -> None:
    """Null: it ever leaves out p in at most 10 % of runs, limit exceeded once in 1e6."""
    rng, runs, left = np.random.default_rng(0), 300, 0
    for _ in range(runs):
        draws = np.cumsum(rng.random(1000) < p)
        looks = (anytime_interval(int(draws[n - 1]), n, 0.1) for n in (1, 2, 5, 20, 100, 400, 1000))
        left += any(not low <= p <= high for low, high in looks)
    assert left <= binom.ppf(1 - 1e-6, runs, 0.1)


def test_the_interval_narrows_and_holds_its_centre() -> None:
    wide, narrow = anytime_interval(30, 100, 0.01), anytime_interval(3000, 10_000, 0.01)
    assert wide[0] < narrow[0] < 0.3 < narrow[1] < wide[1]
    assert narrow[1] - narrow[0] < 0.05
    assert anytime_interval(0, 0, 0.01) == (0.0, 1.0)


@pytest.mark.slow("over half a second")
def test_the_bounds_hold_with_the_stated_confidence() -> None:
    """Coverage: above the exact divergence in at most 1 % of 200 runs, limit exceeded 1 in 1e6."""
    truth = exact("gaussian:2")
    runs = [audit(target(seed=i), claim(), HERE, THERE, 4000) for i in range(200)]
    above = sum((np.array(run.rdp_lower)[:, 1] > truth).any() for run in runs)
    assert above <= binom.ppf(1 - 1e-6, 200, 0.01)


def test_the_bounds_come_near_the_truth() -> None:
    """Power: two thirds of the exact cost of every order, with 200,000 labels."""
    found = audit(target(), claim(), HERE, THERE, 200_000)
    assert (np.array(found.rdp_lower)[:, 1] > 0.66 * exact("gaussian:2")).all()
    assert found.verdict is Verdict.PASS


def test_epsilon_is_read_from_the_errors_of_one_event() -> None:
    """Chadha et al. 2024, section 2.2, with the logarithm that it lacks; both orders of the pair.

    Catches errors that are swapped, and those of the event's complement, whose sum is above 1.
    The exact errors are below the bounds by at most .02, 12 standard errors of 90,000 labels.
    """
    made = claim()
    for here, there in ((HERE, THERE), (THERE, HERE)):
        found = audit(target(), made, here, there, 200_000)
        assert found.errors is not None
        positive, negative = found.errors
        assert positive + negative < 1.0
        ratios = ((1 - 1e-5 - negative) / positive, (1 - 1e-5 - positive) / negative)
        assert found.epsilon_lower == pytest.approx(np.log(max(ratios)))
        one, other = (
            np.exp(NoisyArgmax(parse_noise("gaussian:2")).log_probabilities(h.astype(float)))
            for h in (here, there)
        )
        rejected = one < other
        assert one[rejected].sum() <= positive <= one[rejected].sum() + 0.02
        assert other[~rejected].sum() <= negative <= other[~rejected].sum() + 0.02


def test_labels_that_look_alike_have_no_errors() -> None:
    found = audit(target("gaussian:40"), claim("gaussian:40"), HERE, THERE, 200)
    assert found.errors is None
    assert "false" not in found.as_text()


def test_a_claim_that_labels_refute_fails() -> None:
    """Half the claimed noise: five queries cost more than the claimed epsilon."""
    made = claim(epsilon=6.0)
    assert audit(target("gaussian:2"), made, HERE, THERE, 100_000).verdict is Verdict.PASS
    assert audit(target("gaussian:1"), made, HERE, THERE, 100_000).verdict is Verdict.FAIL


def test_a_pair_of_another_total_is_not_the_claim_s() -> None:
    """Fewer votes under the same noise cost as much; what is refuted must be the claim."""
    few = np.array([2, 2, 0]), np.array([1, 3, 0])
    with pytest.raises(ValueError, match=r"\[2, 2, 0\]: 4 votes.*10 teachers"):
        audit(target(), claim(), *few, 1000)


class Remembering(InProcessTarget):
    """A deployment that draws from one histogram whatever it is asked, and keeps what that was."""

    def __init__(self, votes, noise="gaussian:2", seed=0) -> None:
        drawing, self.asked = drawing_with(noise, seed), []
        super().__init__(lambda histogram, size: self.drawn(drawing, votes, histogram, size))

    def drawn(self, drawing, votes, histogram, size):
        self.asked.append(tuple(histogram.tolist()))
        return drawing.ask(votes, size)


def test_two_deployments_are_asked_a_histogram_each() -> None:
    """Asked both, or the wrong one, neither would be told from itself."""
    here, there = Remembering(HERE), Remembering(THERE, seed=1)
    found = audit(here, claim(), HERE, THERE, 200_000, other=there)
    assert (set(here.asked), set(there.asked)) == ({(5, 5, 0)}, {(4, 6, 0)})
    assert found.verdict is Verdict.PASS
    far = Remembering(np.array([0, 10, 0]), seed=1)  # one record that moved five votes
    assert audit(here, claim(), HERE, THERE, 200_000, other=far).verdict is Verdict.FAIL


def test_two_deployments_that_take_queries_are_asked_the_same_one(tmp_path) -> None:
    """Their teachers answer it, so the second histogram stands in no file."""
    path = tmp_path / "queries.jsonl"
    path.write_text('{"input": "a", "histogram": [5, 5, 0]}\n')
    given = InputsClaim(file=str(path), form="query")
    given.read(claim().mechanism)
    made = claim().model_copy(update={"inputs": given})
    here, there = Remembering(HERE), Remembering(THERE, seed=1)
    assert audit(here, made, HERE, THERE, 1000, other=there).queries == 1000
    assert set(here.asked) == set(there.asked) == {(5, 5, 0)}
    with pytest.raises(ValueError, match=r"\[4, 6, 0\]: no input"):
        audit(here, made, HERE, THERE, 1000)


def test_too_few_labels_say_nothing() -> None:
    found = audit(target("gaussian:60"), claim("gaussian:60"), HERE, THERE, 200)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.epsilon_lower == 0


def test_the_copies_of_a_kept_label_are_no_labels() -> None:
    """Taken for fresh ones, they would refute a correct caching deployment in half of all runs."""
    made = claim(epsilon=5.0)
    kept = made.model_copy(
        update={"mechanism": made.mechanism.model_copy(update={"caching": True})}
    )
    with pytest.raises(ValueError, match=r"mechanism\.caching = true: ") as raised:
        audit(target(), kept, HERE, THERE, 1000)
    assert "\n" not in str(raised.value)


def test_a_claim_for_named_histograms_is_refuted_by_them_alone(tmp_path) -> None:
    """Half the claimed noise, as above, in a pair that the scope asks 5, 1 or 0 times."""
    path = tmp_path / "answered.csv"
    path.write_text("5,5,0\n")
    made = claim(epsilon=6.0, queries=1000, scope=str(path))
    for rows, verdict in (
        ("5,5,0\n" * 5 + "9,1,0\n" * 995, Verdict.FAIL),
        ("4,6,0\n" * 5 + "9,1,0\n" * 995, Verdict.FAIL),
        ("5,5,0\n" + "9,1,0\n" * 999, Verdict.PASS),
        ("9,1,0\n" * 1000, Verdict.PASS),
    ):
        path.write_text(rows)
        found = audit(target("gaussian:1"), made, HERE, THERE, 100_000)
        assert found.verdict is verdict
        assert found.epsilon_lower > 1
    path.write_text("5,5\nvotes\n")
    with pytest.raises(ValueError, match=r"answered\.csv"):
        audit(target(), made, HERE, THERE, 1000)


@pytest.mark.parametrize("alpha", [1e-15, 1e-17, 1e-300])
def test_intervals_hold_at_any_confidence(alpha) -> None:
    """Near the ends no float may be as unlikely as that: the interval then reaches the end."""
    for successes, trials in ((1999, 2000), (1, 2), (0, 1), (1, 1), (1, 2000)):
        low, high = anytime_interval(successes, trials, alpha)
        assert 0.0 <= low <= successes / trials <= high <= 1.0


@pytest.mark.slow("over half a second")
def test_the_command_prints_what_the_contract_says(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aggregator.py").write_text(
        "import numpy as np\nrng = np.random.default_rng(0)\n"
        "def aggregate(h, n):\n    return (h + rng.normal(0, 2, (n, len(h)))).argmax(1)\n".replace(
            "\\\n", "\n"
        )
    )
    (tmp_path / "claim.toml").write_text(
        in_toml(
            mechanism=gnmax(2, 3, 10),
            privacy={"epsilon": 6.0, "delta": 1e-5, "queries": 5},
            gate={"max_queries": 20_000},
        )
    )

    def run(*arguments):
        return typed("audit", "aggregator.py:aggregate", "--claim", "claim.toml", *arguments)

    done = run("--pair", "5,5,0", "4,6,0", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {
        *("epsilon_lower", "delta", "rdp_lower", "confidence", "queries", "verdict"),
        *("false_positives_at_most", "false_negatives_at_most"),
    }
    assert (found["confidence"], found["queries"], found["delta"]) == (0.99, 20_000, 1e-5)
    assert run("--pair", "5,5,0", "4,6,0").stdout.startswith("PASS: ")
    for pair, message in (
        (("5,5,0", "3,7,0"), "are no neighbours: expected one vote moved"),
        (("5,5", "4,6"), "the claim has 3 classes"),
        (("5,5,0", "4,x,0"), "'x' is not a whole number of votes"),
    ):
        assert_misuse(run("--pair", *pair), message)
