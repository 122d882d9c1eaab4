"""A target's copy: what is in it, what it is told of the environment, and what is left out."""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from paths.confined import looks_of

from dpassay.verifiers.paths import scratch as scratch_module
from dpassay.verifiers.paths.left_out import LeftOut
from dpassay.verifiers.paths.scratch import Scratch


@pytest.fixture
def deployed(tmp_path, monkeypatch):
    """A folder with a target and what lies beside it; the current one is above."""
    folder = tmp_path / "deployed"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "target.py").write_text("import helper\naggregate = helper.answer\n")
    (folder / "helper.py").write_text("def answer(votes):\n    return __file__\n")
    (folder / "data" / "deep" / "votes.csv").write_text("1,2\n")
    monkeypatch.chdir(tmp_path)
    return folder


def left_out(spec, secrets=()):
    """The line with which a target is left out, after which nothing is left of its folder."""
    kept = Scratch(spec, secrets)
    with pytest.raises(LeftOut) as caught, kept:
        pass
    line = str(caught.value)
    assert line.strip().splitlines() == [line]
    if hasattr(kept, "folder"):
        assert not kept.folder.exists()
    return line


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_the_folder_of_a_file_is_copied(deployed):
    before = looks_of(deployed)
    with Scratch("deployed/target.py:aggregate") as scratch:
        assert scratch.spec == f"{scratch.copied_to}/target.py:aggregate"
        assert contents(scratch.copied_to) == contents(deployed)
        assert scratch.cwd == scratch.copied_to
        assert scratch.cwd.is_relative_to(scratch.folder)
        assert scratch.copied_from == deployed.resolve()
        (scratch.copied_to / "helper.py").write_text("changed")
    assert looks_of(deployed) == before
    assert not scratch.folder.exists()


def test_the_copy_is_what_is_imported(deployed):
    """Catches an environment in which the original comes first."""
    text = "import sys, runpy; sys.path[0] = ''; print(runpy.run_path(sys.argv[1])['aggregate'](0))"
    with Scratch("deployed/target.py:aggregate") as scratch:
        done = subprocess.run(
            [sys.executable, "-c", text, scratch.spec.rpartition(":")[0]],
            env=scratch.environment,
            cwd=scratch.cwd,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(scratch.copied_to / "helper.py")


def test_the_current_folder_has_its_place_in_the_copy(deployed, monkeypatch):
    """Files that a target opens by a relative path are found again."""
    monkeypatch.chdir(deployed / "data")
    with Scratch("../target.py:aggregate") as scratch:
        assert (scratch.cwd / "deep" / "votes.csv").is_file()


@pytest.mark.parametrize("module", ["package.inner.target", "package.inner", "package", "single"])
def test_a_module_is_copied_with_its_top_package(module, tmp_path, monkeypatch):
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    fails = "raise SystemError('imported')"
    for path in (inner / "target.py", inner / "__init__.py", inner.parent / "__init__.py"):
        path.write_text(fails)
    (tmp_path / "single.py").write_text(fails)
    monkeypatch.chdir(tmp_path)
    with Scratch(f"{module}:aggregate") as scratch:
        assert scratch.spec == f"{module}:aggregate"
        top = module.partition(".")[0]
        text = f"import importlib.util; print(importlib.util.find_spec({top!r}).origin)"
        done = subprocess.run(
            [sys.executable, "-c", text],
            env=scratch.environment,
            cwd=scratch.cwd,
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(done.stdout.strip()).is_relative_to(scratch.copied_to)
    assert module not in sys.modules


def test_an_installed_module_is_copied_without_its_neighbours(tmp_path, monkeypatch):
    """Else all that is installed would be copied."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "installed_target.py").write_text("aggregate = max")
    (installed / "other.py").write_text("")
    monkeypatch.syspath_prepend(installed)
    with Scratch("installed_target:aggregate") as scratch:
        assert contents(scratch.cwd) == ["installed_target.py"]
        assert str(installed) not in scratch.environment["PYTHONPATH"].split(os.pathsep)


def test_folders_of_tools_are_not_copied(deployed):
    for name in (".git", "__pycache__", ".venv", "node_modules", "own_environment"):
        (deployed / name).mkdir()
        (deployed / name / "file").write_text("")
    (deployed / "own_environment" / "pyvenv.cfg").write_text("")
    os.mkfifo(deployed / "fifo")
    with Scratch("deployed/target.py:aggregate") as scratch:
        assert contents(scratch.copied_to) == [
            "data",
            "data/deep",
            "data/deep/votes.csv",
            "empty",
            "helper.py",
            "target.py",
        ]


def test_a_copy_is_not_copied_into_itself(deployed, monkeypatch):
    """Where temporary files are kept within the target's folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(deployed))
    with Scratch("deployed/target.py:aggregate") as scratch:
        assert scratch.folder.parent == deployed
        assert not (scratch.copied_to / scratch.folder.name).exists()


def test_links_are_files_inside_and_skipped_outside(deployed, tmp_path):
    """Catches a copy through which the original, or a file outside, could be written."""
    (tmp_path / "outside").write_text("")
    (deployed / "inside").symlink_to("helper.py")
    (deployed / "to outside").symlink_to(tmp_path / "outside")
    (deployed / "to nothing").symlink_to("nothing")
    (deployed / "folder").symlink_to(deployed / "data")
    (deployed / "data" / "loop").symlink_to("..")
    (deployed / "folder outside").symlink_to(tmp_path)
    with Scratch("deployed/target.py:aggregate") as scratch:
        copy = scratch.copied_to
        assert not (copy / "inside").is_symlink()
        assert (copy / "inside").read_text() == (deployed / "helper.py").read_text()
        assert (copy / "folder" / "deep").resolve() == copy / "data" / "deep"
        assert (copy / "data" / "loop").resolve() == copy
        names = set(os.listdir(copy))
        assert not {"to outside", "to nothing", "folder outside"} & names


@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_FILES", 3), ("MOST_BYTES", 80)], ids=["files", "bytes"]
)
def test_what_is_too_large_is_left_out(limit, value, deployed, monkeypatch):
    """The folder has three files; the limit is met, and passed by one more."""
    (deployed / "target.py").write_text("#" * (76 - (deployed / "helper.py").stat().st_size))
    monkeypatch.setattr(scratch_module, limit, value)
    with Scratch("deployed/target.py:aggregate"):
        pass
    (deployed / "more").write_text("#")
    assert "larger than 50 MB or 5,000 files" in left_out("deployed/target.py:aggregate")


def test_what_cannot_be_read_is_left_out(deployed, monkeypatch):
    def refuse(*given, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "copy2", refuse)
    assert "cannot be copied: Permission denied" in left_out("deployed/target.py:aggregate")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("missing.py:aggregate", "no file missing.py"),
        ("missing_module:aggregate", "no module missing_module was found"),
        ("zipped.zip/target.py:aggregate", "in a zip"),
        ("in_zip:aggregate", "in a zip"),
        ("compiled:aggregate", "is compiled"),
        ("package.compiled:aggregate", "is compiled"),
        ("package.missing:aggregate", "missing was not found"),
        ("package.data:aggregate", "without __init__.py"),
        ("sys:aggregate", "no one folder"),
        ("dpassay.verifiers.demos.broken:aggregate", "part of dpassay"),
        ("exec:cat", "no Python target"),
        ("http://localhost:1", "no Python target"),
        ("nonsense", "expected package.module:attr"),
    ],
)
def test_what_has_no_text_is_left_out(spec, words, tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr("in_zip.py", "aggregate = max")
        archive.writestr("target.py", "aggregate = max")
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (tmp_path / "package" / "data").mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("")
    for folder in (tmp_path, tmp_path / "package"):
        (folder / f"compiled{suffix}").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "zipped.zip")
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    assert words in left_out(spec)


def test_the_environment_leads_into_the_folder(deployed, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    monkeypatch.setenv("PYTHONPATH", "/of/the/user")
    with Scratch("deployed/target.py:aggregate") as scratch:
        told = scratch.environment
        for name in ("HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            assert Path(told[name]).is_relative_to(scratch.folder)
            assert Path(told[name]).is_dir()
        paths = told["PYTHONPATH"].split(os.pathsep)
        assert paths[:2] == [str(scratch.copied_to), "/of/the/user"]
        assert told["PATH"] == os.environ["PATH"]


def test_secrets_are_withheld(deployed, monkeypatch):
    hidden = {
        "AWS_SECRET_ACCESS_KEY": "a",
        "github_token": "a",
        "PGPASSFILE": "a",
        "STORE": "postgres://me:word@host/db",
        "LEDGER": "named by the claim",
    }
    kept = {"STORE_TOO": "postgres://host/db", "LEDGERS": "a"}
    for name, value in (hidden | kept).items():
        monkeypatch.setenv(name, value)
    with Scratch("deployed/target.py:aggregate", ["LEDGER", "not set"]) as scratch:
        assert not set(hidden) & set(scratch.environment)
        assert kept.items() <= scratch.environment.items()
        assert set(hidden) <= set(scratch.withheld)
        assert not set(kept) & set(scratch.withheld)
