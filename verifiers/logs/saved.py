"""What the evidence of a log knows, as bytes: so that a log can be followed for months."""

import io
import json
from typing import Any

import numpy as np

from .judge import LogEvidence


def saved(evidence: LogEvidence) -> bytes:
    """All that later rows depend on, but for the labels that came last, which have their own place.

    Numbers keep every bit. See `restore`.
    """
    arrays = {
        f"{name}.{field}": np.asarray(getattr(part, field))
        for name, part in _parts(evidence).items()
        for field in part.SAVED
    }
    told = {
        "highest": evidence.highest,
        "found_after": evidence.found_after,
        "contradiction": evidence.contradiction,
        "window": evidence.window,
        "alternatives": evidence.alternatives.wordings,
        "workers": list(evidence.copies.of_worker.items()),
        "random": evidence.rng.bit_generator.state,
    }
    kept = io.BytesIO()
    np.savez(kept, told=np.array(json.dumps(told)), **arrays)  # type: ignore[arg-type]
    return kept.getvalue()


def restore(evidence: LogEvidence, kept: bytes) -> None:
    """Takes up what was saved of evidence of the same claim.

    Raises ValueError or KeyError for what another version saved.
    """
    with np.load(io.BytesIO(kept), allow_pickle=False) as arrays:
        known = {f"{n}.{field}" for n, part in _parts(evidence).items() for field in part.SAVED}
        if set(arrays.files) != known | {"told"}:
            raise ValueError("it has other parts")
        for name, part in _parts(evidence).items():
            for field in part.SAVED:
                value, here = arrays[f"{name}.{field}"], getattr(part, field)
                setattr(part, field, value if isinstance(here, np.ndarray) else int(value))
        told: dict[str, Any] = json.loads(str(arrays["told"]))
    if told["alternatives"] != evidence.alternatives.wordings:
        raise ValueError("it has other alternatives to the claim")
    evidence.highest, evidence.found_after = told["highest"], told["found_after"]
    evidence.contradiction = told["contradiction"]
    evidence.window = None if told["window"] is None else (told["window"][0], told["window"][1])
    evidence.copies.of_worker = dict(told["workers"])
    evidence.rng.bit_generator.state = told["random"]


def _parts(evidence: LogEvidence) -> dict[str, Any]:
    """Everything that has state of its own, by name; each says in `SAVED` what that is."""
    by_rank, by_number = evidence.cells
    return {
        "evidence": evidence,
        "pointed": evidence.pointed,
        "by_rank": by_rank,
        "by_number": by_number,
        "copies": evidence.copies,
        "of_copies": evidence.copies.evidence,
        "scale": evidence.scale,
        "lately": evidence.lately,
    }
