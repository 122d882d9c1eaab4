"""The state of the evidence of a log as bytes, so that a monitor can be restarted."""

import io
import json
from typing import Any

import numpy as np

from .judge import LogEvidence, Window


def saved(evidence: LogEvidence) -> bytes:
    """The state on which later rows depend, except for the latest labels, which are in the store.

    Numbers keep every bit. See `restore`.
    """
    arrays = {
        f"{name}.{field}": np.asarray(getattr(part, field))
        for name, part in _parts(evidence).items()
        for field in part.SAVED
    }
    for at, party in enumerate(evidence.parties):
        arrays |= {f"party{at}.{field}": kept for field, kept in party.as_arrays().items()}
    fields = {
        "parties": [list(party.evidence) for party in evidence.parties],
        "sides": [[s.value, s.names, list(s.seen.items())] for s in evidence.sides],
        "highest": evidence.highest,
        "found_after": evidence.found_after,
        "contradiction": evidence.contradiction,
        "window": evidence.window,
        "lately_from": evidence.lately_from,
        "alternatives": evidence.alternatives.wordings,
        "workers": list(evidence.copies.of_worker.items()),
        "random": evidence.rng.bit_generator.state,
    }
    kept = io.BytesIO()
    np.savez(kept, told=np.array(json.dumps(fields)), **arrays)  # type: ignore[arg-type]
    return kept.getvalue()


def restore(evidence: LogEvidence, kept: bytes) -> None:
    """Restores a state that was saved for the same claim.

    Raises ValueError or KeyError for the state of another version.
    """
    with np.load(io.BytesIO(kept), allow_pickle=False) as arrays:
        known = {f"{n}.{field}" for n, part in _parts(evidence).items() for field in part.SAVED}
        state: dict[str, Any] = json.loads(str(arrays["told"]))
        # states from before wagers on hours go on; those begin with the next row
        fields_kept = _party_fields(evidence)[: len(state["parties"])]
        known |= {name for party in fields_kept for name in party.values()}
        if set(arrays.files) != known | {"told"}:
            raise ValueError("it has other parts")
        for name, part in _parts(evidence).items():
            for field in part.SAVED:
                value, here = arrays[f"{name}.{field}"], getattr(part, field)
                setattr(part, field, value if isinstance(here, np.ndarray) else int(value))
        parties = zip(evidence.parties, state["parties"], fields_kept, strict=False)
        for party, names, fields in parties:
            party.restore(names, {field: arrays[name] for field, name in fields.items()})
    if state["alternatives"] != evidence.alternatives.wordings:
        raise ValueError("it has other alternatives to the claim")
    evidence.highest, evidence.found_after = state["highest"], state["found_after"]
    evidence.contradiction = state["contradiction"]
    if "lately_from" in state:  # states from before it did not say which rows their window had
        evidence.lately_from = state["lately_from"]
        evidence.window = _window(state["window"])
    evidence.copies.of_worker = dict(state["workers"])
    for side, (value, names, seen) in zip(evidence.sides, state["sides"], strict=True):
        side.value, side.names, side.seen = value, names, dict(seen)
    evidence.rng.bit_generator.state = state["random"]


def _window(kept: list[Any] | None) -> Window | None:
    if kept is None:
        return None
    first, last, interval = kept
    return Window(first, last, None if interval is None else (interval[0], interval[1]))


def _party_fields(evidence: LogEvidence) -> list[dict[str, str]]:
    """Fields of the evidence on workers, clients and hours -> names under which they are saved."""
    return [
        {field: f"party{at}.{field}" for field in (*party.SAVED, "log_values")}
        for at, party in enumerate(evidence.parties)
    ]


def _parts(evidence: LogEvidence) -> dict[str, Any]:
    """The parts of the evidence that have state, by name; `SAVED` lists the attributes of each."""
    by_rank, by_number = evidence.cells
    sides = {f"side{at}": side for at, side in enumerate(evidence.sides)}
    of_sides = {f"of_side{at}": side.evidence for at, side in enumerate(evidence.sides)}
    return {
        **sides,
        **of_sides,
        "lagged": evidence.lagged,
        "of_lagged": evidence.lagged.evidence,
        "evidence": evidence,
        "pointed": evidence.pointed,
        "by_rank": by_rank,
        "by_number": by_number,
        "copies": evidence.copies,
        "of_copies": evidence.copies.evidence,
        "scale": evidence.scale,
        "lately": evidence.lately,
    }
