"""`dpassay audit`."""

from contextlib import ExitStack, closing
from typing import Any

import click

from ..commands.exit_statuses import fail, lines_of
from ..commands.options import Whole, option_with_default, typed_options
from .audit_any import audit_any_claim
from .audit_gradient import GradientOptions, audit_gradient
from .audit_mechanism import audit_by_name, of_mechanism
from .ending import json_option, print_and_exit


@click.command()
@click.argument("target", required=False)
@click.argument("other", required=False)
@click.option("--claim", metavar="FILE", help="The claim, TOML.")
@click.option(
    "--pair",
    nargs=2,
    metavar="HISTOGRAM HISTOGRAM",
    help="Neighbours under the claim; of noisy gradients, two JSON files of tensors, a row "
    "for each record.",
)
@click.option(
    "--model",
    metavar="SPEC",
    help="Of noisy gradients, in place of --pair: (records, labels) -> gradients, in Python, "
    "against which a canary is crafted from --data FILE and --label COLUMN.",
)
@click.option(
    "--attribute",
    "attributes",
    metavar="COLUMN",
    multiple=True,
    help="What the canary's records differ in; several where a word has a column for each value.",
)
@click.option(
    "--canaries",
    metavar="FILE",
    help="CSV with the columns score and in: canaries of one training, each of which a fair coin "
    "put in (1) or left out (0). Takes --delta.",
)
@click.option(
    "--train",
    metavar="SPEC",
    help="In place of --canaries: (included) -> scores, in Python, which trains once with the "
    "canaries whose coin, drawn by --seed, says so.",
)
@option_with_default(
    "--count", type=Whole(2, 10_000_000), default=1000, help="Of --train: canaries."
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0.0, min_open=True),
    help="Of --canaries and --train: the claimed epsilon, to be held to.",
)
@of_mechanism
@json_option
@click.pass_context
def audit(
    context: click.Context,
    /,
    *,
    target: str | None,
    other: str | None,
    claim: str | None,
    pair: tuple[str, str] | None,
    model: str | None,
    attributes: tuple[str, ...],
    canaries: str | None,
    train: str | None,
    count: int,
    epsilon: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Bound from below what labels, or noisy gradients, give away of one record.

    With TARGET, --claim and --pair: of a deployment's labels for two neighbouring histograms.
    With OTHER, a deployment whose data differ in one record, TARGET is asked the first and OTHER
    the second.

    Where the claim is without a law (name = "any"): of each pair that it names, and of drawn ones.

    Where the claim is of noisy gradients: of two batches, or of a canary, a record whose gradient
    moves far as one attribute is flipped, beside what it costs exactly.

    With --mechanism: of a private prediction mechanism whose teachers are trained on records, by
    the adversaries of Chadha et al. 2024, beside the exact cost and what theory charges.

    With --canaries or --train: of one training, by guessing from scores who was in; its epsilon
    (Steinke et al. 2023), and mu of Gaussian differential privacy (Mahloujifar et al. 2024).

    Exit 0: the claim, or the theory, is not refuted; 1: it is; 2: misuse or a target error; 3: not
    told apart.
    """
    if canaries is not None or train is not None:
        own = {"canaries"} if canaries is not None else {"train", "count", "seed"}
        stray = typed_options(context, own | {"epsilon", "delta", "as_json"})
        if target is not None or stray:
            name = "--train" if canaries is None else "--canaries"
            fail(f"{[*stray, 'TARGET'][0]} does not belong to {name}")
        _audit_training(canaries, train, count, options, epsilon, as_json=as_json)
    if epsilon is not None:
        fail("--epsilon belongs to --canaries and --train")
    if options["mechanism"] is not None:
        if target is not None or claim is not None or pair is not None:
            fail("--mechanism stands for TARGET, --claim and --pair: give one or the other")
        if model is not None or attributes:
            fail("--model and --attribute belong to a TARGET that releases gradients")
        audit_by_name(context, options, as_json=as_json)
    numbers = None if claim is None else _claim_beside_labels(claim)
    if numbers is not None and numbers.mechanism.name == "any":
        stray = typed_options(context, {"claim", "seed", "as_json"})
        if other is not None or stray:
            fail(f"{[*stray, 'OTHER'][0]} does not belong to a claim without a law")
        audit_any_claim(target, numbers, seed=options["seed"], as_json=as_json)
    of_gradients = {"model", "attributes", "data", "label", "seed"}
    stray = typed_options(
        context, {"claim", "pair", "as_json"} | (of_gradients if numbers is not None else set())
    )
    if stray:
        owner = "claims of noisy gradients" if stray[0] in ("--model", "--attribute") else None
        fail(f"{stray[0]} belongs to {owner or '--mechanism NAME, which is not given'}")
    if numbers is not None:
        given = GradientOptions(pair, model, options["data"], options["label"], attributes)
        audit_gradient(target, other, numbers, given, seed=options["seed"], as_json=as_json)
    if target is None or claim is None or pair is None:
        fail("give TARGET, --claim FILE and --pair HISTOGRAM HISTOGRAM, or --mechanism NAME")
    _audit_pair([target] if other is None else [target, other], claim, pair, as_json=as_json)


def _audit_training(
    canaries: str | None,
    train: str | None,
    count: int,
    options: dict[str, Any],
    epsilon: float | None,
    *,
    as_json: bool,
) -> None:
    """Audits one training by its canaries, prints what was found, and exits."""
    from ..commands.audit_canaries import audit_canaries, audit_training
    from ..targets import TargetError

    try:
        if canaries is not None:
            found = audit_canaries(canaries, options["delta"], epsilon)
        else:
            assert train is not None
            found = audit_training(train, count, options["seed"], options["delta"], epsilon)
    except (TargetError, ValueError) as error:
        fail(*lines_of(error))
    print_and_exit(found, as_json)


def _claim_beside_labels(path: str) -> Any:
    """The claim in a file, of numbers or without a law, None where it is of labels.

    Ends the command for a wrong one.
    """
    from ..claims.claim import ClaimError
    from ..kinds.labels.kind import KIND
    from ..kinds.numbers.claim import NumbersClaim
    from ..kinds.reading import read_claim

    try:
        claim = read_claim(path)
    except ClaimError as error:
        fail(*lines_of(error))
    if claim.kind is KIND:
        return None
    if not isinstance(claim, NumbersClaim) and claim.mechanism.name != "any":
        fail(
            f"{path}: an audit is of labels, of noisy gradients, or of a claim without a law "
            "(any); `dpassay verify` holds releases "
            f"of {claim.mechanism.name} to their [privacy]"
        )
    return claim


def _audit_pair(
    targets: list[str], claim_file: str, pair: tuple[str, str], *, as_json: bool
) -> None:
    """Audits the targets, prints what was found, and exits."""
    from ...reference import BudgetExhausted, parse_histogram
    from ..claims.claim import ClaimError
    from ..claims.open_target import open_claimed
    from ..commands.audit import audit as run
    from ..kinds.labels.reading import read_labels_claim
    from ..targets import Refused, TargetError

    deployments = ExitStack()
    try:
        claim = read_labels_claim(claim_file)
        here, there = (parse_histogram(text) for text in pair)
        asked = [
            deployments.enter_context(closing(open_claimed(spec, claim, plainly=True)))
            for spec in targets
        ]
        found = run(asked[0], claim, here, there, other=asked[1] if asked[1:] else None)
    except (ClaimError, TargetError, ValueError) as error:
        fail(*lines_of(error))
    except Refused as refusal:
        fail(f"the target refuses a histogram of the pair: {refusal}")
    except BudgetExhausted:
        fail("the target's own budget was exhausted")
    finally:
        deployments.close()
    print_and_exit(found, as_json)
