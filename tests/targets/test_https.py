"""HTTPS: whose certificates are believed, certificates of the client, and failed handshakes."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from claims import gnmax, in_toml
from http_server import Server, replying
from one_call import ask

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.kinds.reading import parse_claim, read_claim
from dpassay.verifiers.targets import TargetError

pytest.importorskip("cryptography", reason="certificates of tests are made with cryptography")
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
LABELS = replying({"labels": [0, 1, 2, 0, 0]})


class Authority:
    """Issues certificates, each a file with its key in it; its own stands in `ca`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.ca = self.issued("authority", ca=True)

    def issued(self, name: str, host: str = "127.0.0.1", days: int = 1, *, ca: bool = False) -> str:
        """The file of a certificate, for `host`, that is valid from a while before until `days`."""
        key = self.key if ca else ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])
        own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        # since Python 3.13 a client wants to be told whose key it is, and what it is for
        of, by = x509.SubjectKeyIdentifier, x509.AuthorityKeyIdentifier
        uses = x509.KeyUsage(not ca, *4 * (False,), ca, ca, *2 * (False,))
        made = (
            x509.CertificateBuilder()
            .subject_name(own)
            .issuer_name(authority)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=9))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca, None), critical=True)
            .add_extension(uses, critical=True)
            .add_extension(of.from_public_key(key.public_key()), critical=False)
            .add_extension(by.from_issuer_public_key(self.key.public_key()), critical=False)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False
            )
            .sign(self.key, hashes.SHA256())
        )
        text = made.public_bytes(PEM)
        if not ca:
            text += key.private_bytes(PEM, PKCS8, serialization.NoEncryption())
        path = self.folder / f"{name}.pem"
        path.write_bytes(text)
        return str(path)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return Authority(tmp_path)


def context(certificate: str, clients: str | None = None) -> ssl.SSLContext:
    """Of a server; clients: the authority of the certificates that it asks for."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate)
    if clients is not None:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(clients)
    return made


def asked(server: Server, **http: Any) -> Any:
    """Labels of a server under such `[http]`."""
    target = open_claimed(server.url, parse_claim({"mechanism": gnmax(40, 3, 50), "http": http}))
    try:
        return ask(target).tolist()
    finally:
        target.close()


def error(server: Server, **http: Any) -> str:
    """The line that such a call ends in."""
    with pytest.raises(TargetError) as raised:
        asked(server, **http)
    assert raised.value.code == "handshake-failed", raised.value
    assert "\n" not in str(raised.value)
    assert f"no TLS handshake with 127.0.0.1:{server.port}" in str(raised.value)
    return str(raised.value)


@pytest.mark.slow("over half a second")
def test_the_store_is_that_of_the_system(served, authority, monkeypatch) -> None:
    """Catches a list of one's own: certifi's, say, which lacks what the machine trusts."""
    monkeypatch.setattr(httpx, "create_ssl_context", None)
    stores = []
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda _, purpose: stores.append(purpose)
    )
    server = served(LABELS, context=context(authority.issued("server")))
    error(server)
    assert stores == [ssl.Purpose.SERVER_AUTH]


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_the_environment_names_another_store(variable, served, authority, monkeypatch) -> None:
    server = served(LABELS, context=context(authority.issued("server")))
    place = Path(authority.ca)
    if variable == "SSL_CERT_DIR":  # by the hash of the name, as c_rehash does
        name = x509.load_pem_x509_certificate(place.read_bytes()).subject
        place = authority.folder / "store"
        place.mkdir()
        (place / f"{subject_hash(name)}.0").write_bytes(Path(authority.ca).read_bytes())
    monkeypatch.setenv(variable, str(place))
    assert asked(server) == [0, 1, 2, 0, 0]


def subject_hash(name: x509.Name) -> str:
    """OpenSSL's hash of a name of one common name, in lower case, as X509_NAME_hash has it."""
    import hashlib

    text = name.rfc4514_string().removeprefix("CN=").encode()
    value = b"\x06\x03\x55\x04\x03\x0c" + bytes([len(text)]) + text
    canonical = b"\x31" + bytes([len(value) + 2]) + b"\x30" + bytes([len(value)]) + value
    digest = hashlib.sha1(canonical, usedforsecurity=False).digest()
    return f"{int.from_bytes(digest[:4], 'little'):08x}"


@pytest.mark.slow("over half a second")
def test_an_authority_of_the_claim_is_believed_beside_it(served, authority) -> None:
    server = served(LABELS, context=context(authority.issued("server")))
    assert "an authority that the system's store lacks is ca in [http]" in error(server)
    assert server.asked == []
    assert asked(server, ca=authority.ca) == [0, 1, 2, 0, 0]


def test_files_lie_beside_the_claim(served, authority, tmp_path) -> None:
    text = in_toml(mechanism=gnmax(40, 3, 50), http={"ca": "authority.pem"})
    (tmp_path / "claim.toml").write_text(text)
    server = served(LABELS, context=context(authority.issued("server")))
    target = open_claimed(server.url, read_claim(tmp_path / "claim.toml"))
    assert ask(target).tolist() == [0, 1, 2, 0, 0]
    target.close()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_may_ask_for_a_certificate(newest, served, authority) -> None:
    """Under TLS 1.3 the refusal comes after the handshake, in place of an answer."""
    own = context(authority.issued("server"), authority.ca)
    own.maximum_version = newest
    server, client = served(LABELS, context=own), authority.issued("client")
    assert "is certificate, with key, in [http]" in error(server, ca=authority.ca)
    assert asked(server, ca=authority.ca, certificate=client) == [0, 1, 2, 0, 0]
    assert asked(server, ca=authority.ca, certificate=client, key=client) == [0, 1, 2, 0, 0]


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("host", "days", "words"),
    [
        ("127.0.0.2", 1, "ask the server by an address that its certificate has"),
        ("127.0.0.1", -1, "the server needs a new certificate"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_told(host, days, words, served, authority) -> None:
    server = served(LABELS, context=context(authority.issued("server", host, days)))
    assert words in error(server, ca=authority.ca)


@pytest.mark.slow("over half a second")
def test_plain_http_behind_https_is_told(served, authority) -> None:
    server = served(LABELS)
    server.url = server.url.replace("http://", "https://")
    assert "does the server speak plain HTTP" in error(server)


def test_files_that_hold_none_are_one_line(authority, tmp_path) -> None:
    """A key under a password would stop the run to ask for it at the terminal."""
    key = ec.generate_private_key(ec.SECP256R1())
    locked = serialization.BestAvailableEncryption(b"word")
    (tmp_path / "locked.pem").write_bytes(key.private_bytes(PEM, PKCS8, locked))
    (tmp_path / "text").write_text("no certificate")
    client = authority.issued("client")
    for http, words in (
        ({"ca": "nowhere.pem"}, "http.ca = nowhere.pem: No such file or directory"),
        ({"ca": str(tmp_path / "text")}, "text: expected certificates, in PEM"),
        ({"certificate": authority.ca}, "no password protects, in PEM"),
        ({"certificate": client, "key": str(tmp_path / "locked.pem")}, "no password protects"),
    ):
        claim = parse_claim({"mechanism": gnmax(40, 3, 50), "http": http})
        with pytest.raises(TargetError, match=words) as raised:
            open_claimed("https://127.0.0.1:1", claim)
        assert raised.value.code == "target-option-wrong"
        assert "\n" not in str(raised.value)


def test_a_key_goes_with_a_certificate() -> None:
    with pytest.raises(ClaimError, match=r"claim: http: key: it goes with certificate"):
        parse_claim({"mechanism": gnmax(), "http": {"key": "key.pem"}})
