"""`dpassay audit` of noisy gradients: correct ones are never accused, of any adjacency."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from scipy.stats import binom
from typed import typed

from dpassay.attacks.auditing.two_cut import separated
from dpassay.attacks.gradients.canary_audit import epsilon_of
from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.gradients.audit import audit_gradient
from dpassay.verifiers.gradients.canary_pair import CanaryPair, gradient_of, pair_of_files
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.targets import InProcessTarget, TargetError

Rows = list[list[float]]

DELTA = 1e-5
GRADIENT = (
    'name = "noisy-gradient"\nnoise = "gaussian:1"\nadjacency = "{}"\n'
    "shapes = [[2, 2], [1]]\nclip_norm = 0.5\ndivide_by = 4{}"
)
OTHERS = [[0.1, 0.0, 0.0, 0.2, 0.0], [0.0, -0.3, 0.1, 0.0, 5.0]]
CANARY = [0.9, 0.0, 0.3, 0.0, 0.0]  # clipped, as long as any; its opposite lies 2 C away


def claim(
    adjacency: str = "add-remove", epsilon: float = 4.38, queries: int = 1, rest: str = ""
) -> NumbersClaim:
    privacy = f"[privacy]\nepsilon = {epsilon}\ndelta = {DELTA}\nqueries = {queries}\n"
    return claimed(GRADIENT.format(adjacency, rest), privacy)


def written(path: Path, rows: Rows) -> str:
    flat = np.array(rows, dtype=float)
    tensors = [flat[:, :4].reshape(-1, 2, 2).tolist(), flat[:, 4:].tolist()]
    path.write_text(json.dumps({"values": tensors}))
    return str(path)


def pair(tmp_path: Path, made: NumbersClaim, here: Rows, there: Rows) -> CanaryPair:
    return pair_of_files(
        made, written(tmp_path / "here.json", here), written(tmp_path / "there.json", there)
    )


def flipped(tmp_path: Path, made: NumbersClaim) -> CanaryPair:
    return pair(tmp_path, made, [*OTHERS, CANARY], [*OTHERS, [-v for v in CANARY]])


def deployed(
    made: NumbersClaim, factor: float = 1.0, clip: bool = True, seed: int = 0
) -> InProcessTarget:
    """A correct one; with so many times the noise; or one that does not clip."""
    aggregation, rng = gradient_of(made), np.random.default_rng(seed)

    def aggregate(tensors: Any, size: int) -> Any:
        exact = aggregation.exact(tensors)
        noise = factor * (sample(aggregation, tensors, size, rng) - exact)
        return noise + (exact if clip else aggregation.flat(tensors).sum(0) / 4.0)

    return InProcessTarget(aggregate, release=made.release)


def test_a_substitution_is_not_held_to_what_is_said_of_adding(tmp_path: Path) -> None:
    """The pair costs 10.0, the claim of add-remove is 4.38, and both are true."""
    made = claim()
    found = audit_gradient(deployed(made), made, flipped(tmp_path, made), 200_000)
    assert found.verdict is Verdict.PASS, found.refuted
    assert found.steps_of_adjacency == 2
    assert found.epsilon_exact == pytest.approx(epsilon_of(2.0, DELTA))
    assert found.epsilon_add_remove < 4.38 < found.epsilon_lower_if_gaussian < found.epsilon_exact
    assert 4.38 < found.epsilon_lower < found.epsilon_exact


def test_the_same_claim_of_substitutions_is_refuted(tmp_path: Path) -> None:
    """By any mechanism, not only by Gaussian noise."""
    made = claim("replace-one")
    found = audit_gradient(deployed(made), made, flipped(tmp_path, made), 200_000)
    assert found.verdict is Verdict.FAIL
    assert found.steps_of_adjacency == 1
    assert any("epsilon 4.38" in why and "delta 1e-05" in why for why in found.refuted)
    honest = claim("replace-one", 10.0)
    assert audit_gradient(deployed(made), honest, flipped(tmp_path, honest)).refuted == ()


def test_releases_that_compose_are_counted_together(tmp_path: Path) -> None:
    """100 releases of add-remove cost 91.8: a tenth less is refuted, by two steps of it."""
    for epsilon, verdict in ((91.9, Verdict.PASS), (82.0, Verdict.FAIL)):
        made = claim(epsilon=epsilon, queries=100)
        found = audit_gradient(deployed(made), made, flipped(tmp_path, made), 200_000)
        assert found.verdict is verdict, found.refuted
        by_gaussian = found.epsilon_lower_if_gaussian_composed
        assert found.epsilon_lower_composed < by_gaussian < found.epsilon_exact_composed


@pytest.mark.parametrize(("factor", "clip"), [(0.8, True), (1.0, False)])
def test_what_does_not_do_its_claim_is_found(tmp_path: Path, factor: float, clip: bool) -> None:
    """Even where the claimed epsilon is so large that it holds all the same."""
    made = claim(epsilon=500.0)
    found = audit_gradient(deployed(made, factor, clip), made, flipped(tmp_path, made), 20_000)
    assert found.verdict is Verdict.FAIL
    assert "noise leave 2" in found.refuted[0]


def test_worlds_far_from_where_the_claim_has_them_are_told_apart(tmp_path: Path) -> None:
    """A constant added to every release moves both worlds beyond all fixed thresholds."""
    made = claim(epsilon=500.0)
    half = deployed(made, 0.5)
    moved = InProcessTarget(lambda t, n: half.ask(t, n) + 50.0, release=made.release)
    assert audit_gradient(moved, made, flipped(tmp_path, made), 20_000).verdict is Verdict.FAIL


def test_all_thresholds_share_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []

    def recorded(counts: Any, event: Any, alpha: float, *, anytime: bool) -> Any:
        spent.append(alpha)
        return separated(counts, event, alpha, anytime=anytime)

    monkeypatch.setattr("dpassay.verifiers.gradients.audit.separated", recorded)
    made = claim()
    audit_gradient(deployed(made), made, flipped(tmp_path, made), 2_000)
    assert len(spent) == 3
    assert sum(spent) == pytest.approx(0.01)


def test_correct_ones_fail_as_seldom_as_stated(tmp_path: Path) -> None:
    """1 % of audits at most; more than the limit have probability 1e-6."""
    made = claim("replace-one", 9.998)
    asked = flipped(tmp_path, made)
    failed = [
        audit_gradient(deployed(made, seed=s), made, asked, 2000).verdict is Verdict.FAIL
        for s in range(40)
    ]
    assert sum(failed) <= binom.ppf(1 - 1e-6, 40, 0.01)


def test_too_few_releases_say_nothing(tmp_path: Path) -> None:
    made = claim()
    near = pair(tmp_path, made, [*OTHERS, CANARY], [*OTHERS, [0.89, 0.0, 0.3, 0.0, 0.0]])
    assert audit_gradient(deployed(made), made, near, 200).verdict is Verdict.INCONCLUSIVE


def test_other_noise_has_bounds_for_any_mechanism_alone(tmp_path: Path) -> None:
    for noise in ("laplace:1", "gaussian:1;grid=2^-10"):
        text = GRADIENT.format("replace-one", "").replace("gaussian:1", noise)
        made = claimed(text, f"[privacy]\nepsilon = 20.0\ndelta = {DELTA}\nqueries = 1\n")
        found = audit_gradient(deployed(made), made, flipped(tmp_path, made), 20_000)
        assert found.verdict is Verdict.PASS
        assert not {"epsilon_exact", "epsilon_lower_if_gaussian"} & set(found.public())


def test_batches_that_are_no_neighbours_are_refused(tmp_path: Path) -> None:
    two = [[0.5] * 5, [0.4] * 5]
    added, replaced = claim(), claim("replace-one")
    assert pair(tmp_path, added, OTHERS, [*OTHERS, CANARY]).steps == 1
    assert pair(tmp_path, added, [CANARY, *OTHERS], [*OTHERS[::-1], two[0]]).steps == 2
    for made, here, there, message in (
        (added, OTHERS, [*OTHERS, *two], "differ in 2 records: expected at most 1"),
        (added, OTHERS, two, "differ in 2 records"),
        (added, OTHERS, OTHERS[::-1], "the same records"),
        (replaced, OTHERS, [*OTHERS, CANARY], "other numbers of records"),
        (added, [CANARY], [[2 * v for v in CANARY]], "the same once clipped"),
    ):
        with pytest.raises(ValueError, match=message):
            pair(tmp_path, made, here, there)
    users = claim(rest='\nunit = "user"\nmax_contributions = 2')
    assert pair(tmp_path, users, OTHERS, [*OTHERS, *two]).steps == 1


def test_a_release_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    made = claim()
    target = InProcessTarget(lambda t, n: np.full((n, 5), np.nan), release=made.release)
    with pytest.raises(TargetError, match="not finite"):
        audit_gradient(target, made, flipped(tmp_path, made), 20)


MODEL = """
import numpy as np
def gradients(records, labels):  # of a linear model: error times record
    error = records @ np.array([2.0, 1.0, -1.0, 0.5, 0.0]) - 3.0 * labels
    return error[:, None] * records
def narrow(records, labels):
    return records[:, :2]
def broken(records, labels):
    raise RuntimeError("no weights")
"""
TARGET = """
import numpy as np
rng = np.random.default_rng(3)
def aggregate(tensors, size):
    flat = np.concatenate([t.reshape(len(t), -1) for t in tensors], axis=1)
    length = np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-30)
    total = (flat * np.minimum(1.0, 0.5 / length)).sum(0)
    return (total + 0.5 * rng.normal(size=(size, 5))) / 4.0
"""


@pytest.mark.slow("over half a second")
def test_the_command_crafts_a_canary_against_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "deployment.py").write_text(TARGET)
    rows = np.random.default_rng(0).normal(size=(40, 4)).round(3).tolist()
    lines = [f"{i % 2},{','.join(map(str, row))},{i // 2 % 2}" for i, row in enumerate(rows)]
    (tmp_path / "people.csv").write_text("sex,a,b,c,d,income\n" + "\n".join(lines))
    (tmp_path / "claim.toml").write_text(
        f"[mechanism]\n{GRADIENT.format('add-remove', '')}\n"
        f"[privacy]\nepsilon = 4.38\ndelta = {DELTA}\nqueries = 1\n[gate]\nmax_queries = 20000\n"
    )

    def run(*arguments: str) -> Any:
        return typed("audit", "deployment.py:aggregate", "--claim", "claim.toml", *arguments)

    data = ("--data", "people.csv", "--label", "income", "--attribute", "sex")
    done = run("--model", "model.py:gradients", *data, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    contract = ("epsilon_lower", "delta", "rdp_lower", "confidence", "queries", "verdict")
    assert {*contract, "epsilon_exact", "epsilon_substitution_composed"} <= set(found)
    assert (found["confidence"], found["queries"]) == (0.99, 20_000)
    assert 0.0 < found["epsilon_lower"] < found["epsilon_exact"] <= found["epsilon_substitution"]
    for arguments, message in (
        (("--model", "model.py:narrow", *data), "gradients of 2 numbers, but the claim's shapes"),
        (("--model", "model.py:broken", *data), "it raised RuntimeError: no weights"),
        (("--model", "model.py:absent", *data), "has no attribute 'absent'"),
        (("--model", "model.py:gradients"), "--data FILE, --label COLUMN and --attribute COLUMN"),
        (("--pair", "none.json", "none.json"), "none.json: No such file"),
        (("--pair", "people.csv", "people.csv"), "people.csv: not JSON"),
        (("--teachers", "5"), "--teachers belongs to --mechanism NAME"),
    ):
        failed = run(*arguments)
        assert failed.returncode == 2, (arguments, failed.stdout)
        assert message in failed.stderr
        assert failed.stderr.count("\n") == 1
