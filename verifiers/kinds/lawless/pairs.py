"""Pairs of neighbouring inputs: in the claim, in a file, or of files."""

import json
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from ...claims.tables import Table
from ...inputs.input_error import ColumnsError, RowsError
from ...inputs.row_file import read_rows

_SIDES = ("here", "there")


def _add_files(schema: dict[str, Any]) -> None:
    """Adds to the schema that a file may stand in place of either input."""
    schema["properties"] |= {f"{side}_file": {"type": "string"} for side in _SIDES}
    del schema["required"]
    schema["allOf"] = [
        {"oneOf": [{"required": [side]}, {"required": [f"{side}_file"]}]} for side in _SIDES
    ]


class Pair(Table):
    """Two neighbouring inputs, any JSON."""

    model_config = ConfigDict(json_schema_extra=_add_files)

    here: Any
    there: Any
    name: str | None = None

    def check(self, place: str) -> None:
        """Raises ValueError for two equal inputs, and where JSON has no form for one, as a date."""
        for side in _SIDES:
            try:
                json.dumps(getattr(self, side))
            except TypeError as error:
                raise ValueError(f"{place}: {side} is no JSON: {error}") from None
        if json.dumps(self.here) == json.dumps(self.there):
            raise ValueError(f"{place}: here and there are the same input")


class Control(Pair):
    """Two inputs far apart, which replies should tell apart if they tell anything.

    distance: steps from neighbour to neighbour that lead from one to the other; None: so many that
    no noise of the claim would hide them.
    """

    distance: float | None = Field(default=None, ge=1, le=1e9)


def with_files(pairs: Any, folder: Path) -> Any:
    """What `pairs` of a claim says, with the content of files in place of their names.

    Raises RowsError whose message follows the word pairs.
    """
    if isinstance(pairs, str):
        return _pairs_of(folder / pairs)
    if isinstance(pairs, list):
        return [_with_inputs(pair, f", {number}", folder) for number, pair in enumerate(pairs, 1)]
    return pairs


def _pairs_of(path: Path) -> list[Any]:
    """A pair for each row of a file."""
    found = []
    try:
        for place, row in read_rows(path):
            stray = sorted(set(row) - {*_SIDES, "name"})
            missing = [side for side in _SIDES if side not in row]
            if stray or missing:
                what = f"{missing[0]} is missing" if missing else f"{stray[0]} is none of a pair"
                raise ColumnsError(f"{place}: {what}: expected here, there, and perhaps name")
            name = row.get("name")
            name = name if name is None or isinstance(name, str) else json.dumps(name)
            found.append({**row, "name": name})
    except RowsError as error:
        raise RowsError(f": {error}") from None
    return found


def _with_inputs(pair: Any, place: str, folder: Path) -> Any:
    """A pair with the rows of `here_file` and `there_file` as inputs."""
    if not isinstance(pair, dict):
        return pair
    found = dict(pair)
    for side in _SIDES:
        name = found.pop(f"{side}_file", None)
        if name is None:
            continue
        if side in found or not isinstance(name, str):
            raise RowsError(
                f"{place}: expected {side}, or {side}_file = FILE", code="keys-do-not-fit"
            )
        try:
            found[side] = [row for _, row in read_rows(folder / name)]
        except RowsError as error:
            raise RowsError(f"{place}, {side}_file: {error}") from None
    return found
