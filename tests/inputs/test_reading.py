"""Files that a user names: devices, pipes and what has no end are one line, soon."""

import os
import subprocess
import sys
import threading

import pytest
from claims import gnmax, in_toml
from typed import typed

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.inputs import files as reading
from dpassay.verifiers.inputs.files import ReadingError, read_bytes
from dpassay.verifiers.inputs.histogram_file import read_histograms
from dpassay.verifiers.kinds.reading import read_claim

MECHANISM = in_toml(mechanism=gnmax(40, 3, 30))
ACCOUNT = ("--mechanism", "gnmax", "--noise", "gaussian:40", "--delta", "1e-5")


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(reading, "_WRITER_SECONDS", 0.2)


def test_a_device_is_refused_unread() -> None:
    """/dev/zero would fill the memory, and nothing would ever be said."""
    with pytest.raises(ReadingError, match=r"device: .*file$"):
        read_bytes("/dev/zero")


def test_a_file_is_read_up_to_the_limit_and_no_further(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_bytes(str(path), 100) == b"x" * 100
    with pytest.raises(ReadingError, match="most 99 bytes"):
        read_bytes(str(path), 99)


def test_a_pipe_that_nobody_writes_is_given_up(pipe, impatient) -> None:
    """Opened as files are, it would block for ever."""
    with pytest.raises(ReadingError, match=r"writing .*0\.2 s"):
        read_bytes(pipe)


@pytest.mark.slow("over half a second")
def test_a_pipe_is_read_to_its_end_however_late_its_writer_speaks(pipe, monkeypatch) -> None:
    """Only the absence of a writer is judged: one that thinks for longer is waited for."""
    monkeypatch.setattr(reading, "_WRITER_SECONDS", 2.0)
    spoken = threading.Event()

    def write():
        with open(pipe, "wb", buffering=0) as file:
            spoken.wait(0.3)
            file.write(b"1,2")
            spoken.wait(0.3)
            file.write(b",3\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        monkeypatch.setattr(reading, "_WRITER_SECONDS", 2.0)
        assert [row.histogram for row in read_histograms(pipe)] == [(1, 2, 3)]
    finally:
        writer.join()


def test_what_is_read_more_than_once_is_a_regular_file(pipe, tmp_path) -> None:
    """A second reading of a pipe would find nothing: the claim would be held to no histogram."""
    privacy = f'[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\nscope = "{pipe}"\n'
    (tmp_path / "claim.toml").write_text(MECHANISM + privacy)
    with pytest.raises(ClaimError, match=r"scope: .*pipe: .* regular"):
        read_claim(tmp_path / "claim.toml")


def test_devices_in_every_place_of_a_file_are_one_line(tmp_path) -> None:
    privacy = '[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\nscope = "/dev/zero"\n'
    (tmp_path / "claim.toml").write_text(MECHANISM + privacy)
    for words in (
        ("verify", "--claim", "/dev/zero"),
        ("verify", "--claim", str(tmp_path / "claim.toml")),
        ("account", "/dev/zero", *ACCOUNT),
        ("reconstruct", "/dev/zero", "--noise", "gaussian:40", "--teachers", "30"),
    ):
        found = typed(*words)
        assert found.returncode == 2
        assert "/dev/zero: " in found.stderr
        assert "a device" in found.stderr
        assert len(found.stderr.splitlines()) == 1


@pytest.mark.slow("over half a second")
def test_a_process_substitution_is_read() -> None:
    """`<(...)` is a pipe without a name, whose writer may take its time or be done already."""
    command = f"{sys.executable} -m dpassay.verifiers.cli account <(sleep 0.3; echo 12,7,6) "
    found = subprocess.run(
        ["bash", "-c", command + " ".join(ACCOUNT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("epsilon ")


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        ("gate.timeout", "above 0 to 86400"),
        ("gate.run_timeout", "above 0 to 604800"),
        ("privacy.epsilon", "above 0 to 10000"),
    ],
)
def test_numbers_beyond_use_name_what_is_allowed(tmp_path, key, allowed) -> None:
    """A timeout of 1e308 s overflowed in the first call."""
    table, name = key.split(".")
    privacy = "[privacy]\ndelta = 1e-5\nqueries = 10\n" if table == "privacy" else "[gate]\n"
    (tmp_path / "claim.toml").write_text(f"{MECHANISM}{privacy}{name} = 1e308\n")
    with pytest.raises(ClaimError, match=rf"{key} = 1e.308: .*finite.* {allowed}$"):
        read_claim(tmp_path / "claim.toml")
