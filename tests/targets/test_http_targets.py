"""HTTP targets: routes, and what each status, each broken reply and each URL becomes."""

import pytest
from claims import gnmax
from http_server import replying
from one_call import CALL, HISTOGRAM, ask

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import (
    NotOffered,
    Refused,
    TargetError,
    checked_charge,
    checked_spent,
    open_target,
    shown_spec,
)

CHARGE = r"rdp\(\[30, 15, 5\], orders\)"


@pytest.mark.parametrize("prefix", ["", "/", "/models/a", "/models/a/"])
def test_the_routes_are_those_of_the_contract(prefix, served, opened) -> None:
    server = served(replying({"labels": [0, 1, 2, 0, 0], "rdp": [0.1, 0.2], "spent": 0.5}))
    target = opened(server.url + prefix)
    assert ask(target).tolist() == [0, 1, 2, 0, 0]
    charge = checked_charge(target.rdp(HISTOGRAM, [2.0, 4.0]), HISTOGRAM, [2.0, 4.0])
    assert charge.pairs == [(2.0, 0.1), (4.0, 0.2)]
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
        (
            "aggregate",
            404,
            TargetError,
            f"{CALL} got HTTP status 404 from POST http://127[^ ]*/aggregate: .*no such total",
        ),
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
def test_what_a_status_means(call, status, kind, words, served, opened) -> None:
    """A redirect is not followed: the server would have seen two requests."""
    server = served(replying({"error": "no such total\nof votes"}, status, Location="/other"))
    with pytest.raises(kind, match=words) as raised:
        CALLS[call](opened(server.url))
    refused = kind is Refused and call == "aggregate"  # for its size, perhaps: smaller ones follow
    assert len(server.asked) == (3 if refused else 1)
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
def test_broken_replies_are_one_line(body, words, served, opened) -> None:
    with pytest.raises(TargetError, match=f"{CALL} .*{words}") as raised:
        ask(opened(served(replying(body)).url))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


def test_an_error_page_is_shown_as_its_words(served, opened) -> None:
    """A framework's page of markup would be a line of tags."""
    page = b"<!doctype html>\n<title>500</title>\n<h1>Internal  Server Error</h1>"
    server = served(replying(page, 500))
    with pytest.raises(TargetError, match=r" 500: 500 Internal Server Error$"):
        ask(opened(server.url))


@pytest.mark.parametrize(
    "url",
    ["http://", "http:///path", "http://a:b", "http://[::1", "http://h:1?key=x", "http://h:1/#a"],
)
def test_urls_that_name_no_server_are_one_line(url) -> None:
    with pytest.raises(TargetError, match=r"expected http://host:port") as raised:
        open_target(url, 1.0)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_ports_that_cannot_be_are_one_line(port) -> None:
    """Left to the operating system, they end in a traceback at the first call."""
    with pytest.raises(TargetError, match=f"port {port}: expected 1 to 65535$"):
        open_target(f"http://h:{port}", 1.0)


def test_credentials_are_sent_but_never_shown(served, opened) -> None:
    server = served(replying(b"who are you?", status=401))
    url = server.url.replace("http://", "http://user:s3cr3t@")
    assert shown_spec("exec:curl //a@b?c") == "exec:curl //a@b?c"  # a command is no URL
    with pytest.raises(TargetError, match=r" 401: who are you\?; \[http\] headers") as raised:
        ask(opened(url))
    lost = served(replying(b"nothing here", status=404)).url.replace("//", "//user:s3cr3t@")
    with pytest.raises(TargetError, match=r"404 from POST http://\*\*\*@127[^ ]*/aggregate:"):
        ask(opened(lost))
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


def test_a_report_shows_no_credentials_of_the_budget_target() -> None:
    mechanism = gnmax(10, 3, 50)
    gate = {"budget_target": "https://user:s3cr3t@host:1/x"}
    claim = parse_claim({"mechanism": mechanism, "gate": gate})
    assert claim.gate.budget_target == gate["budget_target"]
    assert claim.model_dump(mode="json")["gate"]["budget_target"] == "https://***@host:1/x"
