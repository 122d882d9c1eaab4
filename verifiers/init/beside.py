"""Files beside a claim: a test, a job of continuous integration, a hook. None is overwritten."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

_REPOSITORY = "your-organisation/dpassay"


def _pytest(target: str, claim: str) -> str:
    return f"""from dpassay.verifiers import assert_conforms


def test_the_deployment_keeps_its_claim():
    assert_conforms({json.dumps(target)}, {json.dumps(claim)})
"""


def _github(target: str, claim: str) -> str:
    return f"""name: dpassay
on: [push]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: {_REPOSITORY}@main  # where you keep it, and a commit you trust
        with:
          target: {json.dumps(target)}
          claim: {json.dumps(claim)}
          python-version: "3.12"
"""


def _gitlab(target: str, claim: str) -> str:
    command = f"dpassay verify {json.dumps(target)} --claim {json.dumps(claim)} --report report"
    return f"""# include it in .gitlab-ci.yml: include: {{local: .gitlab-ci.dpassay.yml}}
dpassay:
  image: python:3.12
  script:
    - pip install vendor/dpassay-*.whl
    - {json.dumps(command)}
  artifacts:
    when: always
    paths: [report]
    reports:
      junit: report/junit.xml
"""


def _pre_commit(target: str, claim: str) -> str:
    return f"""repos:
  - repo: https://your.git.host/{_REPOSITORY}
    rev: main  # a commit you trust
    hooks:
      - id: dpassay-claims
      # - id: dpassay-replay  # once dpassay.toml names the target, and {claim} its claim
"""


BESIDE: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "pytest": ("test_privacy.py", _pytest),
    "github": (".github/workflows/dpassay.yml", _github),
    "gitlab": (".gitlab-ci.dpassay.yml", _gitlab),
    "pre-commit": (".pre-commit-config.yaml", _pre_commit),
}
"""What may be written beside a claim, by the words of `--with`: its file, and its text."""


def write_new(path: Path, text: str) -> None:
    """Writes a file that is not there, whole or not at all.

    Raises FileExistsError where one is there, which stays as it is, and OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise


def write_beside(words: list[str], target: str, claim: str) -> Iterator[str]:
    """Writes what the words of `--with` name, in this folder; says of each what came of it.

    target, claim: as they stand in the files. Where a file is there, what would stand in it is
    said instead.
    """
    for word in words:
        name, make = BESIDE[word]
        text = make(target, claim)
        try:
            write_new(Path(name), text)
            yield f"wrote {name}"
        except FileExistsError:
            yield f"{name} is there and stays as it is; this would stand in it:\n\n{text}"
        except OSError as error:
            yield f"{name} cannot be written: {error.strerror}; this would stand in it:\n\n{text}"
