"""References that are a program or a server, run for real: whole runs through either transport.

Noise follows from seeds: each start of the program has the next one.
"""

import json
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from http_server import Server, replying
from runs import result

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

CLAIM = """
[mechanism]
name = "same-as"
reference = {}
[inputs]
values = [{{n = 3}}, {{n = 40}}]
"""
PROGRAM = """
import json, pathlib, random, sys
starts = pathlib.Path(__file__).with_name("starts")
number = len(starts.read_text()) if starts.exists() else 0
starts.write_text("." * (number + 1))
rng = random.Random(number)
for line in sys.stdin:
    request = json.loads(line)
    n, size = request["data"]["n"], request["size"]
    releases = [[n + rng.gauss(0, 1) for _ in range(10)] for _ in range(size)]
    print(json.dumps({"releases": releases}), flush=True)
"""


def one_noise() -> Any:
    """A target whose ten numbers share their noise."""
    rng = np.random.default_rng(1)
    return lambda data, size: [[data["n"] + rng.normal()] * 10 for _ in range(size)]


def run(reference: str, target: Any = None) -> Report:
    """Of a target in this process, or of one more instance of the reference."""
    claim = parse_claim(tomllib.loads(CLAIM.format(json.dumps(reference))))
    if target is None:
        opened: Any = open_claimed(reference, claim)
    else:
        opened = InProcessTarget(target, release=claim.release)
    try:
        return verify(opened, claim, seed=1, queries=80)
    finally:
        opened.close()


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "old.py"
    path.write_text(PROGRAM)
    return f"exec:{shlex.join([sys.executable, str(path)])}"


@pytest.fixture
def server() -> Iterator[Server]:
    rng = np.random.default_rng(2)

    def handle(handler: Any) -> None:
        asked = handler.content
        noise = rng.normal(size=(asked["size"], 10))
        replying({"releases": (asked["data"]["n"] + noise).tolist()})(handler)

    made = Server(handle)
    yield made
    made.close()


@pytest.mark.slow("a program is started ten times")
@pytest.mark.parametrize("equal", [False, True])
def test_a_reference_that_is_a_program(program, equal) -> None:
    """Put against itself, and against the target; catches one process that is both sides."""
    found = run(program, None if equal else one_noise())
    told = result(found, "same-law")
    assert (told.code == "replies-differ") is not equal, told
    assert told.code != "reference-remembers"
    assert "reference-not-tried" not in {note.code for note in found.notes}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("equal", [False, True])
def test_a_reference_that_is_a_server(server, equal) -> None:
    """Every request goes to it too; that it was not put against itself is told."""
    found = run(server.url, None if equal else one_noise())
    told = result(found, "same-law")
    assert (told.code == "replies-differ") is not equal, told
    assert "reference-not-tried" in {note.code for note in found.notes}
    asked = [content["data"]["n"] for _, _, content, _ in server.asked if content]
    assert len(asked) == found.queries * (2 if equal else 1)
    assert set(asked) == {3, 40}
