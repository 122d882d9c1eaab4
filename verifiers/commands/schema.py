"""`dpassay schema`: what is published of the form of claims, and of what `--json` prints."""

import difflib
from importlib.resources import files

import click

from ..cli.exit_statuses import fail, on_stdout


@click.command()
@click.argument("name")
def schema(*, name: str) -> None:
    """Print the JSON Schema of claims (NAME is claim), or of a document that --json prints.

    Documents are report, plan, account, and others by the names of their commands.
    """
    from .. import schemas
    from ..targets.replies import shown_repr

    if name not in schemas.NAMES:
        near = difflib.get_close_matches(name, schemas.NAMES, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        allowed = f"expected one of {', '.join(schemas.NAMES)}"
        fail(f"{shown_repr(name)} has no schema{meant}: {allowed}", code="value-not-allowed")
    published = files(schemas).joinpath(f"{name}.json").read_text("utf-8")
    with on_stdout():
        click.echo(published, nl=False)
