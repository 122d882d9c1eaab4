"""`dpassay audit`."""

import json
import sys

import click

from ..commands.exit_statuses import fail, lines_of, on_stdout


@click.command()
@click.argument("target")
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--pair", nargs=2, required=True, metavar="HISTOGRAM HISTOGRAM")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def audit(target: str, claim_file: str, pair: tuple[str, str], as_json: bool) -> None:
    """Bound what TARGET's labels give away of a pair of histograms, one vote apart.

    Exit 0: the claim is not refuted; 1: it is; 2: misuse or a target error; 3: not told apart.
    """
    from ...reference import BudgetExhausted, parse_histogram
    from ..claim import ClaimError, read_claim
    from ..commands.audit import audit as run
    from ..reaching import open_claimed
    from ..targets import Refused, TargetError

    try:
        claim = read_claim(claim_file)
        here, there = (parse_histogram(text) for text in pair)
        deployment = open_claimed(target, claim, plainly=True)
    except (ClaimError, TargetError, ValueError) as error:
        fail(*lines_of(error))
    try:
        found = run(deployment, claim, here, there)
    except (TargetError, ValueError) as error:
        fail(str(error))
    except Refused as refusal:
        fail(f"the target refuses a histogram of the pair: {refusal}")
    except BudgetExhausted:
        fail("the target's own budget was exhausted")
    finally:
        deployment.close()
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())
    sys.exit(found.verdict.exit_status)
