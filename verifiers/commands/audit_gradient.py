"""`dpassay audit` of a deployment that releases noisy gradients."""

from contextlib import closing
from dataclasses import dataclass
from typing import NoReturn

from ...reference import BudgetExhausted
from ..cli.ending import print_and_exit
from ..cli.exit_statuses import fail
from ..gradients.audit import audit_gradient as run
from ..gradients.canary_pair import CanaryPair, gradient_of, pair_of_files, pair_of_model
from ..inputs.people_file import read_people
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.vendor_model import load_model
from ..targets import PacedTarget, Refused, Target, TargetError, open_target


@dataclass(frozen=True)
class GradientOptions:
    """Where the pair of batches comes from: files, or a model and the data of its canary."""

    pair: tuple[str, str] | None
    model: str | None
    data: str
    label: str | None
    attributes: tuple[str, ...]

    def made(self, claim: NumbersClaim, seed: int) -> CanaryPair:
        """The pair. Raises ValueError where files or model do not do; ends for misuse."""
        gradient_of(claim)
        if self.pair is not None:
            if self.model is not None or self.attributes or self.label is not None:
                fail("--pair stands for --model, --data, --label and --attribute: give either")
            return pair_of_files(claim, *self.pair)
        if self.model is None or self.label is None or not self.attributes:
            fail(
                "give --pair FILE FILE, or --model SPEC, --data FILE, --label COLUMN and "
                "--attribute COLUMN"
            )
        people = read_people(self.data, self.label, self.attributes)
        return pair_of_model(claim, load_model(self.model), people, seed)


def audit_gradient(
    target: str | None,
    other: str | None,
    claim: NumbersClaim,
    options: GradientOptions,
    *,
    seed: int,
    as_json: bool,
) -> NoReturn:
    """Audits the target, prints what was found, and exits."""
    if target is None or other is not None:
        fail("give one TARGET: the batches of a pair are asked of the same deployment")
    try:
        pair = options.made(claim, seed)
        gate = claim.gate
        http = claim.http_options
        opened = open_target(target, gate.timeout, http=http, release=claim.release)
        with closing(opened) as deployment:
            asked: Target = deployment
            if gate.largest_call is not None:
                asked = PacedTarget(asked, gate.timeout, gate.largest_call, claim.release)
            found = run(asked, claim, pair)
    except (TargetError, ValueError) as error:
        fail(error)
    except Refused as refusal:
        fail(f"the target refuses a batch of the pair: {refusal}", code="input-refused")
    except BudgetExhausted:
        fail("the target's own budget was exhausted", code="budget-exhausted")
    print_and_exit(found, as_json)
