"""The tutorial of an ensemble behind FastAPI does what it says, as it stands on its page."""

import re
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from runs import names_scale, result

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial" / "queries.md").read_text()
COARSE = {"smallest_effect": 0.2, "tolerance": 0.3, "false_alarm": 1e-3, "timeout": 60.0}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the page's files stand, its teachers trained."""
    pytest.importorskip("fastapi")
    monkeypatch.chdir(tmp_path)
    train, service = blocks("python")
    Path("train.py").write_text(train)
    Path("service.py").write_text(service)
    subprocess.run([sys.executable, "train.py"], check=True)
    return tmp_path


def answers(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def served():
    """The service's address; its server ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "uvicorn", "service:app", "--log-level", "critical"]
    with subprocess.Popen([*words, "--port", str(port)]) as server:
        while not answers(port):
            assert server.poll() is None
            time.sleep(0.1)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def judged():
    claim = parse_claim(tomllib.loads(blocks("toml")[0]) | {"gate": COARSE})
    with served() as address:
        target = open_claimed(address, claim)
        report = verify(target, claim, seed=1)
        target.close()
    return report


@pytest.mark.slow("trains an ensemble and serves it; others ask targets by queries")
def test_the_service_passes_and_half_its_noise_is_named(folder) -> None:
    assert judged().verdict == "pass"
    service = Path("service.py")
    service.write_text(service.read_text().replace("rng.normal(0, 10,", "rng.normal(0, 5,"))
    found = judged()
    assert names_scale(result(found, "class-probabilities").diagnosis, 0.5)
