"""Files beside a claim: a target, a test, a job, a hook. None is overwritten."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..cli.configuration import find_configuration
from ..targets.spec import split_spec

_REPOSITORY = "your-organisation/dpassay"


def _pytest(target: str, claim: str) -> str:
    return f"""from dpassay.verifiers import assert_conforms


def test_the_deployment_keeps_its_claim():
    assert_conforms({json.dumps(target)}, {json.dumps(claim)})
"""


def _github(target: str, claim: str) -> str:
    """A job for one target or, where none is named, for all of the configuration."""
    of_one = ""
    if target:
        of_one = f"          target: {json.dumps(target)}\n          claim: {json.dumps(claim)}\n"
    return f"""name: dpassay
on: [push]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: {_REPOSITORY}@main  # where you keep it, and a commit you trust
        with:
{of_one}          python-version: "3.12"
"""


def _gitlab(target: str, claim: str) -> str:
    """A job for one target or, where none is named, for all of the configuration."""
    command, junit = "dpassay verify --report report", "report/*/junit.xml"
    if target:
        command = f"dpassay verify {json.dumps(target)} --claim {json.dumps(claim)} --report report"
        junit = "report/junit.xml"
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
      junit: {junit}
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

    target, claim: as they stand in the files; a job of CI is for all targets of a dpassay.toml that
    names several. Where a file is there, what would stand in it is said instead.
    """
    configuration = find_configuration() if words else None
    several = configuration is not None and len(configuration.targets) > 1
    for word in words:
        name, make = BESIDE[word]
        of_all = several and word in ("github", "gitlab")
        yield _write_or_show(Path(name), make("", "") if of_all else make(target, claim))


def _write_or_show(path: Path, text: str) -> str:
    """Writes a file that is not there; says so, or what would stand in it."""
    try:
        write_new(path, text)
        return f"wrote {path}"
    except FileExistsError:
        return f"{path} is there and stays as it is; this would stand in it:\n\n{text}"
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}; this would stand in it:\n\n{text}"


def target_of(spec: str) -> str:
    """The target that is written for the object of a spec, beside it."""
    module, attribute = split_spec(spec)
    name = f"{attribute.replace('.', '_')}_target.py"
    place = Path(module).with_name(name) if module.endswith(".py") else Path(name)
    return f"{place}:aggregate"


def write_target(spec: str, what: str, stub: Sequence[str]) -> str:
    """Writes a target of which `stub` is the code, where `it` is the object of a spec; says so.

    what: the object in words.
    """
    module, attribute = split_spec(spec)
    first, _, rest = attribute.partition(".")
    stem = Path(module).stem if module.endswith(".py") else module
    head = [f'"""A target that asks {spec}, {what}; written by dpassay init."""', ""]
    if stem.replace(".", "").isidentifier():
        head.append(f"from {stem} import {first} as it")
    else:  # no name of a module
        head += ["from dpassay.verifiers.targets.spec import load", "", f"it = load({spec!r})"]
        rest = ""
    head += ["", f"it = it.{rest}"] * bool(rest)
    path = Path(target_of(spec).rpartition(":")[0])
    code = stub if stub[0].startswith("import ") else ["", "", *stub]
    return _write_or_show(path, "\n".join([*head, *code, ""]))
