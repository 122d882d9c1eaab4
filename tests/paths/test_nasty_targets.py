"""Targets that keep state outside change nothing when a copy of them is run, confined.

Each is copied and called once; what it would change otherwise is shown by its own test.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from paths.confined import looks_of, run_confined

from dpassay.verifiers.paths.audit_hook import STOPPED
from dpassay.verifiers.paths.scratch import Scratch

NASTY = Path(__file__).parent / "nasty"
CALL = "import runpy\nprint(runpy.run_path({path!r})['aggregate']([1, 3, 2]))\n"

STOPPED_AT = {
    "appends_to_a_common_ledger": "open",
    "takes_a_port": "socket.bind",
    "starts_threads": "open",
    "changes_its_place": "open",
    "writes_at_its_end": "open",
    "takes_a_lock": "fcntl.flock",
    "has_a_lock_file": "os.remove",
    "has_a_common_database": "sqlite3.connect",
    "starts_a_program": "subprocess.Popen",
    "tells_a_server": "socket.getaddrinfo",
}
"""The event at which each is stopped."""

WRITES_IN_THE_COPY = {
    "writes_beside_itself": "ledger.txt",
    "has_a_database_beside_itself": "ledger.db",
}


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept").write_text("as it was")
    return folder


@pytest.fixture
def deployed(tmp_path):
    """A folder in which one target at a time is deployed."""
    folder = tmp_path / "deployed"
    folder.mkdir()
    return folder


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()


def deploy(name, folder):
    return shutil.copy(NASTY / f"{name}.py", folder)


def called(scratch, outside, port=9, before=""):
    path = scratch.spec.rpartition(":")[0]
    given = {"OUTSIDE": str(outside), "PORT": str(port)}
    text = "confinement.limit(5, 1 << 30)\n" + before + CALL.format(path=path)
    return run_confined(
        text, scratch.folder, outside, cwd=scratch.cwd, env=scratch.environment | given
    )


@pytest.mark.parametrize("name", STOPPED_AT)
def test_it_is_stopped_and_nothing_has_changed(name, deployed, outside, port):
    path = deploy(name, deployed)
    before = looks_of(outside), looks_of(deployed)
    with Scratch(f"{path}:aggregate") as scratch:
        ended = called(scratch, outside, port)
    # the threads of one may be stopped together, before the first has ended the process
    assert {record["event"] for record in ended.records} == {STOPPED_AT[name]}, ended
    assert ended.status == STOPPED
    assert (looks_of(outside), looks_of(deployed)) == before


@pytest.mark.parametrize("name", WRITES_IN_THE_COPY)
def test_it_answers_and_writes_in_the_copy(name, deployed, outside):
    path = deploy(name, deployed)
    before = looks_of(outside), looks_of(deployed)
    with Scratch(f"{path}:aggregate") as scratch:
        ended = called(scratch, outside)
        assert (ended.status, ended.printed, ended.records) == (0, "1\n", []), ended
        assert (scratch.copied_to / WRITES_IN_THE_COPY[name]).stat().st_size > 0
    assert (looks_of(outside), looks_of(deployed)) == before
    assert not scratch.folder.exists()


@pytest.mark.parametrize(
    "name", sorted({*STOPPED_AT, *WRITES_IN_THE_COPY} - {"takes_a_port", "takes_a_lock"})
)
@pytest.mark.slow("shows that the other tests could fail")
def test_it_would_change_something_otherwise(name, deployed, outside):
    """Catches targets that do nothing; of a port and a lock nothing stays to be seen."""
    path = deploy(name, deployed)
    before = looks_of(outside), looks_of(deployed)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        given = {"OUTSIDE": str(outside), "PORT": str(server.getsockname()[1])}
        text = CALL.format(path=str(path))
        subprocess.run([sys.executable, "-c", text], env=os.environ | given, check=True)
        if name == "tells_a_server":
            server.accept()[0].close()
        else:
            assert (looks_of(outside), looks_of(deployed)) != before


def test_forks_of_forks_come_to_an_end(deployed, outside):
    """That its output has an end shows that no fork is left, as each holds it open."""
    path = deploy("forks_over_and_over", deployed)
    before = looks_of(outside), looks_of(deployed)
    with Scratch(f"{path}:aggregate") as scratch:
        ended = called(scratch, outside)
    assert {record["event"] for record in ended.records} == {"os.fork"}, ended
    # the first and its 64, unless the system refuses some; those that made theirs in time answer
    assert ended.printed.count("1") + len(ended.records) <= 65, ended
    assert (looks_of(outside), looks_of(deployed)) == before


def test_one_that_waits_is_ended_from_outside(deployed, outside):
    """Limits are of CPU time: the parent has to look at the clock. Here an alarm stands for it."""
    path = deploy("sleeps", deployed)
    alarm = "import signal; signal.setitimer(signal.ITIMER_REAL, 0.1)\n"
    with Scratch(f"{path}:aggregate") as scratch:
        ended = called(scratch, outside, before=alarm)
    assert (ended.status, ended.records) == (-signal.SIGALRM, [])
