"""Whatever a claim, a reply or a file holds: a result, or the reader's own error in one line."""

import csv
import io
import math

import numpy as np
import pytest
from claims import gnmax
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpassay.reference import parse_histogram, parse_noise
from dpassay.verifiers.claims.claim import CLAIM_BYTES, ClaimError
from dpassay.verifiers.inputs.histogram_file import read_histograms
from dpassay.verifiers.inputs.label_log import read_labels
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.reading import parse_claim, read_claim
from dpassay.verifiers.targets import TargetError, checked_charge, checked_labels, checked_spent

many = settings(
    max_examples=4 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

MECHANISM = gnmax()
HUGE = 1 << 40_000  # Python refuses to write it in decimal

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([40_000]).map(lambda bits: 1 << bits)  # just() would write it in decimal
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["gnmax", "confident-gnmax", "gaussian:40", "laplace:-1", "any-queries"])
    | st.datetimes()
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = {
    key: tuple(LabelsClaim.model_fields[key].annotation.model_fields)
    for key in ("mechanism", "gate")
} | {"privacy": ("epsilon", "delta", "queries", "scope")}


def tables(key):
    """A table whose keys are mostly known, and whose values are anything."""
    start = MECHANISM if key == "mechanism" else {}
    keys = st.sampled_from(KEYS[key]) | st.text(max_size=4)
    return st.dictionaries(keys, values, max_size=3).map(lambda changed: start | changed)


claim_tables = st.fixed_dictionaries(
    {"mechanism": tables("mechanism") | values},
    optional={"gate": tables("gate") | values, "privacy": tables("privacy"), "other": values},
)


def result_or_one_line(error, function, *arguments):
    """What `function` returns, or None after `error` of a printable line of bounded length."""
    try:
        return function(*arguments)
    except error as caught:
        message = str(caught)
        assert message
        assert len(message) < 1500
        assert len(message.splitlines()) == 1
        return None


# -- claims --------------------------------------------------------------------------------------


@pytest.mark.slow("over half a second")
@many
@given(claim_tables)
@example({"mechanism": MECHANISM | {"classes": HUGE}})
@example({"mechanism": MECHANISM | {"a\nb": 1}})
def test_any_table_is_a_claim_or_a_line(table) -> None:
    claim = result_or_one_line(ClaimError, parse_claim, table)
    assert claim is None or claim.mechanism.classes >= 2


@pytest.mark.slow("over half a second")
@many
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
@example(b"a = " + b"[" * 50_000)
@example(b"a = " + b"9" * 50_000)
@example(b"[mechanism]\nclasses = 0x" + b"f" * 50_000)
@example(b'[mechanism]\nname = "' + b"x" * 50_000 + b'"')
def test_any_bytes_are_a_claim_or_a_line(tmp_path, content) -> None:
    path = tmp_path / "claim.toml"
    path.write_bytes(content)
    assert result_or_one_line(ClaimError, read_claim, path) is None


def test_a_claim_of_more_than_a_megabyte_is_refused_unread(tmp_path) -> None:
    path = tmp_path / "claim.toml"
    text = '[mechanism]\nname = "gnmax"\nnoise = "gaussian:40"\nclasses = 3\nteachers = 30\n#'
    path.write_text(text.ljust(CLAIM_BYTES, "x"))
    assert read_claim(path).mechanism.classes == 3
    path.write_text(text.ljust(CLAIM_BYTES + 1, "x"))
    with pytest.raises(ClaimError, match="at most 1,000,000 bytes"):
        read_claim(path)


# -- replies -------------------------------------------------------------------------------------

replies = (
    values | st.lists(scalars, min_size=3, max_size=3) | st.lists(st.integers(-2, 5), max_size=4)
)


@many
@given(replies, st.booleans())
@example([HUGE] * 3, False)
@example(HUGE, False)
@example([math.nan, 1, 2], True)
def test_any_reply_is_labels_or_a_line(reply, may_refuse) -> None:
    labels = result_or_one_line(
        TargetError, checked_labels, reply, np.array([12, 7, 6]), 3, may_refuse
    )
    if labels is not None:
        assert labels.shape == (3,)
        assert labels.min() >= (-1 if may_refuse else 0)
        assert labels.max() <= 2


@many
@given(replies)
@example([HUGE] * 3)
@example(HUGE)
def test_any_reply_is_charges_or_a_line(reply) -> None:
    orders = [2.0, 4.0, 8.0]
    charge = result_or_one_line(TargetError, checked_charge, reply, np.array([12, 7, 6]), orders)
    if charge is not None:
        assert charge.orders.shape == charge.costs.shape
        assert not (charge.costs < 0).any()


@many
@given(values)
@example(HUGE)
@example(-HUGE)
@example([HUGE])
def test_any_reply_is_an_epsilon_or_a_line(reply) -> None:
    spent = result_or_one_line(TargetError, checked_spent, reply, 1e-5)
    assert spent is None or spent >= 0


# -- texts and files -----------------------------------------------------------------------------

numbers = st.text("0123456789-+.eE_, inf", max_size=12)


@many
@given(
    st.text(max_size=30) | st.tuples(st.sampled_from(["gaussian", "gumbel"]), numbers).map(":".join)
)
@example("gaussian:" + "9" * 5000)
@example("gaussian:1e999")
def test_any_text_is_noise_or_a_line(text) -> None:
    noise = result_or_one_line(ValueError, parse_noise, text)
    assert noise is None or 0 < noise.scale < math.inf


@many
@given(st.text(max_size=30) | numbers)
@example("9" * 5000 + ",1")
@example("1," * 400 + "x\ny")
def test_any_text_is_a_histogram_or_a_line(text) -> None:
    histogram = result_or_one_line(ValueError, parse_histogram, text)
    if histogram is not None:
        assert histogram.size >= 2
        assert histogram.min() >= 0


cells = st.text(max_size=6) | numbers | st.integers(-2, 300).map(str) | st.just("label")
rows = st.lists(st.lists(cells, min_size=1, max_size=4), max_size=5)


def written(table):
    buffer = io.StringIO()
    csv.writer(buffer).writerows(table)
    return buffer.getvalue()


documents = rows.map(written) | st.text(max_size=60)


@many
@given(documents)
@example('"' + "x" * 200_000 + '"\n')
@example("1\0\n")
@example("9" * 5000)
def test_any_text_is_a_label_log_or_a_line(text) -> None:
    labels = result_or_one_line(ValueError, read_labels, io.StringIO(text), "log")
    assert labels is None or min(labels) >= -1


@many
@given(documents.map(lambda text: text.encode(errors="replace")) | st.binary(max_size=60))
@example(b'"' + b"x" * 200_000 + b'"\n')
@example(b"1,2\0\n")
@example(b"1," + b"9" * 5000)
def test_any_bytes_are_histograms_or_a_line(tmp_path, content) -> None:
    path = tmp_path / "h.csv"
    path.write_bytes(content)
    asked = result_or_one_line(ValueError, read_histograms, str(path))
    if asked is not None:
        assert all(len(row.histogram) >= 2 and min(row.histogram) >= 0 for row in asked)
