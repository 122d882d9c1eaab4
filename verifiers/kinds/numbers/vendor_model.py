"""The vendor's model: whatever gives gradients of records, by its spec, run in this process."""

from dataclasses import dataclass
from typing import Any

from ....attacks.gradients.canaries import Labels, checked
from ....reference.arrays import Matrix
from ....reference.clock import OutOfTime
from ...targets import TargetError
from ...targets.spec import load
from .claim import NumbersClaim


class ModelError(ValueError):
    """A model that cannot be had, or does not do what it must; the message is one line."""


@dataclass(frozen=True)
class VendorModel:
    """`package.module:attr` or `path/to/file.py:attr`, a callable (records, labels) -> gradients.

    spec: as typed, which messages name.
    """

    spec: str
    model: Any

    def __call__(self, records: Matrix, labels: Labels) -> Any:
        """Gradients (n, p) of records (n, q) with labels (n,). Raises ModelError."""
        try:
            return self.model(records.copy(), labels.copy())
        except OutOfTime:
            raise
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ModelError(
                f"{self.spec}: for records of shape {records.shape} it raised {raised}"
            ) from error


def load_model(spec: str) -> VendorModel:
    """The model that `spec` names. Raises ModelError of one line."""
    try:
        found = load(spec)
    except TargetError as error:
        raise ModelError(str(error)) from None
    if not callable(found):
        raise ModelError(f"{spec}: expected a callable (records, labels) -> gradients (n, p)")
    return VendorModel(spec, found)


def model_of(claim: NumbersClaim) -> VendorModel:
    """The model of the claim's `[leakage]`, tried on one record. Raises ModelError of one line."""
    assert claim.leakage is not None
    model, people = load_model(claim.leakage.model), claim.leakage.people
    width = claim.mechanism.width
    try:
        found = checked(model(people.records[:1], people.labels[:1]), people.labels[:1])
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"{model.spec}: {error}") from None
    if found.shape[1] != width:
        raise ModelError(
            f"{model.spec}: gradients of {found.shape[1]:,} numbers, but the claim's shapes have "
            f"{width:,}"
        )
    return model
