"""The vendor's model: whatever gives gradients of records, by its spec, run in this process."""

import inspect
from dataclasses import dataclass, replace
from typing import Any

from ....attacks.gradients.canaries import Labels, checked
from ....reference.arrays import Matrix
from ....reference.clock import OutOfTime
from ...inputs.input_error import InputError
from ...targets import TargetError
from ...targets.spec import load
from .claim import NumbersClaim


class ModelError(InputError):
    """A model that cannot be had, or does not do what it must; the message is one line."""

    code = "model-failed"


@dataclass(frozen=True)
class VendorModel:
    """`package.module:attr` or `path/to/file.py:attr`, a callable (records, labels) -> gradients.

    spec: as typed, which messages name; number: of a round of training, from 0, which a model that
    changes takes as a third argument; None of one that stands still.
    """

    spec: str
    model: Any
    number: int | None = None

    def __call__(self, records: Matrix, labels: Labels) -> Any:
        """Gradients (n, p) of records (n, q) with labels (n,). Raises ModelError."""
        third = () if self.number is None else (self.number,)
        try:
            return self.model(records.copy(), labels.copy(), *third)
        except OutOfTime:
            raise
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            when = "" if self.number is None else f" in round {self.number}"
            raise ModelError(
                f"{self.spec}: for records of shape {records.shape}{when} it raised {raised}"
            ) from error

    def in_round(self, number: int) -> "VendorModel":
        """The model as it is before the step of this round. Raises ModelError if it has none."""
        try:
            inspect.signature(self.model).bind(None, None, number)
        except TypeError:
            raise ModelError(
                f"{self.spec}: expected a callable (records, labels, round) -> gradients (n, p), "
                "for rounds of training"
            ) from None
        except ValueError:  # a callable of C, which does not say what it takes
            pass
        return replace(self, number=number)


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
