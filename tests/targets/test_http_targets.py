"""HTTP targets against real servers on the loopback: what each status and each fault becomes."""

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.targets import (
    NotOffered,
    Refused,
    TargetError,
    checked_charge,
    checked_labels,
    checked_spent,
    http,
    open_target,
    shown_spec,
)

HISTOGRAM = np.array([30, 15, 5])
CALL = r"aggregate\(\[30, 15, 5\], size=5\)"
CHARGE = r"rdp\(\[30, 15, 5\], orders\)"


class Server:
    """Answers every request by `handle(handler)`, and keeps what was asked."""

    def __init__(self, handle, port=0):
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                content = json.loads(body) if body else None
                server.asked.append((self.command, self.path, content, self.headers))
                with contextlib.suppress(ConnectionError):
                    handle(self)

            do_GET = do_POST  # noqa: N815 - the name that http.server calls

            def log_message(self, *_):
                pass

        self.ended = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads, self.server.block_on_close = True, True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def served():
    servers = []

    def start(handle, port=0):
        servers.append(Server(handle, port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def opened():
    targets = []

    def start(url, timeout=20.0, restart=None):
        targets.append(open_target(url, timeout, restart))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


def replying(body, status=200, **headers):
    """A handler that sends `body`: bytes, or what JSON makes of it."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()

    def handle(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    return handle


def ask(target):
    return checked_labels(target.ask(HISTOGRAM, 5), HISTOGRAM, 5, may_refuse=False)


@pytest.mark.parametrize("prefix", ["", "/", "/models/a", "/models/a/"])
def test_the_routes_are_those_of_the_contract(prefix, served, opened):
    server = served(replying({"labels": [0, 1, 2, 0, 0], "rdp": [0.1, 0.2], "spent": 0.5}))
    target = opened(server.url + prefix)
    assert ask(target).tolist() == [0, 1, 2, 0, 0]
    charge = checked_charge(target.rdp(HISTOGRAM, [2.0, 4.0]), HISTOGRAM, [2.0, 4.0])
    assert charge.tolist() == [0.1, 0.2]
    assert checked_spent(target.spent(1e-5), 1e-5) == 0.5
    path = prefix.rstrip("/")
    assert [asked[:3] for asked in server.asked] == [
        ("POST", f"{path}/aggregate", {"histogram": [30, 15, 5], "size": 5}),
        ("POST", f"{path}/rdp", {"histogram": [30, 15, 5], "orders": [2.0, 4.0]}),
        ("GET", f"{path}/spent?delta=1e-05", None),
    ]


CALLS = {
    "aggregate": lambda target: target.ask(HISTOGRAM, 5),
    "rdp": lambda target: target.rdp(HISTOGRAM, [2.0]),
    "spent": lambda target: target.spent(1e-5),
}


@pytest.mark.parametrize(
    ("call", "status", "kind", "words"),
    [
        ("aggregate", 422, Refused, "no such total$"),
        ("aggregate", 429, BudgetExhausted, "no such total$"),
        ("aggregate", 404, TargetError, f"{CALL} got HTTP status 404: .*no such total"),
        ("aggregate", 500, TargetError, f"{CALL} got HTTP status 500"),
        ("aggregate", 302, TargetError, f"{CALL} got HTTP status 302"),
        ("rdp", 404, NotOffered, "POST /rdp with HTTP status 404"),
        ("rdp", 405, NotOffered, "POST /rdp with HTTP status 405"),
        ("rdp", 501, NotOffered, "POST /rdp with HTTP status 501"),
        ("rdp", 422, Refused, "no such total$"),
        ("rdp", 503, TargetError, f"{CHARGE} got HTTP status 503"),
        ("spent", 404, NotOffered, "GET /spent with HTTP status 404"),
        ("spent", 422, TargetError, r"spent\(1e-05\) got HTTP status 422"),
        ("spent", 429, BudgetExhausted, "no such total"),
    ],
)
def test_what_a_status_means(call, status, kind, words, served, opened):
    """A redirect is not followed: the server would have seen two requests."""
    server = served(replying({"error": "no such total\nof votes"}, status, Location="/other"))
    with pytest.raises(kind, match=words) as raised:
        CALLS[call](opened(server.url))
    assert len(server.asked) == 1
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>Welcome</html>", "returned '<html>Welcome</html>': expected one JSON object"),
        (b"", "returned '': expected one JSON object"),
        (b"[1, 2]", r"returned '\[1, 2\]': expected one JSON object"),
        (b"\xff\xfe\x00", "expected one JSON object"),
        (b'{"labels": ' + b"[" * 100_000, "expected one JSON object"),
        (b'{"labels": ' + b"[" * 800 + b"]" * 800 + b"}", "expected 5 labels"),
        (b'{"labels": [' + b"9" * 5000 + b"]}", "expected one JSON object"),
        (b'{"answer": [1]}', r"returned '{\"answer\": \[1\]}': expected an object with 'labels'"),
        (b'{"labels": [0, NaN, 0, 0, 0]}', "returned label nan at place 1"),
        (b'{"labels": [0, 0, 0, 0, 3]}', "returned label 3 at place 4: allowed are 0 to 2"),
        (b'{"labels": [0, 0, 0, 0]}', r"an array of shape \(4,\): expected 5 labels"),
    ],
)
def test_broken_replies_are_one_line(body, words, served, opened):
    with pytest.raises(TargetError, match=f"{CALL} .*{words}") as raised:
        ask(opened(served(replying(body)).url))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("where", ["status line", "header", "body"])
def test_a_server_that_drips_does_not_exceed_the_timeout(where, served, opened):
    """Each byte is in time, the call is not: a timeout for every read would see a good reply."""
    reply = b'{"labels": [0, 0, 0, 0, 0]}'
    head = b"HTTP/1.0 200 OK\r\n"
    header = b"X-Padding: " + b"x" * 200 + b"\r\nContent-Length: %d\r\n\r\n" % len(reply)
    quick = {"status line": b"", "header": head, "body": head + header}[where]

    def handle(handler):
        handler.wfile.write(quick)
        for byte in (head + header + reply)[len(quick) :]:
            if server.ended.wait(0.05):
                return
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()

    server = served(handle)
    with pytest.raises(TargetError, match=f"{CALL} gave no answer within 0.3 s"):
        ask(opened(server.url, timeout=0.3))


def test_a_server_that_hangs_is_given_up(served, opened):
    server = served(lambda handler: server.ended.wait(60))
    with pytest.raises(TargetError, match=f"{CALL} gave no answer within 0.3 s"):
        ask(opened(server.url, timeout=0.3))
    assert len(server.asked) <= 1


def test_an_endless_body_is_cut_off_while_it_arrives(served, opened):
    """The server never ends: one who reads the body to its end never learns its length."""

    def handle(handler):
        handler.send_response(200)
        handler.end_headers()
        while not server.ended.is_set():
            handler.wfile.write(b" " * (1 << 20))

    server = served(handle)
    with pytest.raises(TargetError, match=f"{CALL} returned more than 64 MB"):
        ask(opened(server.url))


def test_a_request_that_was_received_is_never_repeated(served, opened):
    """It may have spent budget or drawn noise; here the connection ends without a reply."""
    server = served(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR))
    with pytest.raises(TargetError, match=f"{CALL} failed: "):
        ask(opened(server.url))
    assert len(server.asked) == 1


def test_a_server_that_comes_up_late_is_reached(served, opened, monkeypatch):
    """Refused until a connection was tried once; without a second try it would be an error."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    once, tried = http.HttpTarget._once, []

    async def starting(self, *arguments):
        try:
            return await once(self, *arguments)
        except http.httpx.ConnectError:
            tried.append(1)
            if len(tried) == 1:
                served(replying({"labels": [0] * 5}), port)
            raise

    monkeypatch.setattr(http.HttpTarget, "_once", starting)
    assert ask(opened(f"http://127.0.0.1:{port}")).tolist() == [0] * 5
    assert len(tried) == 1


def test_nobody_there_is_one_line(opened, monkeypatch):
    monkeypatch.setattr(http, "_PAUSES", (0.0, 0.0))
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    with pytest.raises(TargetError, match=f"{CALL} failed: no connection to 127.0.0.1:{port} "):
        ask(opened(f"http://127.0.0.1:{port}"))


def test_an_error_page_is_shown_as_its_words(served, opened):
    """A framework's page of markup would be a line of tags."""
    page = b"<!doctype html>\n<title>500</title>\n<h1>Internal  Server Error</h1>"
    server = served(replying(page, 500))
    with pytest.raises(TargetError, match=r"got HTTP status 500: 500 Internal Server Error$"):
        ask(opened(server.url))


@pytest.mark.parametrize(
    "url",
    ["http://", "http:///path", "http://a:b", "http://[::1", "http://h:1?key=x", "http://h:1/#a"],
)
def test_urls_that_name_no_server_are_one_line(url):
    with pytest.raises(TargetError, match=r"expected http://host:port") as raised:
        open_target(url, 1.0)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_ports_that_cannot_be_are_one_line(port):
    """Left to the operating system, they end in a traceback at the first call."""
    with pytest.raises(TargetError, match=f"port {port}: expected 1 to 65535$"):
        open_target(f"http://h:{port}", 1.0)


def test_proxies_of_the_environment_are_ignored(served, opened, monkeypatch):
    """Through the proxy, nothing would be reached."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(opened(served(replying({"labels": [0] * 5})).url)).size == 5


def test_credentials_are_sent_but_never_shown(served, opened):
    server = served(replying(b"who are you?", status=401))
    url = server.url.replace("http://", "http://user:s3cr3t@")
    assert shown_spec("exec:curl //a@b?c") == "exec:curl //a@b?c"  # a command is no URL
    with pytest.raises(TargetError, match=r"HTTP status 401: who are you\?$") as raised:
        ask(opened(url))
    assert server.asked[0][3]["Authorization"].startswith("Basic ")
    assert "s3cr3t" not in str(raised.value)
    for wrong in (
        "http://user:s3cr3t@:x",
        "http://user:s3/cr3t@h:1",
        "ftp://user:s3cr3t@h",
        "http://h?s3cr3t",
    ):
        with pytest.raises(TargetError) as raised:
            open_target(wrong, 1.0).ask(HISTOGRAM, 1)
        assert "cr3t" not in str(raised.value)
        assert "s3" not in str(raised.value)


def test_a_report_shows_no_credentials_of_the_budget_target():
    mechanism = {"name": "gnmax", "noise": "gaussian:10", "classes": 3, "teachers": 50}
    gate = {"budget_target": "https://user:s3cr3t@host:1/x"}
    claim = parse_claim({"mechanism": mechanism, "gate": gate})
    assert claim.gate.budget_target == gate["budget_target"]
    assert claim.model_dump(mode="json")["gate"]["budget_target"] == "https://***@host:1/x"


def test_calls_work_inside_a_running_loop(served, opened):
    """As in a notebook: a client that runs a loop of its own in the caller's thread cannot."""
    import asyncio

    target = opened(served(replying({"labels": [0] * 5})).url)

    async def caller():
        return ask(target)

    assert asyncio.run(caller()).size == 5


def test_a_server_cannot_be_restarted_without_a_command(served, opened):
    target = opened(served(replying({})).url)
    assert "restart in [gate]" in target.no_restart
    with pytest.raises(NotOffered):
        target.restart()


def test_after_the_command_any_answer_is_waited_for(served, opened, tmp_path):
    """No request that draws noise is made for it; a proxy's 503 is no answer of the server."""
    starting = iter([503, 502, 404])

    def handle(handler):
        replying({}, status=next(starting))(handler)

    server, mark = served(handle), tmp_path / "restarted"
    target = opened(server.url, restart=f"touch {mark}")
    assert target.no_restart is None
    target.restart()
    assert mark.exists()
    assert [asked[:2] for asked in server.asked] == [("GET", "/")] * 3


def test_a_server_that_does_not_come_back_is_one_line(served, opened):
    server = served(replying({}, status=503))
    with pytest.raises(TargetError, match=r"no answer within 0\.5 s .* after restart = 'true' in"):
        opened(server.url, timeout=0.5, restart="true").restart()
