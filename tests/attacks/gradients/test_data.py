"""Splits, the published Adult records, and people who are made up."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

Records = import_module("benchmarks.gradients.data").Records
distinct = import_module("benchmarks.gradients.data").distinct
shared = import_module("benchmarks.gradients.data").shared
split = import_module("benchmarks.gradients.data").split


adult = import_module("benchmarks.gradients.adult").adult
images = import_module("benchmarks.gradients.images")
by_stroke, digits = images.by_stroke, images.digits
split_users = import_module("benchmarks.gradients.inferred").split_users
users = import_module("benchmarks.gradients.users")
heterogeneous_users, made_up_writers = users.heterogeneous_users, users.made_up_writers


def numbered(n: int = 3_000) -> Any:
    """Records that are told by their first feature, a third of the second class."""
    sensitive = (np.arange(n) % 3 == 0).astype(np.int64)
    features = np.column_stack([np.arange(n), np.arange(n) % 2]).astype(np.float32)
    return Records(features, 0 * sensitive, sensitive, ("a", "b"))


def test_nobody_shares_a_record_and_what_is_public_is_balanced():
    # catches private rows among shadow ones, and the prior that a first shuffle leaves behind
    shares = []
    for seed in range(20):
        data = split(numbered(), 1_000, 600, seed)
        own, shown, rest = (
            set(part.features[:, 0]) for part in (data.private, data.public, data.test)
        )
        assert len(own) == 1_000
        assert len(shown) == 600
        assert len(own | shown | rest) == 3_000
        assert data.public.sensitive.sum() == 300
        shares.append(data.private.sensitive.mean())
    left = (1_000 - 300) / 2_400  # .292 of who is left; the first order's next rows have less
    assert np.mean(shares) == pytest.approx(left, abs=0.015)


def test_columns_are_scaled_by_public_records_and_codes_of_two_are_not():
    data = split(numbered(), 1_000, 600, 0)
    assert data.public.features[:, 0].mean() == pytest.approx(0.0, abs=1e-5)
    assert data.public.features[:, 0].std() == pytest.approx(1.0, abs=1e-5)
    assert set(data.private.features[:, 1]) == {0.0, 1.0}


def test_duplicates_are_those_that_no_sensitive_class_tells_apart():
    features = np.array([[1, 2], [1, 2], [1, 2], [3, 4]], np.float32)
    records = Records(features, np.array([0, 0, 1, 0]), np.array([0, 1, 1, 1]), ("a", "b"))
    kept = [distinct(records, seed) for seed in range(20)]
    assert all(len(one) == 3 for one in kept)
    assert {int(one.sensitive[0]) for one in kept} == {0, 1}  # either is kept at times
    data = split(
        Records(
            np.tile(features, (10, 1)),
            np.zeros(40, np.int64),
            np.tile([0, 1, 1, 0], 10),
            ("a", "b"),
        ),
        20,
        4,
        0,
    )
    assert shared(data) == 1.0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"features": np.full((3, 1), np.nan, np.float32)}, "expected .n, d. finite numbers"),
        ({"labels": np.array([0, 1])}, r"labels \(2,\): expected \(3,\)"),
        ({"sensitive": np.array([0, 1, 2])}, "sensitive class 2: expected 0 to 1, one of a, b"),
    ],
)
def test_records_that_do_not_fit(change, told):
    fine = {
        "features": np.ones((3, 1), np.float32),
        "labels": np.zeros(3, np.int64),
        "sensitive": np.array([0, 1, 0]),
        "names": ("a", "b"),
    }
    Records(**fine)
    with pytest.raises(ValueError, match=told):
        Records(**fine | change)


def test_more_than_there_is_is_refused():
    with pytest.raises(ValueError, match=r"3000 private records: .*1 to 2399"):
        split(numbered(), 3_000, 600, 0)
    with pytest.raises(ValueError, match=r"1500 public .*b: .*1 to 1000"):
        split(numbered(), 1_000, 3_000, 0)
    with pytest.raises(ValueError, match="whose each"):
        split_users(numbered(), 1, 1, 0, 2)


@pytest.mark.slow("over half a second")
def test_adult_as_published(published_data):
    hot, coded = adult(published_data), adult(published_data, "label")
    assert hot.features.shape == (48_842, 38)
    assert coded.features.shape == (48_842, 10)
    assert hot.sensitive.mean() == pytest.approx(0.3315, abs=5e-5)
    # the paper's table: correlation of income and sex
    assert np.corrcoef(hot.labels, hot.sensitive)[0, 1] == pytest.approx(-0.2146, abs=2e-2)
    with_sex = adult(published_data, sex=True, without=("relationship",))
    assert with_sex.features.shape == (48_842, 33)
    np.testing.assert_array_equal(with_sex.features[:, -1], hot.sensitive)
    with pytest.raises(ValueError, match=r"column 'sex': .* age"):
        adult(published_data, without=("sex",))


def test_made_up_people():
    images, labels = digits()
    writers = made_up_writers(images[:200], labels[:200], 5, seed=1)
    assert np.bincount(writers.users).tolist() == [40] * 5
    assert [len(set(writers.sensitive[writers.users == u])) for u in range(5)] == [1] * 5
    assert not np.allclose(writers.features, images[:200])
    still = made_up_writers(images[:20], labels[:20], 5, spread=0.0)
    np.testing.assert_allclose(still.features, images[:20], atol=1e-6)
    heavy = by_stroke(images, labels)
    within = [heavy.sensitive[labels == digit].mean() for digit in range(10)]
    assert max(abs(np.array(within) - 0.5)) < 0.03
    alike, apart = (heterogeneous_users(50, 40, spread=s) for s in (0.0, 2.0))
    means = [[one.features[one.users == u].mean(0) for u in range(50)] for one in (alike, apart)]
    assert np.std(means[0]) < 0.25 < 1.5 < np.std(means[1])
