"""The command line. Heavy imports happen inside the commands: `--help` must answer at once."""

import click

from ..commands.exit_statuses import run_commands
from .account import account
from .audit import audit
from .chain import chain
from .exposure import exposure
from .instahide import instahide
from .monitor import monitor
from .plan import plan
from .play import play
from .probabilities import probabilities
from .reconstruct import reconstruct
from .replay import replay
from .serve import serve
from .verify import verify

__all__ = ["commands", "main"]


@click.group(
    commands=[
        *(verify, plan, probabilities, reconstruct, account),
        *(audit, replay, chain, exposure, instahide, play, monitor, serve),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="dpassay")
def commands() -> None:
    """Assay differentially private aggregators: what they draw, spend and leak."""


def main() -> None:
    """The entry point."""
    run_commands(commands)
