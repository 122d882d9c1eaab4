"""What the pages say of numbers does what they say: three transports, the demo, the tutorial."""

import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typed import typed

from dpassay.verifiers.targets import Refused, open_target
from dpassay.verifiers.targets.numbers import NumberRelease

ROOT = Path(__file__).parents[2]
GUIDE, GRADIENTS = "docs/how-to/numbers.md", "docs/how-to/gradients.md"
SHORT = ("--max-queries", "300", "--seed", "7")


def block(page, language, words):
    blocks = re.findall(
        r"^```(\w*)\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    )
    found = [text for kind, text in blocks if kind == language and words in text]
    assert len(found) == 1, f"{len(found)} {language} blocks with {words!r} in {page}"
    return found[0]


@contextmanager
def served(folder):
    """The how-to guide's server, on a free port; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = block(GUIDE, "python", "class Sums").replace("8124", str(port))
    (folder / "server.py").write_text(source)
    server = subprocess.Popen([sys.executable, "server.py"], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def claims(tmp_path, *names):
    for name in names:
        key = {"counts": "replace-one", "sums": "noisy-sum", "keys": "thresholded-histogram"}[name]
        (tmp_path / f"{name}.toml").write_text(block(GUIDE, "toml", key))


@pytest.mark.slow("over half a second")
def test_numbers_in_python_and_from_a_program(tmp_path, monkeypatch) -> None:
    """So few queries end without a verdict, but with evidence."""
    monkeypatch.chdir(tmp_path)
    claims(tmp_path, "counts", "keys")
    Path("counts.py").write_text(block(GUIDE, "python", "2 / epsilon"))
    Path("child.py").write_text(block(GUIDE, "python", "def geometric"))
    found = typed("verify", "counts.py:aggregate", "--claim", "counts.toml", *SHORT)
    assert found.returncode == 3, found.stdout + found.stderr
    child = f"exec:{sys.executable} child.py"
    found = typed("verify", child, "--claim", "keys.toml", *SHORT, "--json")
    assert found.returncode == 3, found.stdout + found.stderr
    assert '"partition-release"' in found.stdout


@pytest.mark.slow("over half a second")
def test_numbers_behind_http(tmp_path, monkeypatch) -> None:
    """And a record with a NaN arrives, where it is refused as the page's server does."""
    monkeypatch.chdir(tmp_path)
    claims(tmp_path, "sums")
    with served(tmp_path) as address:
        found = typed("verify", address, "--claim", "sums.toml", *SHORT)
        assert found.returncode == 3, found.stdout + found.stderr
        target = open_target(address, 30.0, release=NumberRelease("records", 3))
        with pytest.raises(Refused, match="expected finite numbers"):
            target.ask(np.array([[np.nan, np.inf, 0.5]]), 2)
        target.close()


@pytest.mark.slow("over half a second")
def test_the_tutorials_counts_fail_as_shown(tmp_path, monkeypatch) -> None:
    """Every line of the sample that does not depend on chance is printed."""
    monkeypatch.chdir(tmp_path)
    source = block("docs/tutorial/numbers.md", "python", "1 / epsilon")
    # which of the checks fail first may depend on chance
    Path("counts.py").write_text(source.replace("default_rng()", "default_rng(1)"))
    Path("counts.toml").write_text(block("docs/tutorial/numbers.md", "toml", "replace-one"))
    line = block("docs/tutorial/numbers.md", "", "counts.py").split()
    found = typed(*line[1:])
    assert found.returncode == 1, found.stderr
    stable = [re.sub(r"[\d.,]+", "#", other).strip() for other in found.stdout.splitlines()]
    for shown in block("docs/tutorial/numbers.md", "text", "noise-law").splitlines():
        if shown.strip() != "...":
            assert re.sub(r"[\d.,]+", "#", shown).strip() in stable, shown


@pytest.mark.slow("a whole game; test_play and test_gradient_audit have smaller ones")
def test_gradients_are_played_and_audited_as_shown(tmp_path, monkeypatch) -> None:
    """Each line of the guide, typed; the claim of add-remove is true, and not accused."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^```\n(dpassay .*)\n```", (ROOT / GRADIENTS).read_text(), re.MULTILINE)
    example, played, rounds, verified, audited = (line.split()[1:] for line in lines)
    assert typed(*example).returncode == 0
    found = typed(*played, "--trials", "100")
    assert found.returncode == 0, found.stderr
    assert "epsilon 4.377" in found.stdout  # at sigma 2
    assert "attribute flipped" in found.stdout
    found = typed(*rounds, "--trials", "100")
    assert found.returncode == 0, found.stderr
    assert "  all rounds " in found.stdout
    found = typed(*verified, "--seed", "1")
    assert found.returncode == 1, found.stdout + found.stderr
    assert re.findall("^fail +(.*)", found.stdout, re.MULTILINE) == ["gradient-leakage"]
    found = typed(*audited)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "any record added" in found.stdout


def test_readme_names_the_demo() -> None:
    """Within its first forty lines, beside the run of labels; and a report of it has a page."""
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])
    assert "dpassay verify --demo noisy-histogram" in first
    assert "**labels**" in first
    assert "**numbers**" in first


@pytest.mark.slow("over half a second")
def test_the_demo_writes_a_page(tmp_path) -> None:
    found = typed("verify", "--demo", "noisy-histogram", *SHORT, "--report", str(tmp_path))
    assert found.returncode == 3, found.stderr
    page = (tmp_path / "index.html").read_text()
    assert "Noise of" in page
    assert 'name="noise-law"' in (tmp_path / "junit.xml").read_text()
