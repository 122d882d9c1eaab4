"""The page in a real browser: a headless Chromium, driven by its DevTools protocol over a pipe."""

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from datetime import datetime

import pytest

from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.reporting.overview import OverviewRow, write_overview
from dpassay.verifiers.reporting.page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page; `complaints` holds what its console said since it was opened."""

    def __init__(self, read, write):
        self._read, self._write, self._buffer, self._number = read, write, b"", 0
        self.events, self.session = [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.session = session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._next()
            if reply.get("id") == self._number:
                assert "error" not in reply, reply["error"]
                return reply["result"]
            self.events.append(reply)

    def _next(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 16)
            assert chunk, "chromium ended"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1000, height=800, scheme="light"):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    @property
    def complaints(self):
        self.value("1")  # whatever was said before this reply has arrived with it
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in said]

    @property
    def requested(self):
        """Addresses of all that the page loaded."""
        sent = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")


@contextmanager
def browser():
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    # chromium reads from 3 and writes to 4; bash puts them there
    wired = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                "bash",
                "-c",
                wired,
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(from_read, to_write)
        finally:
            process.terminate()
            process.wait(30)
            os.close(from_read)
            os.close(to_write)


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

# every element that holds text itself, with the contrast of its colour to what is behind it
LEAST_CONTRAST = """(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const contrasts = [...document.body.querySelectorAll("*")]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .filter(e => !["title", "desc", "STYLE"].includes(e.tagName))
    .map(e => {
      const style = getComputedStyle(e);
      const front = light(numbers(e.namespaceURI.endsWith("svg") ? style.fill : style.color));
      const back = light(behind(e));
      return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    });
  return {least: Math.min(...contrasts), texts: contrasts.length};
})()"""

UNREACHABLE = """[...document.querySelectorAll("*")].filter(e =>
  e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "auto" &&
  e.tabIndex < 0).length"""

BROKEN_LINKS = """[...document.querySelectorAll("a")].filter(a =>
  !document.getElementById(decodeURIComponent(a.hash.slice(1)))).length"""

# words of tables that stand in two lines
BROKEN_WORDS = """(() => {
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    for (const word of texts.currentNode.data.matchAll(/[A-Za-z]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  }
  return broken;
})()"""

# texts of one chart that overlap, or stick out of it
COLLISIONS = """[...document.querySelectorAll("svg")].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll("text")].map(t => [t.textContent,
    t.getBoundingClientRect()]);
  const out = boxes.filter(([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1 ||
    b.top < frame.top - 1 || b.bottom > frame.bottom + 1);
  const pairs = boxes.flatMap(([s, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
    .map(([t]) => [s, t]));
  return [...out.map(([t]) => t), ...pairs];
})"""


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(reports, number_reports, tmp_path_factory):
    """A page for each kind of report, one whose texts are hostile, one of a thousand classes."""
    where, made = tmp_path_factory.mktemp("pages"), {}
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>" + "w" * 500
    fail, check = reports["fail"], reports["fail"].checks[1]
    said = check.model_copy(update={"message": hostile, "diagnosis": hostile})
    notes = (Note("interrupted", hostile),)
    wild = fail.model_copy(update={"checks": (said,), "notes": notes})
    few = check.figures.histograms[0]
    labels = tuple(label.model_copy(update={"label": 996 + label.label}) for label in few.labels)
    asked = few.model_copy(update={"outcomes": 1000, "histogram": (9,) * 1000, "labels": labels})
    drawn = check.figures.model_copy(update={"histograms": (asked,)})
    many = fail.model_copy(update={"checks": (check.model_copy(update={"figures": drawn}),)})
    for kind, report in {**reports, **number_reports, "hostile": wild, "many": many}.items():
        made[kind] = where / f"{kind}.html"
        target = hostile if kind == "hostile" else "a.py:b"
        made[kind].write_text(page(report, target, datetime(2026, 3, 4)), "utf-8")
    return made


KINDS = ["pass", "fail", "far", "error", "refusing", "costly", "hostile", "many"]
KINDS += ["numbers", "clamped", "half", "bare", "keys", "every"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_renders_alone_and_without_complaint(chromium, pages, kind) -> None:
    """Catches scripts, images and fonts: the policy would have the console complain."""
    chromium.open(pages[kind])
    assert chromium.complaints == []
    assert chromium.requested == [pages[kind].as_uri()]
    assert chromium.value("document.querySelector('h1').getBoundingClientRect().height") > 20
    assert chromium.value(BROKEN_LINKS) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [320, 400, 1000])
def test_no_width_needs_scrolling_sideways(chromium, pages, kind, width) -> None:
    """What is wider than a phone scrolls by itself, and by keyboard too."""
    chromium.open(pages[kind], width=width)
    assert chromium.value("document.documentElement.scrollWidth") <= width
    assert chromium.value(UNREACHABLE) == 0
    assert chromium.value(COLLISIONS) == []


@pytest.mark.parametrize("kind", ["fail", "bare"])
def test_what_is_unfolded_needs_no_scrolling_sideways(chromium, pages, kind) -> None:
    """Catches a table that makes the page wider, or cuts its words to fit."""
    chromium.open(pages[kind], width=320)
    chromium.value("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    assert chromium.value("document.documentElement.scrollWidth") <= 320
    assert chromium.value(UNREACHABLE) == 0
    assert chromium.value(BROKEN_WORDS) == []


def test_the_page_over_reports_breaks_no_words_on_a_phone(chromium, reports, tmp_path) -> None:
    """Catches columns of which words are cut to fit, as a narrow one of sentences."""
    sentence = codes()["scale-too-small"].sentence
    rows = [
        OverviewRow(kind, reports[kind].verdict, reports[kind], kind, [sentence], ["order"], ())
        for kind in ("pass", "fail")
    ]
    assert write_overview(tmp_path, rows, "dpassay.toml", datetime(2026, 3, 4)) is None
    chromium.open(tmp_path / "index.html", width=320)
    assert chromium.value(BROKEN_WORDS) == []
    assert chromium.value("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "costly", "half", "every"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(chromium, pages, kind, scheme) -> None:
    """WCAG 2.2, 1.4.3 (AA): a contrast of 4.5 to 1, in both colour schemes."""
    chromium.open(pages[kind], scheme=scheme)
    found = chromium.value(LEAST_CONTRAST)
    assert found["texts"] > 50
    assert found["least"] >= 4.5
    background = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_paper_is_white_whatever_the_scheme(chromium, pages) -> None:
    """Catches dark colours on paper, where backgrounds are not printed and pale text vanishes."""
    chromium.open(pages["fail"], scheme="dark")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    chromium.call("Emulation.setEmulatedMedia", media="print", features=dark)
    background = chromium.value("getComputedStyle(document.body).backgroundColor")
    least = chromium.value(LEAST_CONTRAST)["least"]
    chromium.call("Emulation.setEmulatedMedia", media="", features=[])
    assert background == "rgb(255, 255, 255)"
    assert least >= 4.5


def test_the_first_key_offers_to_skip_to_the_checks(chromium, pages) -> None:
    chromium.open(pages["fail"])
    for kind in ("keyDown", "keyUp"):
        chromium.call(
            "Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9
        )
    assert chromium.value("document.activeElement.className") == "skip"
    assert chromium.value("document.activeElement.getBoundingClientRect().left") > 0


def test_these_tests_see_what_they_look_for(chromium, tmp_path) -> None:
    """A page with every fault: a script, a picture, pale text, width, a broken link."""
    wrong = tmp_path / "wrong.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    chart = (
        '<svg viewBox="0 0 9 9"><text x="-50" y="5">out</text><text x="-49" y="5">on</text></svg>'
    )
    wrong.write_text(
        f"{policy}<script>1</script><img src=http://127.0.0.1:9/x><p><font color=#999>pale</font>"
        f'<a href="#none">x</a><pre>{"w" * 500}</pre><div tabindex=-1>{chart}</div>'
    )
    chromium.open(wrong, width=400)
    assert len(chromium.complaints) >= 2
    assert chromium.value("document.documentElement.scrollWidth") > 400
    assert chromium.value(BROKEN_LINKS) == 1
    assert len(chromium.value(COLLISIONS)) >= 2
    assert chromium.value(LEAST_CONTRAST)["least"] < 4.5
