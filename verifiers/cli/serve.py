"""`dpassay serve`."""

import click

from ..commands.exit_statuses import fail, lines_of, need
from ..commands.options import Whole


@click.command()
@click.option("--claim", "claim_file", metavar="FILE", help="What to serve, TOML.")
@click.option("--port", type=Whole(0, 65535), default=8000, help="0 takes a free one.")
def serve(claim_file: str | None, port: int) -> None:
    """Serve the reference of a claim on 127.0.0.1 as an HTTP target, until Ctrl-C.

    A claim with [privacy] is enforced: 429 once its epsilon is spent, or so many numbers or keys as
    its queries were released. Restarting forgets it.
    """
    need("serve", "starlette", "uvicorn")
    from ..commands.serve import ServingError, serve_reference

    try:
        serve_reference(claim_file, port)
    except ServingError as error:
        fail(*lines_of(error))
