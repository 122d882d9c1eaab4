"""A deployment's claim, whatever it releases, and the error with the mistakes in one."""

import re
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError, model_validator

from ..inputs.files import ReadingError, read_bytes
from ..inputs.input_error import InputError
from ..targets.http_options import HttpOptions
from ..targets.http_route import check_template
from ..targets.labels import LABELS
from ..targets.release import Release
from ..targets.replies import one_line, shown_repr
from ..targets.restart_command import FreshStateCommand
from .mistakes import mistakes
from .tables import AccountantClaim, Gate, HttpClaim, PrivacyClaim, Table

CLAIM_BYTES = 1_000_000
"""Longest claim file that is read."""


class ClaimError(InputError):
    """A claim that cannot be read.

    mistakes: all that are known, one line each; the message is the first of them; codes: of each,
    None of a last one that counts those that are not shown.
    """

    def __init__(
        self, *mistakes: str, code: str | None = None, codes: Sequence[str | None] = ()
    ) -> None:
        others = len(mistakes) - 1
        plural = "s" if others > 1 else ""
        more = f"; {others} more mistake{plural}" if others else ""
        super().__init__(mistakes[0] + more, next(iter(codes), code))
        self.mistakes, self.codes = mistakes, tuple(codes) or (self.code,)


class Claim(Table):
    """A deployment's claim; the defaults of `[gate]` are those of the public contract.

    Each kind of release has a class of its own, with the `[mechanism]` that it takes.
    """

    mechanism: Any
    privacy: PrivacyClaim | None = None
    accountant: AccountantClaim | None = None
    gate: Gate = Gate()
    http: HttpClaim | None = None

    @model_validator(mode="after")
    def _of_requests(self) -> Self:
        if self.http is None:
            return self
        if self.http.body is not None:
            try:
                check_template(self.http.body, self.release.key)
            except ValueError as error:
                raise ValueError(f"http.{error}") from None
        names = self.http.labels
        if names and self.release.reply != LABELS.reply:
            raise ValueError("http.labels: they name classes, and the claim releases no labels")
        if names and len(names) != getattr(self.mechanism, "classes", len(names)):
            raise ValueError(
                f"http.labels: {len(names)} names of {self.mechanism.classes} classes: expected "
                "one of each, in their order"
            )
        return self

    @property
    def kind(self) -> Any:
        """The `ReleaseKind` of what the deployment releases, in the folder of the claim's class."""
        folder = type(self).__module__.rpartition(".")[0]
        return import_module(f"{folder}.kind").KIND

    @property
    def summary(self) -> str:
        """The mechanism in a few words, as reports head themselves."""
        raise NotImplementedError

    @property
    def private(self) -> PrivacyClaim:
        """`[privacy]`, of a claim that has it."""
        assert self.privacy is not None
        return self.privacy

    @property
    def release(self) -> Release:
        """The wire format of inputs and replies of the deployment."""
        raise NotImplementedError

    @property
    def refuses(self) -> bool:
        """Whether the mechanism itself refuses queries, which costs privacy as an answer does."""
        return False

    @property
    def fitted(self) -> bool:
        """Whether it says itself that values were fitted to the deployment."""
        return getattr(self.mechanism, "fitted", None) is True

    @property
    def http_options(self) -> HttpOptions:
        """Options of requests to a server: `[http]` or its defaults."""
        return (self.http or HttpClaim()).options(refuses=self.refuses)

    @property
    def fresh_target(self) -> FreshStateCommand | None:
        """The command that empties what the target keeps."""
        command = self.gate.fresh_state
        return None if command is None else FreshStateCommand(command, self.gate.timeout)

    def with_gate(self, gate: Gate) -> Self:
        """A copy of the claim under another gate."""
        return self.model_copy(update={"gate": gate})

    def of_reference(self) -> Self:
        """A copy for the reference: no store of a deployment that is not asked is emptied."""
        return self.with_gate(self.gate.model_copy(update={"fresh_state": None}))

    def with_limits(
        self,
        max_queries: int | None,
        run_timeout: float | None,
        *,
        strict: bool = False,
        no_paths: bool = False,
        redact: bool = False,
    ) -> Self:
        """A copy of the claim under other limits and rules of a run, where they are given."""
        given = {
            "max_queries": max_queries,
            "run_timeout": run_timeout,
            "strict": strict or None,
            "paths": False if no_paths else None,
            "redact": redact or None,
        }
        changed = {key: value for key, value in given.items() if value is not None}
        return self.with_gate(self.gate.model_copy(update=changed))

    @classmethod
    def checked(
        cls, table: dict[str, Any], source: str = "claim", folder: Path | None = None
    ) -> Self:
        """The claim in a table of parsed TOML; folder: where files that it names may lie too.

        Raises ClaimError with all mistakes, each headed by `source`.
        """
        return parse_table(cls, table, source)


Parsed = TypeVar("Parsed", bound=Table)


def parse_table(model: type[Parsed], table: dict[str, Any], source: str) -> Parsed:
    """What a model makes of a table. Raises ClaimError with all mistakes, each after `source`."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        found = mistakes(error, model)
        lines, codes = [f"{source}: {line}" for line, _ in found], [code for _, code in found]
        raise ClaimError(*lines, codes=codes) from None


class _OfHttp(Table):
    http: HttpClaim


def read_http(path: str) -> HttpClaim:
    """`[http]` of the TOML file at `path`, whatever else is in it. Raises ClaimError."""
    table = read_table(path)
    if "http" not in table:
        raise ClaimError(f"{path}: no [http]: expected that table, as a claim has it")
    found = parse_table(_OfHttp, {"http": table["http"]}, path).http
    found.lie_in(Path(path).parent)
    return found


def read_table(path: str | Path) -> dict[str, Any]:
    """The TOML file at `path`, parsed and no more. Raises ClaimError."""
    if re.search(r"\.py(:[\w.]+)?$", str(path)):
        wrong = "a target, not a claim: dpassay verify TARGET --claim FILE.toml"
        raise ClaimError(f"{path}: {wrong}", code="not-toml")
    try:
        text = read_bytes(str(Path(path)), CLAIM_BYTES)
    except ReadingError as error:
        raise ClaimError(str(error)) from None
    try:
        words = text.decode("utf-8-sig")  # editors on Windows begin with a BOM
        return tomllib.loads(words)
    except UnicodeDecodeError:
        raise ClaimError(f"{path}: not TOML: not UTF-8 text", code="not-toml") from None
    except RecursionError:
        raise ClaimError(
            f"{path}: not TOML that can be read: nested too deeply", code="not-toml"
        ) from None
    except ValueError as error:  # numbers of thousands of digits among them
        wrong = f"{one_line(error)}{_line_of_error(words, str(error))}"
        raise ClaimError(f"{path}: not TOML: {wrong}", code="not-toml") from None


def _line_of_error(text: str, error: str) -> str:
    """The line at which TOML ends, after the words of its error; empty where it names none."""
    found = re.search(r"at line (\d+),", error)
    if found is None:
        return ""
    line = "".join(text.splitlines()[int(found[1]) - 1 : int(found[1])]).strip()
    bare = re.fullmatch(r"([\w-]+)\s*=\s*([A-Za-z][\w.:-]*)\s*(#.*)?", line)
    hint = "" if bare is None else f'; text stands in quotes: {bare[1]} = "{bare[2]}"'
    if bare is not None and bare[2].lower() in ("true", "false"):
        hint = f"; did you mean {bare[1]} = {bare[2].lower()}?"
    return f": {shown_repr(line)}{hint}" if line else ""
