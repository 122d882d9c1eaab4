"""`dpassay serve` of numbers and of keys: the reference passes, and its budget is the claim's."""

import asyncio
import re
from typing import Any

import httpx
import numpy as np
import pytest
from claims import COARSE, KEYS, histogram, in_toml
from click.testing import CliRunner

from dpassay.verifiers.cli import commands
from dpassay.verifiers.commands.service import application
from dpassay.verifiers.kinds.reading import parse_claim

from .test_serve import serving

COUNTS = histogram("discrete-laplace:1", 3)
SUM: dict[str, Any] = {
    "name": "noisy-sum",
    "noise": "gaussian:1",
    "adjacency": "add-remove",
    "dimensions": 2,
}
SUM |= {"lower": 0.0, "upper": 1.0}
GRADIENT: dict[str, Any] = {
    "name": "noisy-gradient",
    "noise": "gaussian:1",
    "adjacency": "add-remove",
}
GRADIENT |= {"shapes": [[2, 1], [3]], "clip_norm": 1.0, "divide_by": 2}
TENSORS: list[Any] = [[[[1.0], [0.0]]] * 4, [[0.0, 0.5, 0.0]] * 4]


def replies(mechanism, *bodies, **tables):
    """What a server of the claim answers to each body, sent to /aggregate."""
    claim = parse_claim({"mechanism": mechanism, **tables})

    async def asked():
        transport = httpx.ASGITransport(application(claim.kind.served(claim)))
        async with httpx.AsyncClient(transport=transport, base_url="http://served") as client:
            accounts = [await client.get("/spent?delta=1e-5")]
            return [await client.post("/aggregate", json=body) for body in bodies] + accounts

    return asyncio.run(asked())


def test_tables_are_released() -> None:
    """Their noise is new each time; catches releases that are arrays, and a sum for a mean."""
    aggregates = {
        "count": {"noise": "laplace:0.001"},
        "mean": {"noise": "laplace:0.001", "lower": 0.0, "upper": 4.0, "centre": 2.0},
    }
    bounds = {"max_partitions": 1, "max_per_partition": 2, "kept": "any"}
    mechanism = {"name": "table", "adjacency": "add-remove", **bounds, "partitions": ["a", "b"]}
    rows = [[1, "a", 3.0], [2, "a", 9.0]]
    found, refused, _ = replies(
        {**mechanism, "aggregates": aggregates},
        {"rows": rows, "size": 3},
        {"rows": [[None, "a", 3.0]], "size": 1},
    )
    assert found.status_code == 200, found.text
    releases = found.json()["releases"]
    assert len({str(release) for release in releases}) == 3
    by_key = {row["partition"]: row for row in releases[0]}
    assert by_key["a"]["count"] == pytest.approx(2.0, abs=0.1)
    assert by_key["a"]["mean"] == pytest.approx(3.5, abs=0.1)
    assert by_key["b"]["mean"] == pytest.approx(2.0, abs=0.1)
    assert refused.status_code == 422


@pytest.mark.parametrize(
    ("mechanism", "values", "width"),
    [(COUNTS, [5, 0, 9], 3), (SUM, [[0.5, 1.0]] * 4, 2), (SUM, [], 2), (GRADIENT, TENSORS, 5)],
)
def test_numbers_are_released(mechanism, values, width) -> None:
    """As many as were asked for, each with noise of its own."""
    found, _ = replies(mechanism, {"values": values, "size": 40})
    assert found.status_code == 200, found.text
    releases = np.array(found.json()["releases"])
    assert releases.shape == (40, width)
    assert all(len(np.unique(column)) > 1 for column in releases.T)


def test_keys_are_released() -> None:
    found, _ = replies(KEYS, {"values": [90, *[0] * 49], "size": 3})
    assert found.json() == {"releases": [[{"key": 0}]] * 3}


@pytest.mark.parametrize(
    ("mechanism", "values", "allowed"),
    [
        (COUNTS, [1, 2], "expected 3 counts"),
        (COUNTS, "1,2,3", "expected 3 counts"),
        (COUNTS, [1, 2, 0.5], "expected 3 counts, whole numbers from 0"),
        (COUNTS, [1, 2, -3], "expected 3 counts"),
        (COUNTS, [1, 2, None], "expected 3 counts"),
        (COUNTS, 3, "expected 3 counts"),
        (COUNTS, [1, 2, 10**30], "expected 3 counts"),
        (KEYS, [[1]], "expected 50 counts"),
        (SUM, [0.5, 1.0], "expected a list of records of 2 numbers each"),
        (SUM, [["a", "b"]], "expected a list of records of 2 numbers each"),
        (SUM, 0.5, "expected a list of records of 2 numbers each"),
        (SUM, [[0.5], [1.0, 1.0]], "expected a list of records of 2 numbers each"),
        (GRADIENT, TENSORS[:1], "expected for each of the shapes [[2, 1], [3]] a list of as many"),
        (GRADIENT, [TENSORS[0], TENSORS[1][:3]], "a list of as many arrays"),
    ],
)
def test_wrong_inputs_are_one_line(mechanism, values, allowed) -> None:
    found, _ = replies(mechanism, {"values": values, "size": 1})
    assert found.status_code == 422
    assert found.json()["error"].startswith("values ")
    assert allowed in found.json()["error"]


def test_as_many_releases_as_are_claimed() -> None:
    """What cannot all be released is not begun, and counts for nothing."""
    asked = [{"values": [5, 0, 9], "size": size} for size in (3, 3, 2, 1)]
    budget = {"epsilon": 9.0, "delta": 1e-5, "queries": 5}
    *found, account = replies(COUNTS, *asked, privacy=budget)
    assert [reply.status_code for reply in found] == [200, 429, 200, 429]
    assert re.search(r"^3 releases .*\b2 left", found[1].json()["error"])
    assert account.status_code == 404


@pytest.mark.parametrize(("scale", "verdict"), [("1", "PASS"), ("2", "FAIL")])
@pytest.mark.slow("over half a second")
def test_what_is_served_is_verified(tmp_path, scale, verdict) -> None:
    """Catches noise that is not the claim's, and a reply that the client cannot read."""
    served, claimed = tmp_path / "served.toml", tmp_path / "claimed.toml"
    served.write_text(in_toml(mechanism=COUNTS))
    claimed.write_text(
        in_toml(mechanism=COUNTS | {"noise": f"discrete-laplace:{scale}"}, gate=COARSE)
    )
    with serving("--claim", str(served)) as (_, url):
        found = CliRunner().invoke(commands, ["verify", url, "--claim", str(claimed)])
    assert verdict in found.output, found.output
