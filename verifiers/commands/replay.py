"""`dpassay replay`: pairs of neighbours with the noise of a Python target frozen."""

import click

from ..cli.exit_statuses import fail, json_option, print_and_exit
from ..cli.options import WholeNumber, option_with_default
from ..kinds.reading import read_claim
from ..replay.replayed import replay_pairs
from ..targets import TargetError


@click.command()
@click.argument("target")
@click.option("--claim", metavar="FILE", required=True, help="The claim, TOML.")
@option_with_default("--pairs", type=WholeNumber(1, 1_000_000), default=100, help="Pairs at most.")
@option_with_default("--seed", type=WholeNumber(0, 2**63 - 1), default=0, help="Fixes the pairs.")
@json_option
def replay(*, target: str, claim: str, pairs: int, seed: int, as_json: bool) -> None:
    """Run a Python TARGET on two neighbours with the same noise, and compare.

    All that the target draws is recorded on one input and played back on its neighbour. What then
    moves is the release without its noise, so that one pair shows the sensitivity exactly, with no
    statistics, and the line where it arises. Noise whose scale, shape or number of draws depends on
    the data is shown as well. Labels must stay the same where each class gains as many votes.

    Exit 0: no pair shows a fault; 1: one does; 2: misuse or a target error; 3: the noise could not
    be frozen.
    """
    try:
        found = replay_pairs(target, read_claim(claim), seed, pairs)
    except (TargetError, ValueError) as error:
        fail(error)
    print_and_exit(found, as_json)
