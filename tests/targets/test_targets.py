"""Targets in a process of their own: what is passed on, and what every broken one says."""

from pathlib import Path

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.targets import (
    InProcessTarget,
    Refused,
    TargetError,
    checked_labels,
    open_target,
)
from dpassay.verifiers.targets.spec import split_spec

FILE = Path(__file__).parents[1] / "aggregators.py"
HISTOGRAM = np.array([100, 90, 60])
CALL = r"aggregate\(\[100, 90, 60\], size=5\)"


def ask(name, timeout=20.0):
    target = open_target(f"{FILE}:{name}", timeout)
    try:
        return checked_labels(target.ask(HISTOGRAM, 5), HISTOGRAM, 5, may_refuse=False)
    finally:
        target.close()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("name", ["correct", "aggregator", "chatty"])
def test_callables_and_objects_answer(name, capfd) -> None:
    labels = ask(name)
    assert labels.dtype == np.int64
    assert labels.shape == (5,)
    assert capfd.readouterr().out == ""  # what a target prints must not spoil --json


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", rf"{CALL} raised RuntimeError: no model at aggregators.py:\d+, in raises$"),
        ("not_a_number", f"{CALL} returned label nan at place 0: allowed are 0 to 2"),
        ("too_few", rf"{CALL} returned an array of shape \(4,\): expected 5 labels"),
        (
            "out_of_range",
            f"{CALL} returned label 3 at place 0: allowed are 0 to 2, and 0 never came: does the "
            "target count classes from 1, or more than 3",
        ),
        (
            "refuses_unasked",
            f"{CALL} returned label -1 at place 0: allowed are 0 to 2; -1 is a refusal: ",
        ),
        ("words", f"{CALL} returned labels of type text: expected whole numbers"),
        ("fractions", f"{CALL} returned label 0.5"),
        ("nothing", f"{CALL} returned None: expected 5 labels"),
        ("in_place", f"{CALL} raised ValueError: .* the histogram given is read-only, copy it"),
        ("dies", f"{CALL}: the target's process ended with status 3"),
        ("missing", "has no attribute 'missing'"),
        (
            "Aggregator",
            "is a class: name an instance of it, .*aggregators.py:aggregator where aggreg",
        ),
    ],
)
def test_broken_targets_are_one_line(name, words) -> None:
    with pytest.raises(TargetError, match=words) as raised:
        ask(name)
    assert "\n" not in str(raised.value)


def test_a_class_is_no_target_though_it_can_be_called() -> None:
    """Calling it makes an instance: its first reply would be a TypeError."""

    class Service:
        def __call__(self, histogram, size):
            return np.zeros(size, dtype=int)

    with pytest.raises(ValueError, match=r"Service .*class: .*instance"):
        InProcessTarget(Service)
    InProcessTarget(Service())


@pytest.mark.slow("over half a second")
def test_a_target_that_hangs_is_ended() -> None:
    with pytest.raises(TargetError, match=r"no answer .*0\.5 s"):
        ask("hangs", timeout=0.5)


@pytest.mark.slow("over half a second")
def test_a_refusal_is_no_error() -> None:
    with pytest.raises(Refused, match="closed on Saturdays"):
        ask("refuses_all")


@pytest.mark.parametrize("spec", ["targets.py", ":x", "json:", "a b:c d"])
def test_specs_that_name_nothing_are_refused(spec) -> None:
    with pytest.raises(TargetError, match=r"package.module:attr, path/to/file.py:attr, http"):
        open_target(spec, 1.0)


@pytest.mark.slow("over half a second")
def test_files_and_modules_that_do_not_load_are_named(tmp_path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_module\n")
    with pytest.raises(TargetError, match=r"broken\.py.*ModuleNotFoundError"):
        open_target(f"{broken}:x", 1.0)
    with pytest.raises(TargetError, match="no file"):
        open_target(f"{tmp_path}/none.py:x", 1.0)


def test_an_object_runs_in_place_on_a_read_only_copy() -> None:
    seen = []

    def spy(histogram, size):
        seen.append(histogram)
        return np.zeros(size)

    InProcessTarget(spy).ask(HISTOGRAM, 5)
    assert not seen[0].flags.writeable
    assert not np.shares_memory(seen[0], HISTOGRAM)


def test_an_object_that_forces_its_way_into_the_input_is_caught() -> None:
    def forces(histogram, size):
        histogram.flags.writeable = True
        histogram[0] += 1
        return [0] * size

    with pytest.raises(TargetError, match="changed the histogram"):
        InProcessTarget(forces).ask(HISTOGRAM, 5)


def test_a_spent_budget_passes_through() -> None:
    def spent(histogram, size):
        raise BudgetExhausted("all gone")

    with pytest.raises(BudgetExhausted):
        InProcessTarget(spent).ask(HISTOGRAM, 5)


def test_refusals_are_labels_where_the_claim_has_a_threshold() -> None:
    labels = checked_labels([-1, 0, 2.0, 1, -1], HISTOGRAM, 5, may_refuse=True)
    assert labels.tolist() == [-1, 0, 2, 1, -1]


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("localhost:8123", "did you mean http://localhost:8123?"),
        ("claim.toml", "a claim is named by --claim"),
        ("good.csv", "a log is named by --log"),
        ("service.py", "as in service.py:aggregate"),
    ],
)
def test_what_is_no_target_leads_to_what_was_meant(spec, meant):
    with pytest.raises(TargetError) as raised:
        split_spec(spec)
    assert str(raised.value).endswith(meant)


def test_an_object_is_asked_by_its_method_aggregate() -> None:
    """`dpassay init` took it, and `verify` did not."""

    class Aggregator:
        def aggregate(self, histogram, size):
            return [int(histogram.argmax())] * size

    assert list(InProcessTarget(Aggregator()).ask(np.array([1, 9, 2]), 2)) == [1, 1]
