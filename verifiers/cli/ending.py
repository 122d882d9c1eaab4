"""How commands end: stdout as text or JSON, then the status of the verdict."""

import json
import sys
from typing import Any, NoReturn

import click

from .exit_statuses import on_stdout

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout."
)


def print_found(found: Any, as_json: bool) -> None:
    """Prints what a command has found, a document that has `as_text`, on stdout."""
    with on_stdout():
        print(json.dumps(found.public()) if as_json else found.as_text())


def print_and_exit(found: Any, as_json: bool) -> NoReturn:
    """Prints what a command has found, and ends it with the status of its verdict."""
    print_found(found, as_json)
    sys.exit(found.verdict.exit_status)
