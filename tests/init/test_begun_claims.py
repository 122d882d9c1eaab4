"""`dpassay init` on plain callables: what it reads, what it fits, and what it leaves to be filled.

Each callable has noise that follows from a seed, so that no test flakes. A claim is right where the
specified values, put in place of each "?", give the claim of the specification, and where what was
fitted has them in its interval. Catches a value that is guessed, and a fit of another law.
"""

import re
import time
import tomllib

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted
from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.commands.init import asked_for
from dpassay.verifiers.init.fits import FittedValue
from dpassay.verifiers.init.labels import LabelAnswers, gather_labels
from dpassay.verifiers.init.look import look_at
from dpassay.verifiers.init.recognise import likely
from dpassay.verifiers.kinds.reading import parse_claim, unfilled_keys
from dpassay.verifiers.targets import InProcessTarget, TargetError


def begun(target, calls=600, timeout=30.0):
    """The draft of a callable that runs in this process."""
    look = look_at(target, "deployment.py:target")
    called = target.aggregate if look.spec.endswith(".aggregate") else target
    return asked_for(look, lambda release: InProcessTarget(called, release=release), calls, timeout)


def in_file(draft):
    return draft.text("deployment.py:target", "target(input, size)")


def read(draft):
    """What the target showed of itself: keys that are not left open."""
    return {key.name: key.value for key in draft.keys if not key.is_open}


def said_of(draft, name):
    """The comments of a key."""
    key = next(key for key in draft.keys if key.name == name)
    return "\n".join(key.lines())


def fitted(draft, name):
    """Family -> interval, of all noises that a key's comments name; a number alone has none."""
    found = re.findall(
        r'"?([a-z-]*):?([\d.e+-]+)[^" ]*"? \(([^ ]+) to ([^ )]+)\)', said_of(draft, name)
    )
    return {family: (float(low), float(high)) for family, _, low, high in found}


def fits(draft, name, value, family=""):
    low, high = fitted(draft, name)[family]
    return low <= value <= high and high < 2.5 * low


def filled(draft, **specified):
    """The claim, once the keys that are open are filled in; all of them must be, and no others."""
    text = in_file(draft)
    assert unfilled_keys(tomllib.loads(text))
    for key, value in specified.items():
        text, changed = re.subn(rf'^{key} = "\?"', f"{key} = {value}", text, flags=re.MULTILINE)
        assert changed == 1, key
    return parse_claim(tomllib.loads(text)).mechanism.model_dump(exclude_defaults=True, mode="json")


# -- labels --------------------------------------------------------------------------------------


def argmax(draw, classes=None, votes_of=None):
    """A callable that adds `draw(shape)` to votes; classes: the only number that it takes."""

    def target(histogram, size):
        if votes_of is not None and histogram.sum() != votes_of:
            raise ValueError(f"expected {votes_of} votes")
        return (histogram + draw((size, classes or histogram.size))).argmax(1)

    return target


def test_gnmax_of_ten_classes():
    rng = np.random.default_rng(1)
    draft = begun(argmax(lambda shape: rng.normal(0, 40, shape), classes=10))
    assert read(draft) == {"classes": 10}
    assert fits(draft, "noise", 40, "gaussian")
    assert "gnmax" in said_of(draft, "name")
    specified = {"name": '"gnmax"', "noise": '"gaussian:40"', "teachers": 250}
    claim = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
    assert filled(draft, **specified) == claim


@pytest.mark.parametrize(
    ("family", "name", "scale"), [("laplace", "lnmax", 20), ("exponential", "report-noisy-max", 5)]
)
def test_any_number_of_classes_stays_open(family, name, scale):
    rng = np.random.default_rng(2)
    draft = begun(argmax(lambda shape: getattr(rng, family)(scale=scale, size=shape)))
    assert read(draft) == {}
    assert fits(draft, "noise", scale, family)
    assert name in said_of(draft, "name")
    assert "how many are there?" in said_of(draft, "classes")
    assert "how many vote?" in said_of(draft, "teachers")


def test_the_votes_of_all_teachers_are_read_from_refusals():
    """Of 250 votes alone, as a refusal says; then no other total is claimed to be taken."""
    rng = np.random.default_rng(3)
    draft = begun(argmax(lambda shape: rng.gumbel(0, 8, shape), classes=5, votes_of=250))
    assert read(draft) == {"classes": 5, "teachers": 250}
    assert fits(draft, "noise", 8, "gumbel")


def test_confident_gnmax_is_told_by_its_refusals():
    rng = np.random.default_rng(4)

    def target(votes, size):
        labels = (votes + rng.normal(0, 40, (size, 5))).argmax(1)
        return np.where(votes.max() + rng.normal(0, 150, size) >= 200, labels, -1)

    draft = begun(target)
    assert read(draft) == {"classes": 5}
    assert 'fits: "confident-gnmax"' in said_of(draft, "name")
    assert {*fitted(draft, "noise")} == {"gaussian"}
    assert fits(draft, "noise", 40, "gaussian")
    assert fits(draft, "threshold", 200)
    assert fits(draft, "threshold_noise", 150, "gaussian")


class Screen:
    """What `LabelAnswers` asks: answers from 300 votes on, by noise of scale 15."""

    left = 600

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def ask(self, form, votes, draws):
        draws = min(draws, self.left)
        self.left -= draws
        labels = (votes + self.rng.normal(0, 40, (draws, votes.size))).argmax(1)
        return np.where(votes.max() + self.rng.normal(0, 15, draws) >= 300, labels, -1).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_the_intervals_of_a_threshold_hold(seed):
    """Catches a grid over a narrow ridge, and questions that are put where nothing turns."""
    answers = LabelAnswers(Screen(seed), "counts", 10)
    gather_labels(answers)
    threshold, scale = answers.fit_refusals()
    assert threshold.low <= 300 <= threshold.high < threshold.low + 20
    assert scale.low <= 15 <= scale.high < 4 * scale.low


@pytest.mark.slow("over half a second")
def test_keys_with_noise_far_below_their_threshold():
    """Catches a bound of the scale that shuts out the truth."""
    rng = np.random.default_rng(1)

    def target(counts, size):
        noisy = counts + rng.laplace(0, 1, (size, counts.size))
        return [[{"key": int(k)} for k in np.flatnonzero(row >= 5000)] for row in noisy]

    draft = begun(target)
    assert fits(draft, "noise", 1, "laplace")
    assert "4999." in said_of(draft, "threshold")


def test_an_interval_has_digits_by_its_width():
    assert FittedValue(5000.0, 4999.871, 5000.123).text == "5000.000 (4999.871 to 5000.123)"
    assert FittedValue(38.1, 31.84, 45.63).text == "38.1 (31.8 to 45.7)"
    assert FittedValue(0.1, -np.inf, 1.44).text == "(at most 1.44)"
    assert FittedValue(9.0, 1.44, np.inf).text == "(at least 1.44)"


@pytest.mark.parametrize("form", ["votes", "one-hot"])
def test_the_vote_of_each_teacher_is_another_form(form):
    rng = np.random.default_rng(5)

    def target(votes, size):
        if (votes.ndim == 2) != (form == "one-hot"):
            raise TypeError("another form")
        counts = votes.sum(0) if form == "one-hot" else np.bincount(votes, minlength=4)
        return (counts + rng.normal(0, 30, (size, 4))).argmax(1)

    draft = begun(target)
    assert read(draft) == {"classes": 4}
    assert tomllib.loads(in_file(draft))["inputs"] == {"form": form}
    assert fits(draft, "noise", 30, "gaussian")


def test_labels_that_do_not_follow_the_votes_have_no_noise_fitted():
    rng = np.random.default_rng(6)
    draft = begun(lambda histogram, size: rng.integers(0, histogram.size, size))
    assert fitted(draft, "noise") == {}
    assert "do not follow the votes" in said_of(draft, "noise")


def test_labels_of_another_law_have_no_noise_fitted():
    """A third of the labels are drawn alike: no noise of a noisy argmax does that."""
    rng = np.random.default_rng(7)

    def target(histogram, size):
        labels = (histogram + rng.normal(0, 20, (size, 6))).argmax(1)
        return np.where(rng.random(size) < 1 / 3, rng.integers(0, 6, size), labels)

    draft = begun(target)
    assert read(draft) == {"classes": 6}
    assert fitted(draft, "noise") == {}


def test_a_bare_argmax_is_asked_after():
    draft = begun(lambda histogram, size: np.full(size, histogram.argmax()))
    assert fitted(draft, "noise") == {}
    assert "is there noise?" in said_of(draft, "noise")


class Aggregator:
    """A deployment with a method, as a service has one."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(8)

    def aggregate(self, histogram, size):
        return (histogram + self.rng.normal(0, 15, (size, 3))).argmax(1)


def test_an_object_is_asked_by_its_method():
    look = look_at(Aggregator(), "a.py:it")
    assert (look.spec, look.called) == ("a.py:it.aggregate", "aggregate(histogram, size)")
    assert fits(begun(Aggregator()), "noise", 15, "gaussian")


def rng_of(seed):
    return np.random.default_rng(seed)


def capped(histogram, size, rng=rng_of(20)):  # noqa: B008 - one stream for all calls
    if histogram.size != 10 or histogram.sum() > 1500:
        raise ValueError("too many votes")
    return (histogram + rng.normal(0, 40, (size, 10))).argmax(1)


def fives(histogram, size, rng=rng_of(21)):  # noqa: B008
    if histogram.size % 5:
        raise ValueError("cells")
    return histogram + rng.normal(0, 4, (size, histogram.size))


def sign(histogram, size, rng=rng_of(22)):  # noqa: B008
    return np.sign(histogram[0] - histogram[1] + rng.laplace(0, 20, size)).astype(int)


def length(histogram, size, rng=rng_of(23)):  # noqa: B008
    return np.rint(histogram.size + rng.laplace(0, 3, size)).astype(int)


def total(counts, size, rng=rng_of(24)):  # noqa: B008
    return np.clip(counts, 0, 10).sum() + rng.laplace(0, 10, size)


def no_key(counts, size, rng=rng_of(25)):  # noqa: B008
    return [
        [{"label": int(k)} for k in np.flatnonzero(np.asarray(counts) > 50)] for _ in range(size)
    ]


def nothing(counts, size):
    return [[] for _ in range(size)]


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (capped, {"classes": 10}),  # any total up to 1500
        (fives, {"name": "noisy-histogram"}),  # any multiple of five
        (sign, {}),
        (length, {}),
        (total, {}),
        (no_key, {"name": "any"}),
        (nothing, {"name": "any"}),
    ],
)
def test_only_what_was_shown_is_read(target, shown):
    assert read(begun(target)) == shown


# -- what goes wrong -----------------------------------------------------------------------------


def test_a_target_that_raises_is_told_in_one_line():
    def target(histogram, size):
        raise RuntimeError("no model\nsecond line")

    with pytest.raises(TargetError, match=r"takes none of the inputs.*no model") as raised:
        begun(target)
    assert "\n" not in str(raised.value)


def test_a_budget_that_ends_leaves_what_was_answered():
    rng, left = np.random.default_rng(9), [50]

    def target(histogram, size):
        if size > left[0]:
            raise BudgetExhausted("spent")
        left[0] -= size
        return (histogram + rng.normal(0, 12, (size, 10))).argmax(1)

    draft = begun(target)
    assert draft.stopped is not None
    assert "budget was spent" in draft.stopped
    assert read(draft) == {"classes": 10}
    assert "# Stopped: the target's budget was spent" in in_file(draft)


def test_calls_of_a_limited_size_are_kept_to():
    """It stopped at the first larger call, and fitted 32 labels."""
    rng = np.random.default_rng(3)

    def target(histogram, size):
        if size > 50:
            raise ValueError("at most 50 labels a call")
        return (histogram + rng.normal(0, 40, (size, 10))).argmax(1)

    draft = begun(target)
    assert re.search(r"largest_call = \d\d in \[gate\]", in_file(draft))
    (labels,) = re.findall(r"fitted to (\d+) labels", said_of(draft, "noise"))
    assert int(labels) > 350  # of 600 answers, some of which a larger call asked for in vain


def test_a_slow_target_is_left():
    def target(histogram, size):
        time.sleep(0.004 * size)
        return np.full(size, histogram.argmax())

    began = time.monotonic()
    draft = begun(target, timeout=0.02)
    assert time.monotonic() - began < 1.0
    assert "the target is slow" in str(draft.stopped)
    assert read(draft) == {"classes": 10} or "classes" in draft.open_keys


def test_labels_from_one_on_are_asked_after():
    rng = np.random.default_rng(32)
    draft = begun(lambda votes, size: (votes + rng.normal(0, 40, (size, votes.size))).argmax(1) + 1)
    assert "are classes counted from 1?" in str(draft.stopped)
    assert fitted(draft, "noise") == {}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_leave_a_draft(bad):
    rng = np.random.default_rng(30)

    def target(counts, size):
        noisy = counts + rng.laplace(0, 4, (size, 8))
        return np.where(rng.random(noisy.shape) < 0.01, bad, noisy)

    draft = begun(target)
    assert read(draft)["cells"] == 8
    assert "no finite numbers" in said_of(draft, "noise")


@pytest.mark.parametrize("ends", ["budget", "ragged"])
def test_what_was_answered_before_a_call_stops_is_fitted(ends):
    """Catches answers of the same question that are thrown away."""
    rng = np.random.default_rng(31)

    def target(counts, size):
        releases = (counts + rng.laplace(0, 4, (size, 10))).tolist()
        if size > 32 and ends == "budget":
            raise BudgetExhausted("spent")
        if size > 32:
            del releases[-1][-1]
        return releases

    draft = begun(target)
    assert draft.stopped
    assert fits(draft, "noise", 4, "laplace")


@pytest.mark.parametrize("after", [25, 300])
def test_ctrl_c_keeps_what_was_answered(after):
    rng, asked = np.random.default_rng(10), [0]

    def target(histogram, size):
        asked[0] += size
        if asked[0] > after:
            raise KeyboardInterrupt
        return (histogram + rng.normal(0, 40, (size, 10))).argmax(1)

    draft = begun(target)
    assert draft.stopped == "it was interrupted"
    assert read(draft) == {"classes": 10}


@pytest.mark.parametrize("calls", [30, 77, 600])
def test_no_more_is_asked_than_was_said(calls):
    """Refused calls count too: catches a limit that counts answers alone."""
    rng, sizes = np.random.default_rng(11), []

    def target(histogram, size):
        sizes.append(size)
        if histogram.size != 3:
            raise ValueError("no")
        return (histogram + rng.normal(0, 40, (size, 3))).argmax(1)

    begun(target, calls)
    assert 0.5 * calls < sum(sizes) <= calls


def test_too_few_calls_to_know_anything_are_told():
    with pytest.raises(TargetError, match="nothing is known of what it releases: all 1 answers"):
        begun(argmax(np.zeros, classes=7), calls=1)


def test_without_calls_all_is_left_open():
    def labels(histogram, size):
        raise AssertionError("asked")

    def sums(records, size):
        raise AssertionError("asked")

    assert likely(look_at(labels, "a.py:b")).open_keys == ["name", "noise", "classes", "teachers"]
    assert likely(look_at(sums, "a.py:b")).open_keys == ["name", "noise", "adjacency", "dimensions"]
    for target in (lambda rows, size: None, lambda: None):
        assert read(likely(look_at(target, "a.py:b"))) == {}


def test_a_callable_of_one_argument_is_refused():
    with pytest.raises(TargetError, match="takes one argument"):
        look_at(lambda histogram: 0, "a.py:b")


# -- numbers -------------------------------------------------------------------------------------


def counts(draw, finish=lambda noisy: noisy, cells=None):
    return lambda counts, size: finish(counts + draw((size, cells or counts.size)))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("noise", "finish"),
    [
        ("laplace:2", lambda noisy: noisy),
        ("laplace:3;round", np.rint),
        ("gaussian:4;cut", np.trunc),
        ("laplace:2;grid=2^-3", lambda noisy: np.rint(noisy * 8) / 8),
        ("gaussian:5;min=0", lambda noisy: np.maximum(noisy, 0)),
        ("discrete-gaussian:1.5", lambda noisy: noisy),
        ("discrete-laplace:1;min=0", lambda noisy: np.maximum(noisy, 0)),
    ],
)
def test_a_noisy_histogram(noise, finish):
    law, rng = parse_number_noise(noise), np.random.default_rng(28)
    draft = begun(counts(lambda shape: law.family.sample(rng, shape), finish, cells=8))
    assert read(draft) == {"name": "noisy-histogram", "cells": 8}
    assert fits(draft, "noise", law.family.scale, law.family.family)
    first = re.findall(r'"([^"]+)"', said_of(draft, "noise"))[1]
    assert first.partition(";")[2] == noise.partition(";")[2]
    assert filled(draft, noise=f'"{noise}"', adjacency='"add-remove"') == {
        "name": "noisy-histogram",
        "noise": noise,
        "adjacency": "add-remove",
        "cells": 8,
    }


def test_releases_of_another_number_have_no_noise_fitted():
    """Half the counts, with noise: catches a fit that takes any numbers."""
    rng = np.random.default_rng(13)
    draft = begun(lambda counts, size: counts / 2 + rng.laplace(0, 2, (size, counts.size)))
    assert fitted(draft, "noise") == {}
    assert "what is released of the input?" in said_of(draft, "noise")
    assert "how many cells?" in said_of(draft, "cells")


def test_a_noisy_count():
    rng = np.random.default_rng(14)
    draft = begun(lambda counts, size: counts[0] + rng.laplace(0, 3, size))
    assert read(draft) == {}
    assert "noisy-count" in said_of(draft, "name")
    assert fits(draft, "noise", 3, "laplace")


def test_a_sum_of_records_within_bounds():
    rng = np.random.default_rng(15)
    draft = begun(lambda values, size: np.clip(values, -1, 2).sum(0) + rng.laplace(0, 3, (size, 3)))
    assert read(draft) == {"dimensions": 3}
    assert fits(draft, "noise", 3, "laplace")
    for key, value in (("lower", -1), ("upper", 2)):
        found = re.findall(r"fitted: \S+ \((\S+) to (\S+)\)", said_of(draft, key))[0]
        low, high = map(float, found)
        assert low <= value <= high <= low + 0.05
    assert "noisy-sum" in said_of(draft, "name")


def test_a_sum_of_records_of_bounded_norm():
    rng = np.random.default_rng(16)

    def target(records, size):
        norms = np.linalg.norm(records, axis=1, keepdims=True)
        total = (records * np.minimum(1, 2 / np.maximum(norms, 1e-9))).sum(0)
        return total + rng.normal(0, 4, (size, records.shape[1]))

    draft = begun(target)
    assert read(draft) == {}
    assert "how many numbers has a record?" in said_of(draft, "dimensions")
    found = re.findall(r"fitted: \S+ \((\S+) to (\S+)\)", said_of(draft, "clip_norm"))[0]
    assert float(found[0]) <= 2 <= float(found[1]) <= float(found[0]) + 0.05
    assert fits(draft, "noise", 4, "gaussian")


def test_a_sum_below_its_noise_is_called_no_mean():
    rng = np.random.default_rng(33)
    draft = begun(
        lambda records, size: (
            np.clip(records, 0, 1).sum(0) + rng.laplace(0, 1000, (size, records.shape[1]))
        )
    )
    assert "half as many records gave as much" not in said_of(draft, "name")
    assert "too much noise" in said_of(draft, "name")
    assert "fitted" not in said_of(draft, "upper")


def test_a_mean_over_the_records_is_asked_after():
    """No claim divides by a number that is not public: nothing is written as if it did."""
    rng = np.random.default_rng(17)
    draft = begun(
        lambda data, size: np.clip(data, 0, 1).mean(0) + rng.laplace(0, 0.1, (size, data.shape[1]))
    )
    assert "half as many records gave as much" in said_of(draft, "name")
    assert {"name", "noise", "adjacency", "lower", "upper"} <= {*draft.open_keys}


# -- keys, tables, batches, anything ---------------------------------------------------------------


@pytest.mark.slow("over half a second")
def test_keys_above_a_threshold():
    rng = np.random.default_rng(18)

    def target(counts, size):
        noisy = counts + rng.laplace(0, 2, (size, counts.size))
        return [
            [{"key": int(k)} for k in np.flatnonzero((row >= 20) & (counts > 0))] for row in noisy
        ]

    draft = begun(target)
    assert read(draft) == {"name": "thresholded-histogram"}
    assert "how many keys" in said_of(draft, "cells")
    assert fits(draft, "noise", 2, "laplace")
    low, high = map(float, re.findall(r"\(([\d.]+) to ([\d.]+)\)", said_of(draft, "threshold"))[0])
    assert low <= 20 <= high <= low + 2


def test_an_engine_is_asked_for_its_aggregates_alone():
    draft = begun(lambda rows, size: [{"a": {"count": 1.5, "sum": 2.5}}] * size)
    table = tomllib.loads(in_file(draft))["mechanism"]
    assert read(draft) == {"name": "table"}
    assert table["aggregates"] == {"count": {"noise": "?"}, "sum": {"noise": "?"}}
    assert "mechanism.aggregates.sum.noise" in unfilled_keys({"mechanism": table})


def test_columns_of_any_name_are_asked_after():
    """Catches a claim that is no TOML."""
    row = {"partition": "a", "total count": 3.5, "😀": 1.0, "count": 2}
    draft = begun(lambda rows, size: [[row]] * size)
    table = tomllib.loads(in_file(draft))["mechanism"]
    assert table["aggregates"] == {"count": {"noise": "?"}}
    assert '"total count"' in in_file(draft)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda rng, turn: np.flatnonzero(rng.random(300) < 0.2), r"poisson:0\.\d+"),
        (lambda rng, turn: rng.permutation(300)[:50], "fixed:50"),
        (lambda rng, turn: np.roll(np.arange(300), -50 * turn)[:50], "shuffle:50"),
    ],
)
def test_a_sampler_of_batches(draw, law):
    rng, turns = np.random.default_rng(19), iter(range(1000))
    draft = begun(lambda: draw(rng, next(turns)))
    assert read(draft) == {"name": "batches"}
    assert re.search(f'"{law}"', said_of(draft, "sampling"))
    assert "300" in said_of(draft, "records")


def test_replies_of_anything_leave_the_guarantee_and_pairs_to_be_filled_in():
    draft = begun(lambda data, size: [{"count": len(data["rows"]), "note": "x"}] * size)
    assert read(draft) == {"name": "any"}
    wanted = ["privacy.epsilon", "privacy.delta", "pairs"]
    assert unfilled_keys(tomllib.loads(in_file(draft))) == wanted
