"""`dpassay hook`, which the hooks for pre-commit run on the files of a commit."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from claims import histogram, in_toml
from typed import assert_misuse, typed

from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.replay import replayed
from dpassay.verifiers.targets import TargetError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with targets of a module, of a script and of a server, and their claims."""
    (tmp_path / "claim.toml").write_text(in_toml(mechanism=histogram(cells=4)))
    (tmp_path / "batches.toml").write_text(
        in_toml(mechanism={"name": "batches", "sampling": "poisson:0.1", "records": 100})
    )
    targets = {"script": "script.py:counts", "app": "app:aggregate", "served": "http://a.py:1"}
    (tmp_path / "dpassay.toml").write_text(
        "".join(
            f'[targets.{name}]\ntarget = "{spec}"\nclaim = "claim.toml"\n'
            for name, spec in targets.items()
        )
        + '[targets.batches]\ntarget = "batches.py:draw"\nclaim = "batches.toml"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def replays(monkeypatch) -> list[str]:
    """The targets that were replayed, which here takes no time; what is found is in their names."""
    seen: list[str] = []

    def replay(spec, *_):
        seen.append(spec)
        if spec.endswith(":none"):
            raise TargetError(f"{spec}: no attribute", code="target-not-found")
        verdict = Verdict.FAIL if spec.endswith(":twice") else Verdict.INCONCLUSIVE
        return SimpleNamespace(verdict=verdict, as_text=verdict.upper)

    monkeypatch.setattr(replayed, "replay_pairs", replay)
    return seen


def test_claims_are_read_and_all_that_is_wrong_is_told(folder) -> None:
    (folder / "claim2.toml").write_text(in_toml(mechanism=histogram() | {"cels": 3}, gate={"x": 1}))
    assert typed("hook", "claims", "claim.toml", "batches.toml", "dpassay.toml").returncode == 0
    (folder / "claim.toml").rename(folder / "elsewhere.toml")  # the configuration names it
    lost = typed("hook", "claims", "dpassay.toml")
    assert (lost.returncode, lost.stderr.count("claim.toml: No such file")) == (2, 1)
    (folder / "elsewhere.toml").rename(folder / "claim.toml")
    (folder / "dpassay.toml").write_text("[profiles.quick]\nquerries = 3\n")
    done = typed("hook", "claims", "claim2.toml", "dpassay.toml", "claim.toml")
    lines = [re.sub(r" is no known key.*\[", " [", line) for line in done.stderr.splitlines()]
    assert (done.returncode, done.stdout) == (2, "")
    assert lines == [
        "dpassay: claim2.toml: mechanism.cels [unknown-key]",
        "dpassay: claim2.toml: gate.x [unknown-key]",
        "dpassay: dpassay.toml: profiles.quick.querries [unknown-key]",
    ]


@pytest.mark.parametrize(
    ("files", "specs"),
    [
        (["script.py"], ["script.py:counts"]),
        (["src/app/__init__.py"], ["app:aggregate"]),
        (["src/app.py", "script.py"], ["script.py:counts", "app:aggregate"]),
        (["tests/script.py", "my_app.py", "app/other.py"], []),
        ([], []),
    ],
)
def test_targets_whose_file_changed_are_replayed(folder, replays, files, specs) -> None:
    """What cannot be frozen does not keep anybody from a commit."""
    assert typed("hook", "replay", *files).returncode == 0
    assert replays == specs


def test_claims_that_replay_does_not_take_are_left_out(folder, replays) -> None:
    done = typed("hook", "replay", "batches.py")
    assert (done.returncode, replays) == (0, [])
    assert done.stdout.startswith("batches: left out: ")


def test_a_fault_ends_with_1_and_an_error_with_2(folder, replays) -> None:
    """A target that errs keeps none from being replayed; the worse of both is told."""
    text = (folder / "dpassay.toml").read_text()
    (folder / "dpassay.toml").write_text(text.replace("script.py:counts", "script.py:none"))
    assert_misuse(typed("hook", "replay", "script.py"), "[target-not-found]")
    (folder / "dpassay.toml").write_text(
        text.replace("script.py:counts", "script.py:none").replace("app:aggregate", "app:twice")
    )
    done = typed("hook", "replay", "script.py", "app.py")
    assert (done.returncode, done.stdout) == (1, "app: FAIL\n")


def test_without_a_configuration_there_is_nothing_to_replay(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_misuse(typed("hook", "replay", "a.py"), "dpassay.toml or pyproject.toml")


def test_the_hooks_are_those_of_the_page() -> None:
    """Catches an id that was renamed, and an entry that is no command."""
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    ids = re.findall(r"^- id: (.*)$", hooks, re.MULTILINE)
    assert ids == ["dpassay-claims", "dpassay-replay"]
    assert re.findall(r"^  entry: dpassay hook (\w+)$", hooks, re.MULTILINE) == ["claims", "replay"]
    page = (ROOT / "docs/how-to/pre-commit.md").read_text()
    assert [name for name in ids if f"- id: {name}\n" not in page] == []
    pattern = re.search(r"^  files: (.*)$", hooks, re.MULTILINE)[1]
    named = {"claim.toml", "claims/votes.toml", "my-claim.toml", "dpassay.toml", "pyproject.toml"}
    assert named - {name for name in named if re.search(pattern, name)} == {"pyproject.toml"}
