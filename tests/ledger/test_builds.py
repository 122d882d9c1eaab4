"""The build of a target, by its files: what changes it, and what does not."""

from pathlib import Path

import pytest

from dpassay.verifiers.ledger.builds import UNKNOWN, build_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A target, a module that it imports, and what is none of it."""
    monkeypatch.chdir(tmp_path)
    for name in ("target.py", "part/noise.py", "package/__init__.py", "package/deep.py", "run.sh"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "changes", "keeps"),
    [
        ("target.py:f", "part/noise.py", "run.sh"),
        ("package.deep:f", "package/__init__.py", "target.py"),
        ("exec:sh run.sh --fast", "run.sh", "target.py"),
    ],
)
def test_a_build_is_of_the_files_of_the_target(
    folder: Path, spec: str, changes: str, keeps: str
) -> None:
    """Catches the file alone that is named, and files that are none of the target's."""
    before = build_of(spec)
    assert before not in (UNKNOWN, build_of("target.py:f" if spec[0] != "t" else "package:f"))
    (folder / keeps).write_text("# other\n")
    (folder / "part" / "__pycache__").mkdir()
    (folder / "part" / "__pycache__" / "noise.py").write_text("# kept\n")
    assert build_of(spec) == before
    (folder / changes).write_text("# changed\n")
    assert build_of(spec) != before


@pytest.mark.parametrize("spec", [None, "http://127.0.0.1:1", "exec:true", "none_such:f"])
def test_what_has_no_files_here_has_no_build(folder: Path, spec: str | None) -> None:
    assert build_of(spec) == UNKNOWN
