"""The command line: the group of commands, and what they share.

`--version` and `--help` load no command: each is in the module of its name in `commands`.
"""

from importlib import import_module

import click

from .exit_statuses import run_commands

__all__ = ["COMMANDS", "command", "commands", "main"]

COMMANDS = {
    "account": "Print the privacy cost of asking each row of HISTOGRAMS, one histogram per row.",
    "audit": "Bound from below what labels, or noisy gradients, give away of one record.",
    "chain": "From private records to what an attacker says of people, measured at every step.",
    "compare": "Lay reports A and B of `dpassay verify` side by side; exit 1 where something "
    "became worse.",
    "explain": "Say what CODE of a report means, and of some how they are mended.",
    "exposure": "Tell how far training has exposed canaries, by SCORER.",
    "hook": "Check FILES as the hooks of pre-commit do: claims, or Python targets by replay.",
    "init": "Begin a claim for TARGET: what it shows is written, all else is left to be filled in.",
    "instahide": "Read private images back from InstaHide's encodings, which "
    "hide them without noise.",
    "monitor": "Follow a LOG of releases for as long as it grows; "
    "exit 0 no alarm, 1 an alarm, 2 misuse.",
    "plan": "Say what a run would ask, see and cost.",
    "play": "Play the inference game on gradients of MODEL, a callable "
    "(records, labels) -> gradients.",
    "probabilities": "Print the probability of each label for HISTOGRAM, such as 12,7,6,30.",
    "reconstruct": "Read the vote histogram behind the LABELS released for one query.",
    "replay": "Run a Python TARGET on two neighbours with the same noise, and compare.",
    "schema": "Print the JSON Schema of a claim, a configuration, or a document that --json "
    "prints.",
    "serve": "Serve the reference of a claim on 127.0.0.1 as an HTTP target, until Ctrl-C.",
    "verify": "Check that TARGET does what its claim says; "
    "exit 0 pass, 1 fail, 2 error, 3 inconclusive.",
}
"""The first sentence of each command's help."""


class _LateCommands(click.Group):
    """Commands that are listed by the table, and loaded once they are typed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click.Group."""
        name, listed, others = super().resolve_command(ctx, args)
        return name, None if listed is None else command(str(name)), others


def command(name: str) -> click.Command:
    """The command of a name."""
    found: click.Command = getattr(import_module(f"..commands.{name}", __package__), name)
    return found


@click.group(
    cls=_LateCommands,
    commands=[click.Command(name, help=line) for name, line in COMMANDS.items()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="dpassay")
def commands() -> None:
    """Assay differentially private aggregators: what they draw, spend and leak."""


def main() -> None:
    """The entry point."""
    run_commands(commands)
