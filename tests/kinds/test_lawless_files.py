"""Files of a claim without a law: pairs, records and curves."""

import json
import math
import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim

PAIR = "[[pairs]]\nhere = {n = 1}\nthere = {n = 2}\n"


def claim_of(privacy: str, pairs: str = PAIR) -> Any:
    text = f'[mechanism]\nname = "any"\n[privacy]\n{privacy}\n{pairs}'
    return parse_claim(tomllib.loads(text))


def test_pairs_are_read_from_a_file(tmp_path) -> None:
    rows = [{"here": [1], "there": [1, 2], "name": "more"}, {"here": "a", "there": "b"}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    table = {
        "mechanism": {"name": "any"},
        "privacy": {"epsilon": 1.0, "delta": 0.0},
        "pairs": "pairs.jsonl",
    }
    claim = parse_claim(table, "claim", tmp_path)
    assert [pair.there for pair in claim.pairs] == [[1, 2], "b"]
    (tmp_path / "pairs.jsonl").write_text("no JSON\n")
    with pytest.raises(ClaimError, match="line 1"):
        parse_claim(table, "claim", tmp_path)


def claim_with(folder: Any, pairs: Any) -> Any:
    table = {
        "mechanism": {"name": "any"},
        "privacy": {"epsilon": 1.0, "delta": 0.0},
        "pairs": pairs,
    }
    return parse_claim(table, "claim", folder)


def test_pairs_are_read_from_csv_and_parquet(tmp_path) -> None:
    """The same pairs, whichever the form; a cell that is no JSON is a text."""
    (tmp_path / "pairs.csv").write_text(
        'here,there,name\n"[1, 2]","[1, 2, 3]",7\n"{""n"": 1}",NaN,\nplain,"""12""",last\n'
    )
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "here": ["[1, 2]", '{"n": 1}', "plain"],
            "there": ["[1, 2, 3]", "NaN", '"12"'],
            "name": ["7", None, "last"],
        }
    )
    frame.to_parquet(tmp_path / "pairs.parquet")
    wanted = [([1, 2], [1, 2, 3], "7"), ({"n": 1}, "NaN", None), ("plain", "12", "last")]
    for name in ("pairs.csv", "pairs.parquet"):
        pairs = claim_with(tmp_path, name).pairs
        assert [(pair.here, pair.there, pair.name) for pair in pairs] == wanted


def test_nested_values_of_parquet_are_inputs(tmp_path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"here": {"rows": [1, 2]}, "there": {"rows": [1]}}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "pairs.parquet")
    (pair,) = claim_with(tmp_path, "pairs.parquet").pairs
    assert (pair.here, pair.there) == ({"rows": [1, 2]}, {"rows": [1]})
    raw = [{"here": b"1", "there": b"2"}]
    parquet.write_table(pyarrow.Table.from_pylist(raw), tmp_path / "pairs.parquet")
    with pytest.raises(ClaimError, match=r"row 1: .*bytes: .*JSON"):
        claim_with(tmp_path, "pairs.parquet")


def test_an_input_may_be_a_file_of_records(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("age,town\n30,Oslo\n41,\n")
    (tmp_path / "b.csv").write_text("age,town\n30,Oslo\n")
    (pair,) = claim_with(tmp_path, [{"here_file": "a.csv", "there_file": "b.csv"}]).pairs
    assert pair.here == [{"age": 30, "town": "Oslo"}, {"age": 41, "town": None}]
    assert pair.there == [{"age": 30, "town": "Oslo"}]
    with pytest.raises(ClaimError, match=r"pairs, 1: .*here_file"):
        claim_with(tmp_path, [{"here": 1, "here_file": "a.csv", "there": 2}])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.csv", "here,there\n1\n", r"p\.csv, line 2: 1 columns, but 2 in the header"),
        ("p.csv", "here,here\n1,2\n", r"line 1: expected a name of its own"),
        ("p.csv", "here,other\n1,2\n", r"line 2: there is missing"),
        ("p.jsonl", '{"here": 1, "there": 2, "x": 3}\n', r"line 1: x is none of a pair"),
        ("p.parquet", "no Parquet", r"claim: pairs: .*p\.parquet"),
    ],
)
def test_a_file_that_holds_no_pairs_is_told(tmp_path, name, text, said) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ClaimError, match=said) as error:
        claim_with(tmp_path, name)
    assert "\n" not in str(error.value)


def test_a_curve_is_read_from_a_file_beside_the_claim(tmp_path) -> None:
    """Laplace noise of scale 1: epsilon 1 at delta 0 is among its lines, for both orders."""
    alpha = np.linspace(0.0, 1.0, 401)
    beta = np.where(alpha < 0.5 / math.e, 1 - math.e * alpha, np.exp(-1) / (4 * alpha + 1e-300))
    beta = np.where(alpha > 0.5, (1 - alpha) / math.e, beta)
    lines = [f"{a:.12g}, {b:.12g}" for a, b in zip(alpha, beta, strict=True)]
    (tmp_path / "curve.csv").write_text("\ufeffAlpha,Beta\n" + "\n".join(lines) + "\n")
    table = {
        "mechanism": {"name": "any"},
        "privacy": {"curve": "curve.csv"},
        "pairs": [{"here": 1, "there": 2}],
    }
    claim = parse_claim(table, "claim", tmp_path)
    first = claim.privacy.lines[0]
    assert first.epsilon == pytest.approx(1.0, abs=0.01)
    assert first.delta <= 1e-3
    assert claim.privacy.epsilon == first.epsilon
    (tmp_path / "curve.csv").write_text("alpha,beta\n0,1\n0.5,0.7\n1,0\n")
    with pytest.raises(ClaimError, match=r"curve\.csv, line 3: .*1 - alpha"):
        parse_claim(table, "claim", tmp_path)
    (tmp_path / "curve.csv").write_text("0,1\n\nhalf,0.7\n")
    with pytest.raises(ClaimError, match=r"curve\.csv, line 3: 'half,0.7': "):
        parse_claim(table, "claim", tmp_path)
    (tmp_path / "curve.csv").unlink()
    with pytest.raises(ClaimError, match=r"privacy\.curve: .*curve\.csv: No "):
        parse_claim(table, "claim", tmp_path)


def test_a_curve_may_stand_in_the_claim() -> None:
    claim = claim_of("curve = [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]")
    assert [line.epsilon for line in claim.privacy.lines] == [0.0]
    with pytest.raises(ClaimError, match=r"curve.*row 2: beta = 2: .*0 to 1"):
        claim_of("curve = [[0.0, 1.0], [0.5, 2.0], [1.0, 0.0]]")
