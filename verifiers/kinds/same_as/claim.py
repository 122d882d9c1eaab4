"""A claim to release what a reference releases: by which target, and on which inputs."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from pydantic import (
    ConfigDict,
    Field,
    InstanceOf,
    PrivateAttr,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from ...claims.claim import Claim, ClaimError
from ...claims.open_target import look_up_all
from ...claims.tables import Command, Fitted, SpecText, Table, spec_from
from ...inputs.input_error import RowsError
from ...inputs.row_file import read_rows
from ...targets import TargetError, shown_spec
from ...targets.anything import AnyRelease
from ...targets.labels import Form
from ...targets.release import Release
from ...targets.replies import shown_repr
from ...targets.restart_command import GateCommand
from .. import kind_of
from ..kind import ReleaseKind
from ..lawless.pairs import Pair, with_files
from .drawn import drawn_inputs

MOST_INPUTS, MOST_CALLS = 100, 1_000
_KEY = "input"


def _with_other_keys(schema: dict[str, Any]) -> None:
    """Lets the schema take the keys of another mechanism where its inputs are asked."""
    del schema["additionalProperties"]
    schema["unevaluatedProperties"] = False
    schema["if"] = {"required": ["inputs_of"]}
    schema["then"] = {"additionalProperties": True}


class SameAsMechanism(Table):
    """`[mechanism]`: the deployment whose law is claimed.

    reference: a target of any form; lives: calls of a life, which both begin from a fresh state,
    None where neither remembers noise of its own; reference_fresh_state: a command that empties
    what the reference keeps; inputs_of: the name of a mechanism, whose other keys stand beside it,
    where the inputs are those that a run would ask of it; search: so many further inputs, drawn
    around those that are named.
    """

    model_config = ConfigDict(json_schema_extra=_with_other_keys)

    name: Literal["same-as"]
    reference: SpecText = Field(min_length=1)
    lives: int | None = Field(default=None, ge=2, le=MOST_CALLS)
    reference_fresh_state: Command | None = None
    fitted: Fitted = None
    inputs_of: str | None = None
    search: int | None = Field(default=None, ge=1, le=MOST_INPUTS)


def _or_file(schema: dict[str, Any]) -> None:
    """Adds to the schema a file in place of the values, and the form of votes of `inputs_of`."""
    schema["properties"] |= {"file": {"type": "string"}, "form": {"enum": list(get_args(Form))}}
    del schema["required"]
    schema["anyOf"] = [{"required": [key]} for key in ("values", "file", "form")]


class SameAsInputs(Table):
    """`[inputs]`: what is asked, any JSON, or a file whose rows have it as `input`."""

    model_config = ConfigDict(json_schema_extra=_or_file)

    values: list[Any] = Field(min_length=1)


class SameAsClaim(Claim):
    """The claim of a deployment that releases what another one does.

    Inputs are those of `[inputs]` and of pairs, as a claim without a law has them; or those of
    planner, a claim of a mechanism with a law, to which neither side is held.
    """

    mechanism: SameAsMechanism
    inputs: SameAsInputs | None = None
    pairs: list[Pair] = Field(default=[], json_schema_extra={"type": ["array", "string"]})
    planner: SkipJsonSchema[InstanceOf[Claim] | None] = Field(default=None, exclude=True)
    _folder: Path | None = PrivateAttr(default=None)
    _drawn: int | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _of_inputs(self) -> Self:
        """Raises ValueError for what such a claim cannot say."""
        for name in ("privacy", "accountant"):
            if getattr(self, name) is not None:
                raise ValueError(f"[{name}]: the reference's law is claimed, and no cost is judged")
        for number, pair in enumerate(self.pairs, 1):
            pair.check(f"pairs, {number}")
        if self.planner is not None:
            for key, given in (("pairs", self.pairs), ("search", self.mechanism.search)):
                if given:
                    raise ValueError(
                        f"{key} beside inputs_of: expected one of the two, as inputs_of already "
                        "chooses what is asked"
                    )
            return self
        for number, one in enumerate(self.named, 1):
            try:
                json.dumps(one)
            except TypeError as error:
                raise ValueError(f"inputs.values, {number}: no JSON: {error}") from None
        if not 1 <= len(self.named) <= MOST_INPUTS:
            raise ValueError(
                f"{len(self.named)} inputs: expected from 1 to {MOST_INPUTS}, as values or file of "
                "[inputs], as [[pairs]], or those of another mechanism (inputs_of)"
            )
        return self

    def asked(self, seed: int) -> Sequence[Any]:
        """The inputs of a run by its seed, each once: named and drawn, or what the planner asks."""
        if self.planner is None:
            wanted, rng = self.mechanism.search or 0, np.random.default_rng([seed, 44])
            return [*self.named, *drawn_inputs(self.named, wanted, rng)]
        found: Sequence[Any] = self.planner.kind.inputs_asked(self.planner, seed)
        return found

    def with_drawn(self, asked: Sequence[Any]) -> Self:
        """The claim of a run, whose summary says how many of its inputs are drawn."""
        found = self.model_copy()
        found._drawn = len(asked) - len(self.named)
        return found

    @cached_property
    def named(self) -> list[Any]:
        """The inputs that stand in the claim, each once."""
        given = [] if self.inputs is None else list(self.inputs.values)
        given += [one for pair in self.pairs for one in (pair.here, pair.there)]
        return list({json.dumps(one, default=repr): one for one in given}.values())

    @property
    def reference(self) -> str:
        """The reference's spec, its file as it is found from the working directory."""
        return spec_from(self.mechanism.reference, self._folder)

    @property
    def fresh_reference(self) -> GateCommand | None:
        """The command that empties what the reference keeps."""
        text, done = self.mechanism.reference_fresh_state, "what the reference kept is gone"
        key, seconds = "reference_fresh_state", self.gate.timeout
        return None if text is None else GateCommand(text, key, done, seconds, "mechanism")

    def look_up(self) -> None:
        """Raises ValueError of one line for a file, a name in it or a program that is not there."""
        try:
            look_up_all("reference in [mechanism]", self.reference)
            if self.fresh_reference is not None:
                self.fresh_reference.look_up()
        except TargetError as error:
            raise ClaimError(str(error), code=error.code) from None

    @property
    def summary(self) -> str:
        count, lives = len(self.named), self.mechanism.lives
        inputs = "an input" if count == 1 else f"{count} inputs"
        if self.mechanism.search:
            wanted = f"up to {self.mechanism.search}"
            inputs += f" and {wanted if self._drawn is None else self._drawn} drawn"
        if self.planner is not None:
            inputs = f"what {self.mechanism.inputs_of} is asked"
        within = "" if lives is None else f", in lives of {lives} calls"
        return f"the law of {shown_spec(self.mechanism.reference)}, on {inputs}{within}"

    @property
    def refuses(self) -> bool:
        return self.planner is not None and self.planner.refuses

    @cached_property
    def release(self) -> Release:
        """How inputs and replies travel."""
        return AnyRelease() if self.planner is None else self.planner.release

    @classmethod
    def checked(
        cls, table: dict[str, Any], source: str = "claim", folder: Path | None = None
    ) -> Self:
        """With the rows of the files that it names, and the claim whose inputs are asked."""
        within, table, place = folder or Path(), dict(table), "pairs"
        try:
            if "pairs" in table:
                table["pairs"] = with_files(table["pairs"], within)
            keys, place = table.get("mechanism"), "inputs.file: "
            if isinstance(keys, dict) and "inputs_of" in keys:
                table = _with_planner(table, source, folder)
            inputs = table.get("inputs")
            if isinstance(inputs, dict) and isinstance(inputs.get("file"), str):
                if "values" in inputs:
                    wrong = f"{source}: [inputs]: expected values, or file"
                    raise ClaimError(wrong, code="keys-do-not-fit")
                rest = {key: value for key, value in inputs.items() if key != "file"}
                table["inputs"] = {**rest, "values": _rows_of(within / inputs["file"])}
        except RowsError as error:
            raise ClaimError(f"{source}: {place}{error}") from None
        claim = super().checked(table, source, folder)
        claim._folder = folder
        return claim


def _rows_of(path: Path) -> list[Any]:
    """The inputs of a file, one a row. Raises RowsError."""
    found = []
    for place, row in read_rows(path):
        if _KEY not in row:
            raise RowsError(f"{place}: {_KEY} is missing")
        found.append(row[_KEY])
    return found


def _with_planner(table: dict[str, Any], source: str, folder: Path | None) -> dict[str, Any]:
    """The table, with what is not its own as a claim of the mechanism whose inputs are asked."""
    keys, own = table["mechanism"], SameAsMechanism.model_fields
    name = keys["inputs_of"]
    kind = kind_of(name) if isinstance(name, str) else None
    if kind is None or type(kind).inputs_asked is ReleaseKind.inputs_asked:
        raise ClaimError(
            f"{source}: mechanism.inputs_of = {shown_repr(name)}: expected a mechanism whose run "
            "chooses inputs, as gnmax, noisy-sum or table"
        )
    of = {"name": name, **{key: value for key, value in keys.items() if key not in own}}
    kept = {key: value for key, value in table.items() if key != "inputs"}
    others = {key: value for key, value in table.items() if key not in kept}
    planner = kind.claim_model.checked({"mechanism": of, **others}, source, folder)
    mechanism = {key: value for key, value in keys.items() if key in own}
    return {**kept, "mechanism": mechanism, "planner": planner}
