"""HTTPS: whose certificates are believed, what this side shows, and why a handshake failed."""

import ssl
from dataclasses import dataclass
from typing import Literal

from .replies import TargetError, one_line


@dataclass(frozen=True)
class HttpTls:
    """Files of `[http]`, in PEM.

    ca: certificates of authorities that are believed beside the system's; certificate: what this
    side shows; key: of that certificate, whose file may hold it too.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def context(self) -> ssl.SSLContext:
        """Checks servers against the system's store and `ca`. Raises TargetError of one line.

        SSL_CERT_FILE and SSL_CERT_DIR say otherwise where the store lies, as OpenSSL reads them.
        """
        made = ssl.create_default_context()
        if self.ca is not None:
            try:
                made.load_verify_locations(self.ca)
            except (OSError, ValueError) as error:
                raise _unreadable("ca", self.ca, error, "certificates") from None
        if self.certificate is not None:
            try:
                made.load_cert_chain(self.certificate, self.key, password=lambda: "")
            except (OSError, ValueError) as error:
                key = "" if self.key is None else f" with key = {self.key}"
                what = "a certificate and its key, which no password protects"
                path = f"{self.certificate}{key}"
                raise _unreadable("certificate", path, error, what) from None
        return made


SYSTEM_STORE = HttpTls()
"""The certificates that the system believes, and none of one's own."""


def _unreadable(
    key: Literal["ca", "certificate"], path: str, error: Exception, what: str
) -> TargetError:
    why = error.strerror if isinstance(error, OSError) else None
    if isinstance(error, ssl.SSLError) or why is None:
        why = f"expected {what}, in PEM"
    return TargetError(f"http.{key} = {path}: {one_line(why)}", code="target-option-wrong")


def failed_handshake(error: BaseException) -> str | None:
    """Why a handshake failed, and what would help; None for an error of another kind."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, ssl.SSLError):
        found = found.__cause__ or found.__context__
    if found is None:
        return None
    if isinstance(found, ssl.SSLCertVerificationError):
        return f"{one_line(found.verify_message)}: {_HELP.get(found.verify_code, _AUTHORITY)}"
    said = one_line(found.reason or str(found)).lower().replace("_", " ")
    if "certificate" in said or "handshake failure" in said:
        return f"{said}: a certificate that the server asks for is certificate, with key, in [http]"
    if "wrong version" in said or "record layer" in said:
        return f"{said}: does the server speak plain HTTP, http://, on this port?"
    return None if "eof" in said else said


_AUTHORITY = "an authority that the system's store lacks is ca in [http]"
_HELP = {
    9: "is this machine's clock right?",
    10: "the server needs a new certificate, if this machine's clock is right",
    62: "ask the server by a name that its certificate has",
    64: "ask the server by an address that its certificate has",
}
"""What would help, by OpenSSL's number of what is wrong with a certificate."""
