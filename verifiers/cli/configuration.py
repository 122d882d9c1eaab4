"""Targets by name and profiles, which a project keeps in dpassay.toml or in pyproject.toml."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

import click
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from ..claims.claim import ClaimError, read_table
from ..claims.mistakes import mistakes
from ..claims.tables import MOST_RUN_SECONDS, Table
from ..inputs.input_error import InputError
from ..targets.replies import shown_repr
from ..text import did_you_mean

FILES = ("dpassay.toml", "pyproject.toml")
"""Files that may hold a configuration; of one folder, the first that does."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
"""A name of a target: a bare key of TOML, which names a folder too, and is no spec of a target."""

_ROOTS = (".git", ".hg")
"""What lies at the root of a repository, above which no configuration is looked for."""

_RIVALS = ({"queries", "max_queries", "seconds"}, {"checks", "skipped"})
"""Options that exclude each other: whoever gives one replaces the other."""

_PATHS = ("claim_file", "folder", "sarif", "compare", "file", "coverage", "ledger")
"""Options that are paths, which whoever types them means from the working directory."""


class RunOptions(Table):
    """Options of `dpassay verify`, by their names there, of a profile or a target."""

    model_config = ConfigDict(
        alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True
    )

    queries: int | None = Field(default=None, ge=1)
    max_queries: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0, le=MOST_RUN_SECONDS)
    seed: int | None = Field(default=None, ge=0)
    strict: bool | None = None
    redact: bool | None = None
    check: list[str] | None = None
    skip: list[str] | None = None
    report: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_of_rivals(self) -> Self:
        for one, other in (("queries", "max_queries"), ("check", "skip")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise ValueError(f"{one} and {other.replace('_', '-')}: give one or the other")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The options that are given, as parameters of the command."""
        named = {"claim": "claim_file", "report": "folder", "check": "checks", "skip": "skipped"}
        return {
            named.get(key, key): tuple(value) if isinstance(value, list) else value
            for key, value in self.model_dump(exclude_none=True).items()
        }


class NamedTarget(RunOptions):
    """`[targets.NAME]`: a target, its claim, and options of its runs."""

    target: str = Field(min_length=1)
    claim: str = Field(min_length=1)


class ConfigurationError(ClaimError):
    """A configuration that cannot be read; its mistakes are told as those of a claim."""


class Configuration(Table):
    """Targets and profiles by name; paths start at the folder of its file."""

    targets: dict[str, NamedTarget] = Field(default_factory=dict)
    profiles: dict[str, RunOptions] = Field(default_factory=dict)
    _path: Path = PrivateAttr()

    @model_validator(mode="after")
    def _names(self) -> Self:
        for name in self.targets:
            if not _NAME.fullmatch(name):
                raise ValueError(f"targets.{shown_repr(name)}: expected a name of A-Z a-z 0-9 _ -")
        return self

    @property
    def folder(self) -> Path:
        """The folder of its file, in which its targets run."""
        return self._path.parent

    @property
    def file(self) -> str:
        """Its file, as seen from the working directory."""
        return os.path.relpath(self._path)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The configuration of a file; None of a pyproject.toml without one.

        Raises ConfigurationError, ClaimError where the file is no TOML.
        """
        source, place = os.path.relpath(path), ""
        table: Any = read_table(source)
        if path.name == FILES[1]:
            tool, place = table.get("tool"), "tool.dpassay"
            table = tool.get("dpassay") if isinstance(tool, dict) else None
            if table is None:
                return None
            if not isinstance(table, dict):
                raise ConfigurationError(f"{source}: {place}: expected a table, [{place}]")
        try:
            found = cls.model_validate(table)
        except ValidationError as error:
            wrong, inside = mistakes(error, cls), place and f"{place}."
            lines = [f"{source}: {inside}{line}" for line, _ in wrong]
            raise ConfigurationError(*lines, codes=[code for _, code in wrong]) from None
        found._path = path
        return found

    def check_known(self, what: Literal["target", "profile"], name: str) -> None:
        """Raises InputError where there is no such target, or profile."""
        there = self.targets if what == "target" else self.profiles
        if name not in there:
            known = f"expected one of {', '.join(there)}" if there else f"it has no {what}s"
            near = did_you_mean(name, there)
            raise InputError(f"{shown_repr(name)} is no {what} of {self.file}{near}: {known}")


def find_configuration() -> Configuration | None:
    """The configuration nearest to the working directory, up to the root of its repository.

    Outside of a repository only the working directory is looked at. Raises ClaimError.
    """
    for folder in _folders(Path.cwd()):
        for path in (folder / name for name in FILES):
            if path.is_file() and (found := Configuration.read(path)) is not None:
                return found
    return None


def _folders(here: Path) -> Iterator[Path]:
    """The folder, and those above it up to the root of its repository."""
    above = [here, *here.parents]
    roots = [folder for folder in above if any((folder / name).exists() for name in _ROOTS)]
    return iter(above[: above.index(roots[0]) + 1] if roots else above[:1])


def _from_folder(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with their paths seen from a folder."""
    return options | {k: os.path.join(folder, options[k]) for k in _PATHS if k in options}


class Chosen:
    """What a command line asks of a configuration: targets by name, and a profile.

    names: of the targets, none where the command names its own, or there is no configuration.
    alone: whether the command does without a configuration where it names no TARGET. Raises
    InputError for a name that is unknown, and ClaimError for a wrong configuration.
    """

    def __init__(self, context: click.Context, *, alone: bool) -> None:
        given = context.params
        target, self.profile, self._context = given["target"], given["profile"], context
        self._here = Path.cwd()
        named = target is not None and _NAME.fullmatch(target) is not None
        needed = named or self.profile is not None or (target is None and not alone)
        self.configuration = find_configuration() if needed else None
        self.names: list[str] = []
        self._profile = RunOptions()
        if self.configuration is None:
            if self.profile is not None:
                nowhere = f"no {FILES[0]}, and no [tool.dpassay] in a {FILES[1]}, is here or above"
                raise InputError(f"--profile {self.profile[:60]}: {nowhere}")
            return
        if self.profile is not None:
            self.configuration.check_known("profile", self.profile)
            self._profile = self.configuration.profiles[self.profile]
        targets = self.configuration.targets
        if named and targets and (target in targets or given["claim_file"] is None):
            self.configuration.check_known("target", target)
            self.names = [target]
        elif target is None and not alone:
            self.names = list(targets)
        if self.names or self.profile is not None:
            click.echo(f"dpassay: configuration: {self.configuration.file}", err=True)

    @property
    def file(self) -> str:
        """The file of the configuration, as seen from the working directory."""
        return "" if self.configuration is None else self.configuration.file

    @property
    def folder(self) -> Path:
        """The folder in which the targets run: of the configuration, where it names them."""
        return self.configuration.folder if self.configuration and self.names else self._here

    def given(self, name: str | None = None) -> dict[str, Any]:
        """The parameters of the command for a target: as typed, of the profile, or of its own.

        name: of the configuration; None for the TARGET as typed.
        """
        source, default = self._context.get_parameter_source, click.core.ParameterSource.DEFAULT
        typed = {k: v for k, v in self._context.params.items() if source(k) is not default}
        profile = self._profile.parameters
        if name is None and self.configuration is not None:
            profile = _from_folder(self.configuration.folder, profile)
        layers = [profile]
        if name is not None and self.configuration is not None:
            layers.insert(0, self.configuration.targets[name].parameters)
            typed.pop("target", None)
            if self.folder != self._here:
                typed = _from_folder(self._here, typed)
        options: dict[str, Any] = {}
        for layer in (*layers, typed):
            replaced = {key for rivals in _RIVALS if rivals & layer.keys() for key in rivals}
            options = {k: v for k, v in options.items() if k not in replaced} | layer
        if name is not None and options.get("folder") is not None:
            options["folder"] = os.path.join(options["folder"], name)
        return self._context.params | options
