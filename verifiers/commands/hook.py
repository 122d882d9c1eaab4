"""`dpassay hook`: what the hooks of pre-commit run on the files of a commit."""

import os
import sys
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..cli.exit_statuses import CommandFailed, fail

if TYPE_CHECKING:
    from ..cli.configuration import NamedTarget
    from ..findings.verdict import Verdict

_MOST_PAIRS = 100
"""Pairs of a target at most, as `dpassay replay` has them by default."""


@click.command()
@click.argument("what", type=click.Choice(["claims", "replay"]))
@click.argument("files", nargs=-1)
def hook(*, what: str, files: tuple[str, ...]) -> None:
    """Check FILES as the hooks of pre-commit do: claims, or Python targets by replay.

    claims: each file is read as a claim (dpassay.toml and pyproject.toml as a configuration, with
    the claims that it names), and nothing is asked. replay: each target of the configuration whose
    Python file is among FILES is run on neighbours with its noise frozen, as by dpassay replay.
    Where it cannot be frozen the hook passes, and says so: dpassay verify judges such a target.

    Exit 0: nothing was found; 1: a pair shows a fault; 2: a mistake in a file, or a target error.
    """
    from ..findings.verdict import worst

    found = _read(files) if what == "claims" else _replay(files)
    sys.exit(worst(found).exit_status if found else 0)


def _read(files: tuple[str, ...]) -> "list[Verdict]":
    """Reads claims and configurations; a verdict for each with mistakes, which are told."""
    from ..cli.configuration import FILES, Configuration
    from ..kinds.reading import read_claim

    wrong, seen = [], set[str]()
    for file in files:
        try:
            claims = [file]
            if Path(file).name in FILES:
                read = Configuration.read(Path(file))
                targets = () if read is None else read.targets.values()
                claims = [os.path.normpath(Path(file).parent / one.claim) for one in targets]
        except ValueError as error:
            wrong += _errors(error)
            continue
        for claim in dict.fromkeys(claims):
            try:
                _ = claim in seen or read_claim(claim)
            except ValueError as error:
                wrong += _errors(error)
            seen.add(claim)
    return wrong


def _errors(error: Exception) -> "list[Verdict]":
    """Tells an error as commands do, and goes on; its verdict."""
    from ..findings.verdict import Verdict

    try:
        fail(error)
    except CommandFailed:
        return [Verdict.ERROR]


def _replay(files: tuple[str, ...]) -> "list[Verdict]":
    """Replays the targets that the files hold; the verdicts, without what cannot be frozen."""
    from ..cli.configuration import FILES, find_configuration
    from ..findings.verdict import Verdict
    from ..targets import TargetError

    try:
        configuration = find_configuration()
    except ValueError as error:
        return _errors(error)
    if configuration is None:
        fail(f"no {' or '.join(FILES)} names targets to replay", code="file-not-found")
    paths, found = [Path(file).resolve() for file in files], []
    with chdir(configuration.folder):
        for name, target in configuration.targets.items():
            if any(_holds(path, target.target) for path in paths):
                try:
                    found.append(_replay_target(name, target))
                except (TargetError, ValueError) as error:
                    found += _errors(error)
    return [verdict for verdict in found if verdict is not Verdict.INCONCLUSIVE]


def _holds(path: Path, spec: str) -> bool:
    """Whether a file is that of a Python target, by its path, or by the name of its module."""
    module = spec.rpartition(":")[0]
    if module.endswith(".py"):
        return path == Path(module).resolve()
    parts = tuple(module.split("."))
    whole = path.parent if path.stem == "__init__" else path.with_suffix("")
    return whole.parts[-len(parts) :] == parts


def _replay_target(name: str, target: "NamedTarget") -> "Verdict":
    """Replays a target, and prints what was found. Raises as `replay_pairs` does."""
    from ..findings.verdict import Verdict
    from ..kinds.reading import read_claim
    from ..replay.replayed import pairs_of, replay_pairs

    claim, seed = read_claim(target.claim), target.seed or 0
    try:
        pairs_of(claim, seed)
    except ValueError as error:
        click.echo(f"{name}: left out: {error}")
        return Verdict.INCONCLUSIVE
    found = replay_pairs(target.target, claim, seed, _MOST_PAIRS)
    click.echo(f"{name}: {found.as_text()}")
    return found.verdict
