"""`dpassay audit`."""

import json
import sys
from contextlib import ExitStack, closing

import click

from ..commands.exit_statuses import fail, lines_of, on_stdout


@click.command()
@click.argument("target")
@click.argument("other", required=False)
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--pair", nargs=2, required=True, metavar="HISTOGRAM HISTOGRAM")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def audit(
    target: str, other: str | None, claim_file: str, pair: tuple[str, str], as_json: bool
) -> None:
    """Bound what TARGET's labels give away of a pair of histograms, one vote apart.

    With OTHER, a deployment whose data differ in one record: TARGET is asked the first histogram of
    the pair, OTHER the second.

    Exit 0: the claim is not refuted; 1: it is; 2: misuse or a target error; 3: not told apart.
    """
    from ...reference import BudgetExhausted, parse_histogram
    from ..claim import ClaimError, read_claim
    from ..commands.audit import audit as run
    from ..reaching import open_claimed
    from ..targets import Refused, TargetError

    deployments = ExitStack()
    try:
        claim = read_claim(claim_file)
        here, there = (parse_histogram(text) for text in pair)
        asked = [
            deployments.enter_context(closing(open_claimed(spec, claim, plainly=True)))
            for spec in (target, other)
            if spec is not None
        ]
        found = run(asked[0], claim, here, there, other=asked[-1])
    except (ClaimError, TargetError, ValueError) as error:
        fail(*lines_of(error))
    except Refused as refusal:
        fail(f"the target refuses a histogram of the pair: {refusal}")
    except BudgetExhausted:
        fail("the target's own budget was exhausted")
    finally:
        deployments.close()
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())
    sys.exit(found.verdict.exit_status)
