"""`dpassay serve`: the reference aggregator on a local port.

What it serves loads late: it needs packages that may be absent.
"""

import contextlib
import errno
import socket
import sys

import click

from ..cli.exit_statuses import fail, need
from ..cli.options import WholeNumber
from ..inputs.input_error import InputError

_HOST = "127.0.0.1"  # it has no authentication, so it is not for a network
_GRACE = 2  # seconds for requests in flight at shutdown


@click.command()
@click.option("--claim", "claim_file", metavar="FILE", help="What to serve, TOML.")
@click.option("--port", type=WholeNumber(0, 65535), default=8000, help="0 takes a free one.")
def serve(claim_file: str | None, port: int) -> None:
    """Serve the reference of a claim on 127.0.0.1 as an HTTP target, until Ctrl-C.

    A claim with [privacy] is enforced: 429 once its epsilon is spent, or so many numbers or keys as
    its queries were released. Restarting forgets it.
    """
    need("serve", "starlette", "uvicorn")
    try:
        serve_reference(claim_file, port)
    except InputError as error:
        fail(error)


def serve_reference(claim_file: str | None, port: int) -> None:
    """Serves the mechanism of the claim, or of the embedded one, until Ctrl-C.

    port: 0 for a free one; the URL is printed on stderr. Raises InputError for a claim that
    cannot be read or served, or a port that cannot be used.
    """
    from ..claims.claim import ClaimError
    from ..kinds.labels.embedded import embedded_claim
    from ..kinds.reading import read_claim
    from .service import QuietServer, application, settings

    try:
        claim = embedded_claim() if claim_file is None else read_claim(claim_file)
        served = claim.kind.served(claim)
    except ClaimError:
        raise
    except ValueError as error:
        raise InputError(f"{claim_file}: {error}") from None

    with _listening(port) as listener:
        port = listener.getsockname()[1]
        url = f"http://{_HOST}:{port}"
        what = claim.summary
        print(f"dpassay: serving {what} on {url}", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):  # raised anew once the server has ended
            QuietServer(settings(application(served), port, _GRACE)).run([listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        taken = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        wrong = f"port {port} cannot be used: {taken}; --port 0 takes a free one"
        raise InputError(wrong, code="value-not-allowed") from None
    return listener
