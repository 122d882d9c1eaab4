"""`gradient-leakage`: a warning where nothing forbids it, a failure above the claimed limit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, outcome

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.finding import Outcome
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.gradient_leakage import GradientLeakage
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.registry import SHARES

GRADIENT = (
    'name = "noisy-gradient"\nnoise = "{}"\nadjacency = "add-remove"\n'
    "shapes = [[4], [2, 2]]\nclip_norm = 1.0\ndivide_by = 8"
)
LEAKAGE = (
    '[leakage]\nmodel = "model.py:gradients"\ndata = "people.csv"\nlabel = "income"\n'
    'attribute = "sex"\nbatch = 8\n'
)
MODEL = """
import numpy as np
def gradients(records, labels):
    return np.tile(records, 2)[:, :8] * (1.0 + labels[:, None])
def narrow(records, labels):
    return records
def broken(records, labels):
    raise RuntimeError("no weights")
"""


@pytest.fixture(autouse=True)
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model, 600 people of whose features the first tells the sex, and few shadow batches."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._SHADOW", 200)
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._CHOOSING", 100)
    (tmp_path / "model.py").write_text(MODEL)
    rng = np.random.default_rng(0)
    lines = ["sex,a,b,c,income"]
    for number in range(600):
        sex = int(number % 5 < 2)
        row = [sex, *rng.normal((2 * sex - 1, 0, 0)).round(4), number // 5 % 2]
        lines.append(",".join(map(str, row)))
    (tmp_path / "people.csv").write_text("\n".join(lines))


def made(noise: str = "gaussian:0.5", rest: str = "", gate: str = "") -> NumbersClaim:
    return claimed(GRADIENT.format(noise), LEAKAGE + rest + gate)


def concluded(claim: NumbersClaim, factor: float = 1.0) -> Outcome:
    """On a target that draws so many times the claimed noise."""
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(1)

    def aggregate(tensors: Any, size: int) -> Any:
        exact = aggregation.exact(tensors)
        released = aggregation.noise.sample(exact, size, rng)
        return exact + factor * (released - exact)

    found = outcome(GradientLeakage, claim, aggregate)
    assert found is not None
    return found


@pytest.mark.slow("over half a second")
def test_leakage_that_nothing_forbids_is_a_pass_with_a_warning() -> None:
    found = concluded(made())
    assert found.verdict is Verdict.PASS
    (noted,) = found.finding.warnings
    assert (noted.code, noted.fields["attribute"]) == ("attribute-inferred", "sex")
    assert 0.3 < float(noted.fields["advantage"] or 0.0) <= 1.0
    assert found.finding.code is None
    assert found.queries == 100


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("noise", "limit", "verdict", "code"),
    [
        (1, 0.3, Verdict.FAIL, "advantage-above-limit"),
        (1, 1.0, Verdict.PASS, None),
        (10, 0.8, Verdict.PASS, None),
    ],
)
def test_a_limit_is_held(noise: int, limit: float, verdict: Verdict, code: str | None) -> None:
    found = concluded(made(f"gaussian:{noise}", f"max_advantage = {limit}"))
    assert (found.verdict, found.finding.code) == (verdict, code), found.finding.message
    assert found.finding.warnings == ()
    if code is not None:
        assert found.finding.fields["limit"] == limit
        assert float(found.finding.fields["advantage"] or 0.0) > limit


@pytest.mark.slow("over half a second")
def test_an_advantage_just_above_a_limit_is_not_certain() -> None:
    """The same simulated trials: a limit a thousandth lower is exceeded, and not for certain."""
    (noted,) = concluded(made("gaussian:2")).finding.warnings
    gained = float(noted.fields["advantage"] or 0.0)
    found = concluded(made("gaussian:2", f"max_advantage = {gained - 0.001}"))
    code = "advantage-not-certain"
    assert (found.verdict, found.finding.code) == (Verdict.INCONCLUSIVE, code), found.finding
    assert found.finding.fields["advantage"] == pytest.approx(gained)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> Outcome:
        raise ModuleNotFoundError("no sklearn", name="sklearn.linear_model")

    monkeypatch.setattr(GradientLeakage, "_played", absent)
    found = GradientLeakage(made(), None, 0).conclude(None)  # type: ignore[arg-type]
    assert found is not None
    assert (found.verdict, found.finding.code) == (Verdict.ERROR, "package-missing")
    assert found.finding.fields == {"package": "scikit-learn"}


@pytest.mark.slow("over half a second")
def test_a_limit_that_holds_is_not_accused_by_chance() -> None:
    """Noise of 10,000 clip norms: any success above chance is luck, and luck is no evidence."""
    for seed in range(4):
        claim = made("gaussian:10000", "max_advantage = 0.001")
        check = GradientLeakage(claim, None, seed)
        limit = -np.log(SHARES["gradient-leakage"] * claim.gate.false_alarm)
        assert check.log_threshold == pytest.approx(limit)
        assert concluded(claim).verdict is not Verdict.FAIL


@pytest.mark.slow("over half a second")
def test_the_verdict_is_of_the_claim_and_the_target_is_told_beside() -> None:
    """The target has no noise: what it leaks is for the checks of its noise to forbid."""
    found = concluded(made("gaussian:10", "max_advantage = 0.8"), factor=0.0)
    assert found.verdict is Verdict.PASS
    simulated = float(found.finding.message.split("sex in ")[1].split("%")[0])
    of_target = float(found.finding.message.split("; ")[1].split("%")[0])
    assert of_target > 95.0 > simulated


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("noise", ["laplace:0.01", "gaussian:0.01;grid=2^-10"])
def test_other_noise_is_simulated_as_it_is(noise: str) -> None:
    found = concluded(made(noise, "max_advantage = 0.3"))
    assert found.verdict is Verdict.FAIL, found.finding.message


@pytest.mark.slow("over half a second")
def test_releases_of_a_batch_add_up() -> None:
    one = concluded(made("gaussian:8", "max_advantage = 0.3"))
    many = concluded(made("gaussian:8", "max_advantage = 0.3\nreleases = 100"))
    assert one.verdict is not Verdict.FAIL
    assert many.verdict is Verdict.FAIL
    assert many.finding.code == "advantage-above-limit"


def test_a_model_that_does_not_do_is_named() -> None:
    for model, message in (
        ("narrow", "4 numbers"),
        ("broken", "no weights"),
        ("absent", "'absent'"),
    ):
        claim = claimed(GRADIENT.format("gaussian:1"), LEAKAGE.replace("gradients", model))
        check = GradientLeakage(claim, None, 0)
        found = check.conclude(None)  # type: ignore[arg-type]
        assert found is not None
        assert found.verdict is Verdict.ERROR
        assert found.finding.code == "model-failed"
        assert message in found.finding.message
        assert "\n" not in found.finding.message


def test_it_applies_where_the_claim_names_model_and_data() -> None:
    not_applicable = GradientLeakage.not_applicable_to
    assert not_applicable(made()) is None
    lacking = not_applicable(claimed(GRADIENT.format("gaussian:1")))
    assert lacking is not None
    assert lacking.code == "not-claimed"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (('"people.csv"', '"nobody.csv"'), "leakage.data: nobody.csv: No such file"),
        (('"sex"', '"age"'), "people.csv: no column 'age': there are sex, a, b, c, income"),
        (('"sex"', '"income"'), "expected columns other than the label"),
        (('"sex"', '"a"'), "values of a: expected 2 to 20"),
        (('"income"', '"a"'), "in column 'a': expected whole numbers from 0 to 999"),
        (("batch = 8", "batch = 0"), "leakage.batch"),
        (("batch = 8", "batches = 8"), "leakage.batches is no known key"),
    ],
)
def test_a_table_that_is_wrong_is_one_line(changed: tuple[str, str], message: str) -> None:
    with pytest.raises(ClaimError) as raised:
        claimed(GRADIENT.format("gaussian:1"), LEAKAGE.replace(*changed))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lines_of_a_file_that_are_wrong_are_named(tmp_path: Path) -> None:
    for text, message in (
        ("sex,a,income\n1,x,0\n", "people.csv, line 2: 'x' in column 'a': expected a number"),
        ("sex,a,income\n1,2\n", "line 2: 2 columns, but 3 in the header"),
        ("sex,a,income\n1,nan,0\n", "line 2: 'nan' in column 'a'"),
        ("sex,sex,income\n1,2,0\n", "line 1: expected a name of its own for each column"),
        ("sex,a,income\n", "people.csv: no records"),
        ("sex,income\n0,0\n1,1\n", "no column is left for the model"),
    ):
        (tmp_path / "people.csv").write_text(text)
        with pytest.raises(ClaimError, match="leakage") as raised:
            claimed(GRADIENT.format("gaussian:1"), LEAKAGE + "seen = false")
        assert message in str(raised.value)


def test_only_gradients_take_it() -> None:
    other = 'name = "noisy-count"\nnoise = "laplace:1"\nadjacency = "add-remove"'
    with pytest.raises(ClaimError, match=r"leakage: .*noisy-gradient .*noisy-count"):
        claimed(other, LEAKAGE)
