"""`dpassay serve` and `dpassay verify http://...`: both ends of the protocol, as processes."""

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys

import httpx
import numpy as np
import pytest
from claims import COARSE, gnmax, in_toml
from runs import names_scale
from small import small_claim

from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.verifiers.commands.serve import serve_reference
from dpassay.verifiers.commands.service import application
from dpassay.verifiers.inputs.input_error import InputError
from dpassay.verifiers.kinds.labels.served import ServedLabels
from dpassay.verifiers.kinds.reading import parse_claim

COMMAND = [sys.executable, "-m", "dpassay.verifiers.cli"]
CLAIM = in_toml(mechanism=gnmax("{scale}", 3, 50), gate=COARSE)
BUDGET = "[privacy]\nepsilon = 1.0\ndelta = 1e-5\nqueries = 5\n"


@contextlib.contextmanager
def serving(*arguments):
    """The process and its URL, once it has printed it."""
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stderr.readline()
            assert "http://127.0.0.1:" in line, line
            yield process, line.split()[-1]
        finally:
            process.kill()


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    for scale in (10, 20):
        (folder / f"{scale}.toml").write_text(CLAIM.format(scale=scale))
    (folder / "budget.toml").write_text(CLAIM.format(scale=10) + BUDGET)
    return folder


@pytest.fixture(scope="module")
def url(claims):
    with serving("--claim", str(claims / "10.toml")) as (_, url):
        yield url


def verify(url, claim):
    return subprocess.run(
        [*COMMAND, "verify", url, "--claim", str(claim), "--json", "--seed", "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow("a whole pass over HTTP")
def test_the_reference_served_passes_its_claim(url, claims) -> None:
    """With its accountant: the charges that it serves cover the exact cost."""
    found = verify(url, claims / "10.toml")
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (0, "pass"), report["checks"]
    verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
    assert verdicts["accountant-soundness"] == "pass"


@pytest.mark.slow("a whole run over HTTP; others are")
def test_it_fails_the_claim_of_more_noise_and_no_credentials_are_shown(url, claims) -> None:
    secret = url.replace("http://", "http://user:s3cr3t@")
    found = verify(secret, claims / "20.toml")
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (1, "fail")
    failed = [check for check in report["checks"] if check["verdict"] == "fail"]
    assert names_scale(failed[0]["diagnosis"], 0.5)
    assert "http://***@127.0.0.1" in failed[0]["reproduce"]
    assert "s3cr3t" not in found.stdout + found.stderr


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "expected one JSON object with histogram and size"),
        (b"[" * 100_000, "expected one JSON object"),
        (b"[1]", "expected one JSON object"),
        (b"\xff", "expected one JSON object"),
        ({"histogram": [1, 2, 3]}, "expected one JSON object with histogram and size"),
        ({"histogram": [1, 2, 3], "size": 1, "seed": 4}, "expected one JSON object"),
        ({"histogram": [1, 2], "size": 1}, "histogram of 2 classes: expected 3"),
        ({"histogram": [1, 2, -3], "size": 1}, "-3 votes for class 2: expected at least 0"),
        ({"histogram": [1, 2, 2.5], "size": 1}, "expected a list of whole numbers"),
        ({"histogram": [1, 2, True], "size": 1}, "expected a list of whole numbers"),
        ({"histogram": "1,2,3", "size": 1}, "expected a list of whole numbers"),
        ({"histogram": [1, 2, 10**30], "size": 1}, "expected whole numbers"),
        ({"histogram": [1, 2, 3], "size": 0}, "size 0: expected a whole number from 1"),
        ({"histogram": [1, 2, 3], "size": 1_000_001}, "size 1000001: expected a whole number"),
        ({"histogram": [1, 2, 3], "size": 1.0}, "size 1.0: expected a whole number"),
        ({"histogram": [1, 2, 3], "size": [[[]]]}, "size [[[]]]: expected a whole number"),
    ],
)
def test_wrong_requests_are_one_line(url, content, words) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content)
    reply = httpx.post(f"{url}/aggregate", content=body, trust_env=False)
    assert reply.status_code == 422
    message = reply.json()["error"]
    assert words in message
    assert message.isprintable()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("orders", [[], [1.0], [2.0, "x"], "2", [float("nan")], [2.0] * 1001])
def test_wrong_orders_are_refused(url, orders) -> None:
    body = json.dumps({"histogram": [1, 2, 3], "orders": orders})
    reply = httpx.post(f"{url}/rdp", content=body, trust_env=False)
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("orders: expected")


def test_charges_are_given_for_each_outcome() -> None:
    """A refusal costs the screening, order / (2 sigma^2), an answer order / sigma^2 more."""
    made = small_claim("confident-gnmax")
    orders = np.array([2.0, 8.0])
    votes = np.array([20, 10, 5, 5])
    found = [ServedLabels(made).rdp(votes, orders, each) for each in (False, True, None)]
    assert found[0] == pytest.approx(orders / 200)
    assert found[1] == found[2] == pytest.approx(orders / 200 + orders / 100)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("answered", ["yes", 1, []])
def test_an_outcome_is_true_or_false(url, answered) -> None:
    body = {"histogram": [1, 2, 3], "orders": [2.0], "answered": answered}
    reply = httpx.post(f"{url}/rdp", json=body, trust_env=False)
    assert reply.status_code == 422
    assert reply.json()["error"].endswith("true or false")


@pytest.mark.parametrize("query", ["", "?delta=", "?delta=x", "?delta=0", "?delta=nan"])
def test_wrong_deltas_are_refused(url, query) -> None:
    reply = httpx.get(f"{url}/spent{query}", trust_env=False)
    assert reply.status_code == 422
    assert "between 0 and 1" in reply.json()["error"]


def test_long_bodies_and_other_routes_are_refused_in_json(url) -> None:
    long = httpx.post(f"{url}/aggregate", content=b" " * 1_000_001, trust_env=False)
    assert long.status_code == 413
    assert "at most 1,000,000 bytes" in long.json()["error"]
    assert httpx.get(f"{url}/nothing", trust_env=False).status_code == 404
    other = httpx.get(f"{url}/aggregate", trust_env=False)
    assert other.status_code == 405
    assert "error" in other.json()


def test_charges_are_those_of_gnmax(url) -> None:
    """Papernot et al. 2018, Proposition 8: order / sigma^2 for one query; sigma = 10."""
    body = {"histogram": [30, 15, 5], "orders": [2.0, 8.0]}
    reply = httpx.post(f"{url}/rdp", json=body, trust_env=False).json()
    assert reply["rdp"] == pytest.approx([2 / 100, 8 / 100])


def epsilon(costs):
    return to_epsilon(ORDERS, costs, 1e-5).epsilon


@pytest.mark.slow("over half a second")
def test_a_budget_is_enforced_and_ctrl_c_ends_it_with_status_0(claims) -> None:
    """What cannot all be answered is not begun; each label answered is charged, and no other.

    At sigma = 10, a query costs order / 100: three fit epsilon 1 at delta 1e-5, four do not.
    """
    assert epsilon(3 * ORDERS / 100) < 1.0 < epsilon(4 * ORDERS / 100)

    def ask(size):
        body = {"histogram": [30, 15, 5], "size": size}
        return httpx.post(f"{url}/aggregate", json=body, trust_env=False)

    def spent():
        return httpx.get(f"{url}/spent?delta=1e-5", trust_env=False).json()["spent"]

    with serving("--claim", str(claims / "budget.toml")) as (process, url):
        assert spent() == 0.0
        assert ask(4).status_code == 429
        assert spent() == 0.0
        assert ask(2).status_code == 200
        assert spent() == pytest.approx(epsilon(2 * ORDERS / 100))
        assert ask(2).status_code == 429
        assert ask(1).status_code == 200
        assert spent() == pytest.approx(epsilon(3 * ORDERS / 100))
        assert "would exceed 1" in ask(1).json()["error"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_refused_queries_are_served_and_charged_their_test_alone() -> None:
    """Papernot et al. 2018, section 4.1: the test at sigma_1 costs order / (2 sigma_1^2)."""
    mechanism = {"name": "confident-gnmax", "noise": "gaussian:10", "classes": 3, "teachers": 50}
    mechanism |= {"threshold": 1e9, "threshold_noise": "gaussian:20"}
    served = application(ServedLabels(parse_claim({"mechanism": mechanism})))

    async def calls():
        transport = httpx.ASGITransport(served)
        async with httpx.AsyncClient(transport=transport, base_url="http://served") as client:
            asked = await client.post("/aggregate", json={"histogram": [30, 15, 5], "size": 7})
            return asked.json(), (await client.get("/spent?delta=1e-5")).json()

    labels, spent = asyncio.run(calls())
    assert labels == {"labels": [-1] * 7}
    assert spent["spent"] == pytest.approx(epsilon(7 * ORDERS / (2 * 20**2)))


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = f"^port {port} cannot be used: it is in use; --port 0 takes a free one$"
        with pytest.raises(InputError, match=words):
            serve_reference(None, port)


def test_a_claim_that_cannot_be_read_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^none.toml: No such "):
        serve_reference("none.toml", 0)


def test_without_the_extra_the_command_to_get_it_is_printed() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['dpassay', 'serve']\n"
        "from dpassay.verifiers.cli import main\n"
        "main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert found.returncode == 2
    words = "serve needs uvicorn, which is not installed: pip install uvicorn [package-missing]"
    assert found.stderr == f"dpassay: {words}\n"
