"""`--workers N` and `--dask ADDRESS`: the same output as of one process, or one line."""

import json
import sys

import numpy as np
import pytest
from typed import assert_misuse, typed

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.commands.reading_votes import ReadVotes, reconstruct_votes

OPTIONS = ("--noise", "gaussian:40", "--teachers", "230")
ACCOUNT = ("--mechanism", "gnmax", "--noise", "gaussian:40", "--delta", "1e-5")
VOTES = [[90, 78, 62], [200, 20, 10]]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    rng, mechanism = np.random.default_rng(0), NoisyArgmax(Gaussian(40.0))
    paths = []
    for place, votes in enumerate(VOTES):
        path = folder / f"log{place}.txt"
        path.write_text("".join(f"{x}\n" for x in mechanism.sample(votes, 3000, rng).tolist()))
        paths.append(str(path))
    return paths


@pytest.fixture(scope="module")
def alone(logs):
    """What each log says when it is read by itself."""
    how = {"classes": None, "mechanism": ("gaussian:40", None, None), "teachers": 230}
    read = [reconstruct_votes(log, None, **how, method="mle") for log in logs]
    return [ReadVotes.of(one.reconstruction, 230) for one in read]


@pytest.fixture
def histograms(tmp_path):
    path = tmp_path / "histograms.csv"
    path.write_text("".join(f"{200 - n},{n},{n // 2},1\n" for n in range(9)))
    return str(path)


def asked(*arguments):
    done = typed(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow("starts processes; test_workers does, and logs are read by one below")
def test_logs_are_read_in_their_order_each_as_if_alone(logs, alone) -> None:
    """Over two processes: catches logs that come as they are ready, and votes that are mixed."""
    found = json.loads(asked("reconstruct", *logs, *OPTIONS, "--workers", "2", "--json"))
    each = zip(logs, alone, strict=True)
    assert found == {"logs": [{"log": log} | read.public() for log, read in each]}


@pytest.mark.slow("over half a second")
def test_several_logs_are_printed_by_name(logs, alone) -> None:
    found = asked("reconstruct", *logs, *OPTIONS).rstrip("\n")
    each = zip(logs, alone, strict=True)
    assert found == "\n\n".join(f"{log}: {read.as_text()}" for log, read in each)


@pytest.mark.slow("starts processes; test_workers does")
def test_an_account_is_the_same_over_workers(histograms) -> None:
    """To the last digit: catches costs that are added as they come, or given to other rows."""
    line = ("account", histograms, *ACCOUNT, "--json", "--epsilon", "3")
    assert asked(*line, "--workers", "2") == asked(*line)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--workers", "0"), "expected a whole number from 1 to 1,000"),
        (("--workers", "x"), "expected a whole number from 1 to 1,000"),
        (("--workers", "2", "--dask", "tcp://h:1"), "--workers and --dask: give one or the other"),
    ],
)
def test_what_makes_no_sense_is_one_line(histograms, logs, more, said) -> None:
    for line in (("account", histograms, *ACCOUNT), ("reconstruct", *logs, *OPTIONS)):
        assert_misuse(typed(*line, *more), said)


def test_a_log_that_is_none_is_named_before_any_is_read(logs, tmp_path) -> None:
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("1\nx\n")
    done = typed("reconstruct", *logs, str(wrong), *OPTIONS, "--workers", "2")
    assert done.returncode == 2
    assert done.stderr.startswith(f"dpassay: {wrong}, line 2: 'x' ")
    wrong.write_text("-1\n")
    done = typed("reconstruct", str(wrong), *logs, *OPTIONS)
    assert f"dpassay: {wrong}: no labels" in done.stderr


def test_one_log_has_no_parts(logs) -> None:
    done = typed("reconstruct", logs[0], *OPTIONS, "--workers", "2")
    assert done.returncode == 2
    assert done.stderr.startswith("dpassay: ")
    assert all(each in done.stderr for each in ("--workers", "--dask", "several LABELS"))
    assert done.stderr.count("\n") == 1


def test_without_distributed_one_line_says_what_to_install(histograms, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = typed("account", histograms, *ACCOUNT, "--dask", "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert done.stderr.startswith("dpassay: --dask ")
    assert done.stderr.endswith("pip install distributed [package-missing]\n")
    assert done.stderr.count("\n") == 1
