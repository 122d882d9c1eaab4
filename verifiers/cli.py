"""The command line. Heavy imports happen inside the commands: `--help` must answer at once."""

import json
import os
import shlex
import sys
from typing import NoReturn

import click

MISUSE = 2


def main() -> None:
    """The entry point: what goes wrong is one line on stderr, and never the status of a fail."""
    try:
        sys.exit(commands.main(prog_name="dpassay", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(MISUSE)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted before anything was asked")
    except BrokenPipeError:
        # the reader of stdout is gone, and flushing at exit would fail once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(MISUSE)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpassay")
def commands() -> None:
    """Assay differentially private aggregators: what they draw, spend and leak."""


@commands.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", metavar="FILE", help="The deployment's claim, TOML.")
@click.option("--max-queries", type=click.IntRange(min=1), help="Query budget, over the claim's.")
@click.option("--seed", type=click.IntRange(min=0), help="Fixes the histograms that are asked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def verify(
    target: str | None,
    claim_file: str | None,
    max_queries: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Check that TARGET does what its claim says; exit 0 pass, 1 fail, 2 error, 3 inconclusive.

    TARGET is package.module:attr or path/to/file.py:attr, a callable (histogram, size) -> labels
    or an object with such a method sample. Without one, the reference aggregator is verified.
    """
    from .claim import ClaimError, read_claim
    from .embedded import embedded_claim, embedded_histograms, reference_target
    from .gate import verify as run
    from .targets import Target, TargetError, open_target
    from .terminal import print_report, progress_bar

    if target is not None and claim_file is None:
        fail(f"TARGET {target} needs --claim FILE: what should it be held to?")
    try:
        claim = embedded_claim() if claim_file is None else read_claim(claim_file)
    except ClaimError as error:
        fail(str(error))
    if max_queries is not None:
        claim = claim.with_max_queries(max_queries)
    words = ["dpassay", "verify", *([target] if target else [])]
    words += ["--claim", claim_file] if claim_file else []
    words += ["--max-queries", str(max_queries)] if max_queries is not None else []
    own = embedded_histograms() if claim_file is None else []
    try:
        deployment: Target = (
            reference_target(claim) if target is None else open_target(target, claim.gate.timeout)
        )
    except TargetError as error:
        fail(str(error))
    try:
        with progress_bar() as listener:
            report = run(
                deployment,
                claim,
                seed=seed,
                own=own,
                listener=listener,
                reproduce=shlex.join(words),
            )
    finally:
        deployment.close()
    if as_json:
        print(json.dumps(report.as_json()))
    else:
        print_report(report)
    sys.exit(report.verdict.exit_status)


@commands.command()
@click.argument("histogram")
@click.option("--noise", required=True, metavar="SPEC", help="Such as gaussian:40.")
@click.option("--digits", type=click.IntRange(1, 1000), help="Correct digits; 12 when not given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def probabilities(histogram: str, noise: str, digits: int | None, as_json: bool) -> None:
    """Print the probability of each label for HISTOGRAM, such as 12,7,6,30.

    Without --digits they are computed in float64; with it, in mpmath, each digit correct.
    """
    from .exact import decimal_probabilities

    try:
        shown, logs = decimal_probabilities(histogram, noise, digits)
    except ValueError as error:
        fail(str(error))
    if as_json:
        print(json.dumps({"probabilities": shown, "log": logs}))
        return
    for label, text in enumerate(shown):
        print(f"{label}  {text}")


def fail(message: str) -> NoReturn:
    """One line on stderr, and the status of misuse."""
    click.echo(f"dpassay: {message}", err=True)
    sys.exit(MISUSE)


if __name__ == "__main__":
    main()
