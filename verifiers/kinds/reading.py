"""A claim in TOML, of whichever kind its mechanism is."""

import difflib
from pathlib import Path
from typing import Any

from ..claims.claim import ClaimError, read_table
from ..targets.replies import shown_repr
from . import kind_of, kinds


def parse_claim(
    table: dict[str, Any],
    source: str = "claim",
    folder: Path | None = None,
    *,
    only: str | None = None,
) -> Any:
    """The claim in `table` (parsed TOML), of the class of its kind. Raises ClaimError.

    source: heads its mistakes; folder: of the claim's file, where files that it names may lie
    beside it; only: the name of the kind that is needed, any when None.
    """
    mechanism = table.get("mechanism")
    name = mechanism.get("name") if isinstance(mechanism, dict) else None
    kind = kind_of(name) if isinstance(name, str) else kinds()[0]
    if kind is None:
        raise ClaimError(_unknown(str(name), source))
    if only not in (None, kind.name):
        message = f"it releases {kind.name}, and a claim of {only} is needed here"
        raise ClaimError(f'{source}: mechanism.name = "{name}": {message}')
    return kind.parse(table, source, folder)


def read_claim(path: str | Path, *, only: str | None = None) -> Any:
    """The claim in the TOML file at `path`; only: as `parse_claim`. Raises ClaimError."""
    return parse_claim(read_table(path), str(path), Path(path).parent, only=only)


_NO_NOISE = "instahide"
"""Known by name, and refused: it mixes images and flips signs, and adds no noise."""


def _unknown(name: str, source: str) -> str:
    if name.lower() == _NO_NOISE:
        return (
            f"{source}: mechanism.name = {shown_repr(name)}: it adds no noise, so there is no "
            "epsilon to claim: 100 private images were recovered from 2,000 of its encodings "
            "(dpassay instahide shows it); claim a mechanism with noise, as noisy-gradient"
        )
    near = difflib.get_close_matches(name, [n for kind in kinds() for n in kind.mechanisms], 1)
    meant = f"did you mean {near[0]}? " if near else ""
    all_names = "; ".join(f"of {kind.name}: {', '.join(kind.mechanisms)}" for kind in kinds())
    return f"{source}: mechanism.name = {shown_repr(name)}: {meant}{all_names}"
