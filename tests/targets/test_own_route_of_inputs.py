"""An own route under `[inputs]`: what arrives at the server is what the file says, in each form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import gnmax, in_toml
from click.testing import CliRunner
from http_server import Server, replying

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.cli import commands
from dpassay.verifiers.kinds.reading import read_claim
from dpassay.verifiers.targets import NotOffered

TEACHERS, CLASSES, SIGMA = 40, 3, 10.0
PATH = "/v1/predict"
ROWS: list[dict[str, Any]] = [
    {"input": "the first", "votes": [0, 1] * 18 + [2] * 4},
    {"input": {"text": 'a "second" {{size}}'}, "votes": [2] * 5 + [1, 0, 0] * 11 + [1, 1]},
    {"input": [1.5, None], "votes": [1] * 20 + [0] * 12 + [2] * 8},
]
FORMS = {
    "query": [row["input"] for row in ROWS],
    "votes": [row["votes"] for row in ROWS],
    "one-hot": [np.eye(CLASSES, dtype=int)[row["votes"]].tolist() for row in ROWS],
    "histogram": [np.bincount(row["votes"]).tolist() for row in ROWS],
}
"""What the server gets for each row."""
KEYS = {"query": "query", "votes": "votes", "one-hot": "votes", "histogram": "histogram"}
HISTOGRAMS = {
    json.dumps(given): np.bincount(row["votes"])
    for sent in FORMS.values()
    for given, row in zip(sent, ROWS, strict=True)
}
"""The votes on what arrives; a KeyError of the server is an input that no row of the file has."""


def claimed(folder: Path, form: str, queries: int = 400, **http: Any) -> str:
    """A claim of inputs in this form, asked by a route of its own."""
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    body = '{"features": {{%s}}, "n": {{size}}}' % KEYS[form]  # noqa: UP031 - braces
    text = in_toml(
        mechanism=gnmax(SIGMA, CLASSES, TEACHERS),
        inputs={"file": "rows.jsonl", "form": form},
        http={"path": PATH, "body": body, "answer": "/result/labels"} | http,
        gate={"max_queries": queries, "smallest_effect": 0.1, "tolerance": 0.2},
    )
    (folder / "claim.toml").write_text(text)
    return str(folder / "claim.toml")


def predicting(scale: float = SIGMA) -> Any:
    """Answers on its own path, and drops the connection on any other."""
    rng = np.random.default_rng(3)

    def handle(handler: Any) -> None:
        if handler.path != PATH:
            handler.close_connection = True
            return
        votes = HISTOGRAMS[json.dumps(handler.content["features"])]
        labels = (votes + rng.normal(0.0, scale, (handler.content["n"], CLASSES))).argmax(1)
        replying({"result": {"labels": labels.tolist()}})(handler)

    return handle


def run(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of a command."""
    done = CliRunner().invoke(commands, [*arguments, "--json"], catch_exceptions=False)
    return done.exit_code, json.loads(done.stdout)


def arrived(server: Server) -> set[str]:
    """The inputs that the server got."""
    return {json.dumps(body["features"]) for _, _, body, _ in server.asked}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("form", list(FORMS))
def test_verify_sends_what_the_file_says(form, served, tmp_path) -> None:
    """Catches votes that are sorted, and an input that is looked up before the file is read."""
    server = served(predicting())
    status, report = run("verify", server.url, "--claim", claimed(tmp_path, form), "--seed", "1")
    assert (status, report["verdict"], report["queries"]) == (3, "inconclusive", 400)
    assert arrived(server) <= {json.dumps(given) for given in FORMS[form]}
    assert len(arrived(server)) > 1
    assert {path for _, path, _, _ in server.asked} == {PATH}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("form", list(FORMS))
def test_plan_too(form, served, tmp_path) -> None:
    server = served(predicting())
    status, plan = run("plan", server.url, "--claim", claimed(tmp_path, form))
    assert status == 0
    assert plan["queries"] > 0
    assert arrived(server) <= {json.dumps(given) for given in FORMS[form]}
    assert server.asked


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (0.5 * SIGMA, (1, "fail")),
        pytest.param(SIGMA, (0, "pass"), marks=pytest.mark.slow("a whole pass over HTTP")),
    ],
)
def test_a_verdict_by_queries(scale, expected, served, tmp_path) -> None:
    """Catches labels that are judged by the votes on another query."""
    claim = claimed(tmp_path, "query", 200_000)
    status, report = run("verify", served(predicting(scale)).url, "--claim", claim, "--seed", "1")
    assert (status, report["verdict"]) == expected


def test_charges_are_asked_where_the_claim_names_their_paths(served, tmp_path) -> None:
    """Under a path of its own no other is guessed; the input travels as it does for an answer."""
    votes = HISTOGRAMS[json.dumps(ROWS[0]["input"])]
    server = served(replying({"rdp": [9.0], "spent": 1.0}))
    alone = open_claimed(server.url, read_claim(claimed(tmp_path, "query")))
    for ask in (lambda: alone.rdp(votes, [2.0]), lambda: alone.spent(1e-5)):
        with pytest.raises(NotOffered, match=r"the claim names no path"):
            ask()
    alone.close()
    claim = read_claim(claimed(tmp_path, "query", rdp="/cost", spent="/left"))
    named = open_claimed(server.url, claim)
    assert (named.rdp(votes, [2.0]), named.spent(1e-5)) == ([9.0], 1.0)
    named.close()
    assert [asked[:3] for asked in server.asked] == [
        ("POST", "/cost", {"query": "the first", "orders": [2.0]}),
        ("GET", "/left?delta=1e-05", None),
    ]
