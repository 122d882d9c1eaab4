"""Pairs of batches that an audit of a gradient asks: from files, or made of a canary.

Each batch is a list of tensors, of which the rows are gradients of records, as the deployment takes
them. How many steps of the claim's adjacency lie between the two is part of a pair: to replace a
record is one step of `replace-one`, and two of `add-remove`.
"""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...attacks.gradients.canaries import ClippedModel, checked, crafted_canary
from ...reference.arrays import Matrix, Vector
from ...reference.numbers import NoisyGradient
from ..inputs.files import read_bytes
from ..inputs.people_file import PeopleTable
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.planning.plan import as_values
from ..kinds.numbers.vendor_model import VendorModel

_OTHERS = 7  # records that share the batch with a canary


@dataclass(frozen=True)
class CanaryPair:
    """Two batches as the deployment takes them, and their exact releases (2, d).

    steps: of the claim's adjacency between them; words: what the pair is, in words.
    """

    here: Any
    there: Any
    exact: Matrix
    steps: int
    words: str

    @property
    def distance(self) -> float:
        """How far the exact releases lie apart (L2)."""
        return float(np.linalg.norm(self.exact[0] - self.exact[1]))

    @property
    def direction(self) -> Vector:
        """The unit vector (d,) from the second exact release to the first."""
        return np.asarray((self.exact[0] - self.exact[1]) / self.distance)

    @property
    def halfway(self) -> float:
        """The middle between the exact releases, as projected on the direction."""
        return float(0.5 * (self.exact[0] + self.exact[1]) @ self.direction)


def gradient_of(claim: NumbersClaim) -> NoisyGradient:
    """The claimed mechanism. Raises ValueError where it releases something else."""
    if claim.mechanism.takes != "tensors":
        raise ValueError(
            f"mechanism.name = {claim.mechanism.name}: of numbers, audit takes noisy-gradient alone"
        )
    aggregation = claim.mechanism.aggregation
    assert isinstance(aggregation, NoisyGradient)
    return aggregation


def pair_of_files(claim: NumbersClaim, here: str, there: str) -> CanaryPair:
    """Batches from JSON files: a list of tensors (n, *shape), or {"values": that list}.

    Raises ValueError for what is no such file, and for batches that are no neighbours.
    """
    gradient = gradient_of(claim)
    rows = [_rows(gradient, path) for path in (here, there)]
    return _pair(claim, rows[0], rows[1], f"{here} and {there}")


def pair_of_model(
    claim: NumbersClaim, model: VendorModel, people: PeopleTable, seed: int
) -> CanaryPair:
    """A canary crafted against the vendor's model, within the range of its data.

    Raises ValueError where the attribute is not among the model's features, or no canary moves.
    """
    gradient = gradient_of(claim)
    clipped = ClippedModel(model, gradient.clip_norm)
    canary = crafted_canary(clipped, people.records, people.flip, people.classes, seed)
    rng = np.random.default_rng([seed, 1])
    chosen = rng.choice(len(people.records), min(_OTHERS, len(people.records)), replace=False)
    labels = np.append(people.labels[chosen], canary.label)
    batches = []
    for record in (canary.here, canary.there):
        asked = np.vstack([people.records[chosen], record])
        batches.append(checked(model(asked, labels), labels))
        if batches[-1].shape[1] != gradient.dimensions:
            raise ValueError(
                f"{model.spec}: gradients of {batches[-1].shape[1]} numbers, but the claim's "
                f"shapes have {gradient.dimensions}"
            )
    message = (
        f"a canary of label {canary.label} crafted against {model.spec}, its attribute flipped"
    )
    return _pair(claim, batches[0], batches[1], message)


def _rows(gradient: NoisyGradient, path: str) -> Matrix:
    """The gradients (n, d) in a file."""
    content = read_bytes(path, again=True)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: not JSON: expected a list of tensors") from None
    tensors = found.get("values") if isinstance(found, dict) else found
    if not isinstance(tensors, list):
        raise ValueError(f'{path}: expected a list of tensors, or {{"values": such a list}}')
    try:
        rows = gradient.flat(tensors)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    if not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"{path}: expected one record or more, of finite numbers")
    return rows


def _pair(claim: NumbersClaim, here: Matrix, there: Matrix, message: str) -> CanaryPair:
    batches = [as_values(claim.mechanism, rows) for rows in (here, there)]
    exact = np.stack([claim.mechanism.aggregation.exact(values) for values in batches])
    steps, how = _steps(claim, here, there)
    found = CanaryPair(batches[0], batches[1], exact, steps, f"{message}: {how}")
    if found.distance == 0.0:
        raise ValueError(f"{message}: the same once clipped: expected gradients that differ")
    return found


def _steps(claim: NumbersClaim, here: Matrix, there: Matrix) -> tuple[int, str]:
    """How many steps of the claimed adjacency lead from batch to batch, and what they are.

    Raises ValueError where more records differ than a unit has, or some were added to a claim of
    replaced ones.
    """
    ours, theirs = (Counter(row.tobytes() for row in rows + 0.0) for rows in (here, there))
    gone, come = sum((ours - theirs).values()), sum((theirs - ours).values())
    most = claim.mechanism.contributions
    unit = claim.mechanism.unit
    if not gone and not come:
        raise ValueError("the two batches hold the same records: expected neighbours")
    if max(gone, come) > most:
        raise ValueError(
            f"the batches differ in {max(gone, come)} records: expected at most {most}, all that a "
            f"{unit} has"
        )
    if gone and come:
        if claim.mechanism.replaces:
            return 1, f"a {unit} substituted"
        return 2, f"a {unit} substituted, which is two steps of add-remove"
    if claim.mechanism.replaces:
        raise ValueError(
            "the batches have other numbers of records: expected as many, as adjacency = "
            '"replace-one" has it'
        )
    return 1, f"a {unit} added"
