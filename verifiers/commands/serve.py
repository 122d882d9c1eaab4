"""The command `dpassay serve`: the reference aggregator on a local port."""

import contextlib
import errno
import socket
import sys

from ..claims.claim import ClaimError
from ..kinds.labels.embedded import embedded_claim
from ..kinds.reading import read_claim

_HOST = "127.0.0.1"  # it has no authentication, so it is not for a network
_GRACE = 2  # seconds for requests in flight at shutdown


class ServingError(Exception):
    """Why nothing can be served; mistakes: one line each, for a claim all of them."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__(mistakes[0])
        self.mistakes = mistakes


def serve_reference(claim_file: str | None, port: int) -> None:
    """Serves the mechanism of the claim, or of the embedded one, until Ctrl-C.

    port: 0 for a free one; the URL is printed on stderr. Raises ServingError for a claim that
    cannot be read or served, or a port that cannot be used.
    """
    try:
        claim = embedded_claim() if claim_file is None else read_claim(claim_file)
        served = claim.kind.served(claim)
    except ClaimError as error:
        raise ServingError(*error.mistakes) from None
    except ValueError as error:
        raise ServingError(f"{claim_file}: {error}") from None
    from .connections import QuietServer, settings
    from .service import application

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
        raise ServingError(
            f"port {port} cannot be used: {taken}; --port 0 takes a free one"
        ) from None
    return listener
