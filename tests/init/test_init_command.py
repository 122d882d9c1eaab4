"""`dpassay init` as it is typed: what it writes, what it never overwrites, and how it ends."""

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from added_packages import lay_points, on_the_path
from claims import gnmax, in_toml
from every_kind import CLAIMS, claimed
from http_server import Server, replying
from typed import assert_misuse, typed

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.of_run import Ended, report_of
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.init.beside import BESIDE
from dpassay.verifiers.kinds.reading import parse_claim, read_claim

FITTED = "claim-is-fitted"
UNFILLED = "claim-unfilled"
DEPLOYMENT = """
import numpy as np

print("loading")
rng = np.random.default_rng(1)


def aggregate(histogram, size):
    return (histogram + rng.normal(0, 40, (size, 10))).argmax(1)


def silent(histogram, size):
    raise AssertionError("asked")


class Made:
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a deployment, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deployment.py").write_text(DEPLOYMENT)
    return tmp_path


@pytest.mark.slow("over half a second")
def test_a_claim_is_begun_and_verify_says_what_is_left(folder):
    every = ",".join(BESIDE)
    made = typed("init", "deployment.py:aggregate", "--with", every)
    assert made.returncode == 0, made.stderr
    assert "600 answers at most" in made.stderr
    assert "dpassay verify deployment.py:aggregate --claim claim.toml" in made.stdout
    table = tomllib.loads(Path("claim.toml").read_text())
    unsaid = {"name": "?", "noise": "?", "teachers": "?"}
    assert table == {"mechanism": unsaid | {"classes": 10}}
    left = typed("verify", "deployment.py:aggregate", "--claim", "claim.toml")
    assert_misuse(left, *(f"mechanism.{key}" for key in unsaid), f"[{UNFILLED}]")
    for name, _ in BESIDE.values():
        wanted = "dpassay-claims" if "pre-commit" in name else "deployment.py:aggregate"
        assert wanted in Path(name).read_text()
    compile(Path("test_privacy.py").read_text(), "test_privacy.py", "exec")


def test_no_file_is_overwritten(folder):
    Path("test_privacy.py").write_text("mine")
    line = ("init", "deployment.py:silent", "--no-calls", "--with", "pytest", "--out", "b.toml")
    made = typed(*line)
    assert made.returncode == 0, made.stderr
    assert "test_privacy.py is there" in made.stdout
    assert 'assert_conforms("deployment.py:silent", "b.toml")' in made.stdout
    assert Path("test_privacy.py").read_text() == "mine"
    before = Path("b.toml").read_text()
    assert_misuse(typed(*line), "b.toml", "stays as it is")
    assert Path("b.toml").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ("deployment.py:Made",), "is a class", marks=pytest.mark.slow("over half a second")
        ),
        (("deployment.py:nothing",), "has no attribute"),
        (("deployment.py:aggregate", "--with", "jenkins"), "expected some of pytest, github"),
        (("deployment.py:aggregate", "--calls", "0"), "expected a whole number"),
    ],
)
def test_what_cannot_be_begun_is_one_line(folder, arguments, words):
    assert_misuse(typed("init", *arguments), words)
    assert not Path("claim.toml").exists()


def answer(handler):
    """Labels of three classes, for 90 votes alone; anything else is refused."""
    votes, size = handler.content.get("histogram", []), handler.content["size"]
    if len(votes) != 3 or sum(votes) != 90:
        return replying({"error": "expected 90 votes"}, 422)(handler)
    return replying({"labels": [votes.index(max(votes))] * size})(handler)


@pytest.fixture
def server():
    made = Server(answer)
    yield made
    made.close()


@pytest.mark.slow("over half a second")
def test_a_server_is_asked_as_often_as_was_said_at_most(folder, server):
    made = typed("init", server.url, "--calls", "120")
    assert made.returncode == 0, made.stderr
    assert 60 < sum(content["size"] for _, _, content, _ in server.asked) <= 120
    table = tomllib.loads(Path("claim.toml").read_text())["mechanism"]
    assert table == {"name": "?", "noise": "?", "classes": 3, "teachers": 90}
    assert "is there noise?" in made.stdout


@pytest.mark.slow("over half a second")
def test_a_server_that_hangs_up_at_other_inputs_is_recognised(folder):
    """Records alone: catches an end at the first form of input that a server fails at."""

    def sums(handler):
        values = np.array(handler.content.get("values", []), dtype=float)
        if values.ndim == 2 and values.shape[1] == 3:
            total = np.clip(values, 0, 1).sum(0)
            replying({"releases": [total.tolist()] * handler.content["size"]})(handler)

    server = Server(sums)
    made = typed("init", server.url, "--calls", "90")
    server.close()
    assert made.returncode == 0, made.stderr
    table = tomllib.loads(Path("claim.toml").read_text())["mechanism"]
    assert table["dimensions"] == 3
    assert "is there noise?" in made.stdout


@pytest.mark.slow("over half a second")
def test_secrets_of_an_address_are_not_written(folder, server):
    address = server.url.replace("://", "://user:secret@")
    typed("init", address, "--calls", "120", "--with", "pytest")
    assert "secret" not in Path("claim.toml").read_text() + Path("test_privacy.py").read_text()


# -- a server that asks for more ------------------------------------------------------------------

SECRET = "Bearer tok-8f31c2"
HTTP = 'headers = {Authorization = "AGGREGATOR_TOKEN"}'


def guarded(handler):
    """As `answer`, for who has the token; what it says of any else repeats what it got."""
    if handler.headers.get("Authorization") != SECRET:
        return replying({"error": "who are you?"}, 401)(handler)
    if sum(handler.content.get("histogram", [])) != 90:
        word = SECRET.split()[1]
        return replying({"error": f"{SECRET}, {word}: expected 90 votes"}, 422)(handler)
    return answer(handler)


def every_text(folder, made):
    """All that a command printed, and wrote."""
    files = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    return "".join([made.stdout, made.stderr, *files])


@pytest.mark.slow("over half a second")
def test_a_server_that_asks_for_a_header(folder, monkeypatch):
    """Catches a claim that `verify` cannot use as it is, and a secret that is written anywhere."""
    monkeypatch.setenv("AGGREGATOR_TOKEN", SECRET)
    Path("http.toml").write_text(f"[http]\n{HTTP}\nrefusal_status = [422, 409]\n")
    server = Server(guarded)
    made = typed("init", server.url, "--http", "http.toml", "--calls", "90", "--with", "pytest")
    server.close()
    assert made.returncode == 0, made.stderr
    table = tomllib.loads(Path("claim.toml").read_text())
    assert table["mechanism"] == {"name": "?", "noise": "?", "classes": 3, "teachers": 90}
    headers = {"Authorization": "AGGREGATOR_TOKEN"}
    assert table["http"] == {"headers": headers, "refusal_status": [422, 409]}
    assert "tok-8f31c2" not in every_text(folder, made)
    assert all(asked.get("Authorization") == SECRET for *_, asked in server.asked)


@pytest.mark.slow("over half a second")
def test_without_the_header_nothing_is_written(folder):
    server = Server(guarded)
    made = typed("init", server.url, "--calls", "90")
    server.close()
    assert (made.returncode, made.stdout) == (2, "")
    assert "status 401" in made.stderr
    assert "--http FILE" in made.stderr
    assert not Path("claim.toml").exists()


@pytest.mark.slow("over half a second")
def test_what_a_server_repeats_of_a_secret_is_not_shown(folder, monkeypatch):
    """By `verify` neither, which asks as `init` does."""
    monkeypatch.setenv("AGGREGATOR_TOKEN", SECRET)
    Path("http.toml").write_text(f"[http]\n{HTTP}\n")
    claim = in_toml(mechanism=gnmax(10, 3, 60))
    Path("own.toml").write_text(f"{claim}[http]\n{HTTP}\n")
    server = Server(replying({"error": SECRET}, 422))
    made = typed("init", server.url, "--http", "http.toml", "--calls", "90")
    run = typed("verify", server.url, "--claim", "own.toml")
    server.close()
    assert "***" in made.stderr
    assert "***" in run.stdout + run.stderr
    assert "tok-8f31c2" not in every_text(folder, made) + run.stdout + run.stderr


@pytest.mark.slow("over half a second")
def test_jobs_beside_a_configuration_of_several_are_for_all_of_them(folder):
    named = '[targets.{}]\ntarget = "deployment.py:aggregate"\nclaim = "claim.toml"\n'
    Path("dpassay.toml").write_text(named.format("one") + named.format("two"))
    made = typed("init", "deployment.py:aggregate", "--no-calls", "--with", "github,gitlab")
    assert made.returncode == 0, made.stderr
    assert "target:" not in Path(".github/workflows/dpassay.yml").read_text()
    job = Path(".gitlab-ci.dpassay.yml").read_text()
    assert "dpassay verify --report report" in job
    assert "junit: report/*/junit.xml" in job


@pytest.mark.slow("over half a second")
def test_a_server_is_begun_by_its_own_route(folder):
    """Each label by itself, under another key, by name: catches a form that the body has not."""

    def one(handler):
        votes = handler.content.get("v", [])
        if len(votes) != 3 or sum(votes) != 90:
            return replying({"error": "expected 90 votes"}, 422)(handler)
        return replying({"out": ["cat", "dog", "bird"][votes.index(max(votes))]})(handler)

    Path("http.toml").write_text(
        '[http]\npath = "/predict"\nbody = \'{"v": {{histogram}}}\'\nanswer = "/out"\n'
        'labels = ["cat", "dog", "bird"]\n'
    )
    server = Server(one)
    made = typed("init", server.url, "--http", "http.toml", "--calls", "90")
    server.close()
    assert made.returncode == 0, made.stderr
    table = tomllib.loads(Path("claim.toml").read_text())
    assert table["mechanism"]["classes"] == 3
    assert table["http"] == tomllib.loads(Path("http.toml").read_text())["http"]
    assert {path for _, path, *_ in server.asked} == {"/predict"}
    assert {tuple(content) for _, _, content, _ in server.asked} == {("v",)}


@pytest.mark.parametrize(
    ("status", "key"), [(401, "[http] headers"), (400, "refusal_status = [400] in [http]")]
)
def test_the_answer_to_the_form_that_the_body_has_is_shown(folder, status, key):
    """It showed that the body has no {{data}}, the form that was tried last."""
    Path("http.toml").write_text('[http]\nbody = \'{"v": {{histogram}}}\'\nanswer = "/out"\n')
    server = Server(replying({"error": "not so"}, status))
    made = typed("init", server.url, "--http", "http.toml")
    server.close()
    assert made.returncode == 2
    for part in (f"HTTP status {status}", "not so", key):
        assert part in made.stderr
    assert {tuple(content) for _, _, content, _ in server.asked} == {("v",)}


def test_a_body_of_other_inputs_is_named(folder):
    Path("http.toml").write_text('[http]\nbody = \'{"v": {{query}}}\'\nanswer = "/out"\n')
    made = typed("init", "http://127.0.0.1:9", "--http", "http.toml")
    assert made.returncode == 2
    assert re.search(r"\{\{histogram\}\}, .*\[target-option-wrong\]", made.stderr)


@pytest.mark.parametrize(
    ("target", "text", "words"),
    [
        ("http://127.0.0.1:9", f"[http]\n{HTTP}\n", "AGGREGATOR_TOKEN, which is not set"),
        ("http://127.0.0.1:9", '[http]\nheader = "x"\n', "did you mean headers?"),
        ("http://127.0.0.1:9", "[gate]\n", "no [http]"),
        ("deployment.py:aggregate", f"[http]\n{HTTP}\n", "--http is of a server"),
    ],
)
def test_what_says_nothing_of_a_server_is_one_line(folder, target, text, words):
    Path("http.toml").write_text(text)
    for more in ((), ("--no-calls",)):
        assert_misuse(typed("init", target, "--http", "http.toml", *more), words)
    assert not Path("claim.toml").exists()


# -- what claims say of it -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_claim_that_says_it_was_fitted_is_warned_of(kind):
    """By its code, in every report; one that does not say so is not."""
    text = CLAIMS[kind].replace("adjacency", "fitted = true\nadjacency")
    text = text if "fitted" in text else f"{text}fitted = true\n"
    claim = parse_claim(tomllib.loads(text))
    passed = CheckResult(id="input-contract", verdict=Verdict.PASS, message="all is well")
    for one, warned in ((claim, True), (claimed(kind), False)):
        report = report_of(one, [passed], Ended(datetime.now(UTC), 0.0), queries=1, seed=0)
        assert (FITTED in [note.code for note in report.notes]) is warned


@pytest.mark.parametrize(
    "text",
    [
        'mechanism = {name = "any", fitted = true}\nprivacy = {epsilon = 1.0, delta = 0.0}\n'
        "pairs = [{here = 1, there = 2}]\n",
        'mechanism = {name = "batches", sampling = "fixed:2", records = 10, fitted = true}\n',
    ],
)
def test_claims_of_all_kinds_may_say_it(text):
    assert parse_claim(tomllib.loads(text)).fitted


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('[mechanism]\nname = "?"\n[privacy]\nepsilon = "?"\n', "mechanism.name, privacy.epsilon"),
        (
            '[mechanism]\nname = "table"\naggregates.sum.noise = "?"\n',
            "mechanism.aggregates.sum.noise",
        ),
        ('[mechanism]\nname = "any"\n[[pairs]]\nhere = "?"\nthere = "?"\n', "pairs"),
    ],
)
def test_what_is_to_be_filled_in_is_named_before_any_other_mistake(tmp_path, text, keys):
    path = tmp_path / "claim.toml"
    path.write_text(text)
    with pytest.raises(ClaimError, match=f"specification: {keys}$") as raised:
        read_claim(path)
    assert raised.value.code == UNFILLED


def test_a_question_mark_elsewhere_is_a_value():
    """An input of a pair may be one: catches a search through the whole claim."""
    table = tomllib.loads(
        'mechanism = {name = "any"}\nprivacy = {epsilon = 1.0, delta = 0.0}\n'
        'pairs = [{here = "?", there = "!"}]\n'
    )
    assert parse_claim(table).pairs[0].here == "?"


OPENER = """
from dpassay.verifiers.targets import open_target


def opened(rest, timeout, restart, release):
    return open_target(rest, timeout, release=release)
"""


@pytest.mark.slow("over half a second")
def test_a_target_that_a_package_opens_is_asked_in_each_form(folder):
    (folder / "relayed.py").write_text(OPENER)
    lay_points(folder, "relay", "dpassay.targets", {"relay": "relayed:opened"})
    with on_the_path(folder):
        made = typed("init", "relay:deployment.py:aggregate", "--calls", "60")
    assert made.returncode == 0, made.stderr
    table = tomllib.loads(Path("claim.toml").read_text())["mechanism"]
    assert table["classes"] == 10
