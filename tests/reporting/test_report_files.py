"""`verify --report DIR`: whole files or none, and trouble told before the run where possible."""

import errno
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from typed import typed

from dpassay.verifiers.cli import commands
from dpassay.verifiers.reporting.files import FILES, ReportFileError, ReportFolder

HERE = Path(__file__).parents[1]


def folder(path):
    return ReportFolder(str(path), "a.py:b", None)


def is_whole(path):
    """Whether the three files parse, and nothing else is left."""
    assert sorted(p.name for p in path.iterdir()) == sorted(FILES)
    json.loads((path / "report.json").read_text())
    ElementTree.parse(path / "junit.xml")
    assert (path / "index.html").read_text().rstrip().endswith("</html>")
    return True


@pytest.mark.slow("over half a second")
def test_the_command_line_writes_what_it_prints(claim_file, tmp_path) -> None:
    where = tmp_path / "made" / "anew"
    target = f"{HERE}/aggregators.py:half_noise"
    words = ["verify", "--json", "--claim", claim_file, target, "--report", str(where)]
    found = typed(*words, "--seed", "0")
    assert (found.returncode, found.stderr) == (1, "")
    assert is_whole(where)
    assert json.loads((where / "report.json").read_text()) == json.loads(found.stdout)
    suite = ElementTree.parse(where / "junit.xml").find("testsuite")
    assert int(suite.get("failures")) >= 1
    assert suite.find("testcase").get("file") == claim_file


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "inconclusive", "interrupted"])
def test_every_kind_of_run_leaves_whole_files(reports, kind, tmp_path) -> None:
    """An interrupted run too; the same folder is written over."""
    for _ in range(2):
        assert folder(tmp_path / "r").write(reports[kind]) is None
        assert is_whole(tmp_path / "r")


def test_others_may_read_them(reports, tmp_path) -> None:
    """Catches the mode 0600 of temporary files, which CI's collectors cannot read."""
    before = os.umask(0o022)
    try:
        folder(tmp_path).write(reports["fail"])
    finally:
        os.umask(before)
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in FILES} == {0o644}


def test_a_link_in_place_of_a_file_is_replaced_not_followed(reports, tmp_path) -> None:
    other = tmp_path / "precious"
    other.write_text("keep me")
    where = tmp_path / "r"
    where.mkdir()
    (where / "report.json").symlink_to(other)
    (where / "junit.xml").symlink_to("/dev/full")
    (where / "index.html").symlink_to(tmp_path / "nowhere")
    assert folder(where).write(reports["fail"]) is None
    assert is_whole(where)
    assert not any((where / name).is_symlink() for name in FILES)
    assert other.read_text() == "keep me"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("", "expected a folder"),
        ("file", "expected a folder, found a file"),
        ("file/below", "Not a directory"),
        ("dangling", "expected a folder, found a file"),
        ("/proc/dpassay", "No such file or directory"),
        ("/proc/self", "cannot be written"),
        ("busy", "report.json is a folder"),
        ("x" * 300, "File name too long"),
        ("nul\0", "null byte"),
    ],
)
def test_a_folder_that_cannot_be_written_is_told_before_the_run(place, words, tmp_path) -> None:
    if place.startswith("/proc") and not Path("/proc/self").is_dir():
        pytest.skip("no /proc here")
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "busy" / "report.json").mkdir(parents=True)
    path = "" if place == "" else str(tmp_path / place)
    with pytest.raises(ReportFileError) as error:
        ReportFolder(path, "a.py:b", None)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_misuse_asks_nothing_of_the_target(claim_file, tmp_path) -> None:
    """The target would leave a mark if it were even imported."""
    marks = tmp_path / "marks.py"
    marks.write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\nsample = print\n")
    (tmp_path / "file").write_text("")
    arguments = ["verify", f"{marks}:sample", "--claim", claim_file, "--report", f"{tmp_path}/file"]
    found = CliRunner().invoke(commands, arguments)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"dpassay: --report {tmp_path}/file: ")
    assert "expected a folder" in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""
    assert not (tmp_path / "mark").exists()


def filling(monkeypatch, after):
    """The disk is full from the write number `after` on."""
    real, writes = os.fsync, [0]

    def fsync(descriptor):
        writes[0] += 1
        if writes[0] >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_a_disk_that_fills_up_leaves_old_and_whole_files(reports, tmp_path, monkeypatch) -> None:
    """The first file is new, the others those of the run before; nothing half-written remains."""
    folder(tmp_path).write(reports["pass"])
    made = folder(tmp_path)
    filling(monkeypatch, after=2)
    trouble = made.write(reports["fail"])
    assert trouble.startswith(f"{tmp_path}/junit.xml: ")
    assert "No space left" in trouble
    assert is_whole(tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "fail"
    assert "PASS" in (tmp_path / "index.html").read_text()
    with pytest.raises(ReportFileError, match="No space left"):
        folder(tmp_path)
    assert is_whole(tmp_path)


def test_an_interrupt_while_writing_leaves_whole_files(reports, tmp_path, monkeypatch) -> None:
    folder(tmp_path).write(reports["pass"])

    def interrupted(*_):
        raise KeyboardInterrupt

    made = folder(tmp_path)
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.write(reports["fail"])
    assert is_whole(tmp_path)


@pytest.mark.parametrize(("kind", "status"), [("fail", 1), ("pass", 2), ("inconclusive", 2)])
def test_a_full_disk_never_hides_a_violation(reports, kind, status, tmp_path, monkeypatch) -> None:
    """Exit 2 says that the report is missing, but a violation is a violation; stdout has it all."""
    monkeypatch.setattr("dpassay.verifiers.run.run.verify", lambda *_, **__: reports[kind])
    filling(monkeypatch, after=2)
    found = CliRunner().invoke(commands, ["verify", "--json", "--report", str(tmp_path)])
    assert found.exit_code == status
    assert found.stderr.startswith(f"dpassay: {tmp_path}/report.json: ")
    assert "No space" in found.stderr
    assert found.stderr.count("\n") == 1
    assert json.loads(found.stdout)["verdict"] == kind
