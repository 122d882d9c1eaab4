"""A claim in TOML, of whichever kind its mechanism is."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ...reference.noise import FAMILIES as NOISE
from ...reference.noise_names import family_meant
from ...reference.numbers.families import FAMILIES as NUMBER_NOISE
from ..claims.claim import ClaimError, read_table
from ..findings.codes import codes
from ..findings.note import allowed_code
from ..targets.replies import shown_repr
from ..text import did_you_mean, nearest
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
    open_keys = unfilled_keys(table)
    if open_keys:
        raise ClaimError(
            f"{source}: still to be filled in from the specification: {', '.join(open_keys)}",
            code="claim-unfilled",
        )
    mechanism = table.get("mechanism")
    if mechanism is None and {"targets", "tool"} & table.keys():
        raise ClaimError(f"{source}: a configuration, not a claim: dpassay verify NAME takes it")
    name = mechanism.get("name") if isinstance(mechanism, dict) else None
    kind = kind_of(name) if isinstance(name, str) else kinds()[0]
    if kind is None:
        raise ClaimError(_unknown(str(name), source))
    if only not in (None, kind.name):
        message = f"it releases {kind.name}, and a claim of {only} is needed here"
        raise ClaimError(f'{source}: mechanism.name = "{name}": {message}')
    claim: Any = kind.claim_model.checked(table, source, folder)
    if claim.http is not None:
        claim.http.lie_in(folder)
    if claim.gate.source is not None:
        claim.gate.lie_in(folder)
    wrong = _wrong_rules(claim)
    if wrong:
        raise ClaimError(*(f"{source}: gate.{line}" for line in wrong))
    return claim


UNFILLED = "?"
"""What stands in a claim that `dpassay init` wrote for a value that the user has to fill in."""


def unfilled_keys(table: dict[str, Any]) -> list[str]:
    """The keys of `[mechanism]` and `[privacy]`, and the pairs, that are still to be filled in."""

    def within(place: str, value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from within(f"{place}.{key}", inner)
        elif value == UNFILLED:
            yield place

    found = [key for name in ("mechanism", "privacy") for key in within(name, table.get(name))]
    pairs = table.get("pairs")
    both = {"here": UNFILLED, "there": UNFILLED}
    return found + ["pairs"] * (isinstance(pairs, list) and both in pairs)


def _wrong_rules(claim: Any) -> list[str]:
    """What `[gate]` says of checks and codes that there are none of, a line each."""
    gate, checks = claim.gate, claim.kind.checks
    sized = [entry.id for entry in checks.entries if entry.least and entry.least.field]
    wrong = [f"require: {_no_such(name, checks.ids, 'check')}" for name in gate.require]
    wrong += [f"least: {_no_such(name, sized, 'check with a size')}" for name in gate.least]
    for name, most in gate.least.items():
        precision = _PRECISIONS.get(checks.entry(name).least.field) if name in sized else None
        if precision is not None and getattr(gate, precision) > most:
            stated = f"{precision} = {getattr(gate, precision):g}"
            wrong.append(f"least: {name} = {most:g} is sharper than {stated}: lower that too")
    wrong += [f"fail_on: {_no_such(code, codes(), 'code')}" for code in gate.fail_on]
    wrong += [f"allow: {_no_such(allowed_code(entry), codes(), 'code')}" for entry in gate.allow]
    return [line for line in wrong if not line.endswith(": ")]


def _no_such(name: str, known: Collection[str], what: str) -> str:
    """Why a name is none of those known, with the one that it resembles; nothing if it is one."""
    if name in known:
        return ""
    few = "; docs/checks/codes.md tells of all"
    if len(known) <= _MOST_LISTED:
        few = f": expected one of {', '.join(known)}"
    return f"{shown_repr(name)} is no {what}{few}{did_you_mean(name, known)}"


def read_claim(path: str | Path, *, only: str | None = None) -> Any:
    """The claim in the TOML file at `path`; only: as `parse_claim`. Raises ClaimError."""
    return parse_claim(read_table(path), str(path), Path(path).parent, only=only)


_PRECISIONS = {"total_variation": "smallest_effect", "factor": "tolerance"}
"""The key of `[gate]` that plans for a size of what is excluded."""

_MOST_LISTED = 40
"""Most names that a message lists."""

_NO_NOISE = "instahide"
"""Known by name, and refused: it mixes images and flips signs, and adds no noise."""


_ELSEWHERE = {
    "dp-sgd": "noisy-gradient",
    "dpsgd": "noisy-gradient",
    "pate": "gnmax",
    "poisson": "batches",
    "histogram": "noisy-histogram",
    "secagg": "secure-tally",
}
"""Mechanisms by the names of their papers and libraries."""


def _unknown(name: str, source: str) -> str:
    if name.lower() == _NO_NOISE:
        return (
            f"{source}: mechanism.name = {shown_repr(name)}: it adds no noise, so there is no "
            "epsilon to claim: 100 private images were recovered from 2,000 of its encodings "
            "(dpassay instahide shows it); claim a mechanism with noise, as noisy-gradient"
        )
    family = family_meant(name, (*NOISE, *NUMBER_NOISE))
    every = [n for kind in kinds() for n in kind.mechanisms]
    likely = _ELSEWHERE.get(name.lower()) or nearest(name.replace("_", "-"), every)
    meant = f"did you mean {likely}? " if likely else ""
    if family is not None:
        meant = f'that is noise: did you mean noise = "{family}:SCALE", beside another name? '
    all_names = "; ".join(f"of {kind.name}: {', '.join(kind.mechanisms)}" for kind in kinds())
    return f"{source}: mechanism.name = {shown_repr(name)}: {meant}{all_names}"
