"""What CI reads is as its vendor publishes: action.yml, workflows, and examples of pages."""

import io
import json
import os
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import validator_for

pytest.importorskip("check_jsonschema", reason="its published schemas are not installed")
yaml = pytest.importorskip("ruamel.yaml", reason="YAML is read by it")

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
PAGES = ("ci.md", "nightly.md")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```", (HOW_TO / page).read_text(), re.DOTALL | re.MULTILINE)


def read(text: str) -> Any:
    """YAML 1.2, as GitHub reads it: `on` is a word. Raises for a key that stands twice."""
    return yaml.YAML(typ="safe").load(io.StringIO(text))


def mistakes(text: str, name: str) -> list[str]:
    """What a file has against the published schema of this name."""
    place = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    published = json.loads(place.read_text())
    validator = validator_for(published)(published)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(read(text))]


def workflow(text: str) -> str:
    """An example of a workflow, whole: of a job alone, or of steps alone, the rest is added."""
    if text.startswith("      - "):
        text = f"jobs:\n  verify:\n    runs-on: ubuntu-latest\n    steps:\n{text}"
    return text if re.search("^on:", text, re.MULTILINE) else f"on: push\n{text}"


def is_gitlab(text: str) -> bool:
    return "script:" in text


OF_GITHUB = [(page, text) for page in PAGES for text in blocks(page) if not is_gitlab(text)]
OF_GITLAB = [(page, text) for page in PAGES for text in blocks(page) if is_gitlab(text)]


def test_the_action_is_as_published() -> None:
    text = (ROOT / "action.yml").read_text()
    assert mistakes(text, "github-actions") == []
    assert mistakes(text.replace("using: composite", "using: composit"), "github-actions")


@pytest.mark.parametrize(
    "file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda file: file.stem
)
def test_workflows_are_as_published(file: Path) -> None:
    assert mistakes(file.read_text(), "github-workflows") == []


@pytest.mark.parametrize(("page", "text"), OF_GITHUB)
def test_examples_for_github_are_as_published(page: str, text: str) -> None:
    """With inputs that the action has."""
    whole = workflow(text)
    assert mistakes(whole, "github-workflows") == []
    assert mistakes(whole.replace("runs-on:", "run-on:"), "github-workflows")
    declared = read((ROOT / "action.yml").read_text())["inputs"]
    for job in read(whole)["jobs"].values():
        for step in job["steps"]:
            if "dpassay@" in step.get("uses", ""):
                assert set(step["with"]) <= set(declared), page


@pytest.mark.parametrize(("page", "text"), OF_GITLAB)
def test_examples_for_gitlab_are_as_published(page: str, text: str) -> None:
    assert mistakes(text, "gitlab-ci") == []
    assert mistakes(text.replace("script:", "scripts:"), "gitlab-ci"), page


@pytest.mark.parametrize(
    ("job", "run", "compared", "ends"),
    [("nightly", 0, 1, 0), ("nightly", 1, 1, 1), ("release", 3, 1, 3), ("release", 0, 1, 1)],
)
def test_jobs_of_gitlab_say_what_became_worse_whatever_the_run_is(
    job: str, run: int, compared: int, ends: int, tmp_path: Path
) -> None:
    """Catches a script that ends before `compare`, or with the status of another line."""
    (example,) = (text for page, text in OF_GITLAB if page == "nightly.md")
    shim = tmp_path / "dpassay"
    shim.write_text(
        f'#!/bin/bash\necho "$1" >> asked\n[ "$1" = verify ] && exit {run}\nexit {compared}\n'
    )
    (tmp_path / "curl").write_text("#!/bin/bash\nmkdir -p ledger; touch ledger/nightly.jsonl\n")
    for one in (shim, tmp_path / "curl"):
        one.chmod(0o755)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(read(example)[job]["script"])],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == ends
    assert (tmp_path / "asked").read_text().split() == ["verify", "compare"]


def test_there_are_examples_of_both() -> None:
    assert {page for page, _ in OF_GITHUB} == {*PAGES}
    assert {"ci.md", "nightly.md"} == {page for page, _ in OF_GITLAB}
