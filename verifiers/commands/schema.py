"""`dpassay schema`: what is published of the form of what people write, and of `--json`."""

from importlib.resources import files

import click

from ..cli.exit_statuses import fail, on_stdout
from ..text import did_you_mean


@click.command()
@click.argument("name")
def schema(*, name: str) -> None:
    """Print the JSON Schema of a claim, a configuration, or a document that --json prints.

    NAME is claim, configuration (of dpassay.toml), or that of a document: report, plan, account,
    and others by the names of their commands.
    """
    from .. import schemas
    from ..targets.replies import shown_repr

    if name not in schemas.NAMES:
        near = did_you_mean(name, schemas.NAMES)
        allowed = f"expected one of {', '.join(schemas.NAMES)}"
        fail(f"{shown_repr(name)} has no schema{near}: {allowed}", code="value-not-allowed")
    published = files(schemas).joinpath(f"{name}.json").read_text("utf-8")
    with on_stdout():
        click.echo(published, nl=False)
