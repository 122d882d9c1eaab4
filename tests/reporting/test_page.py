"""The page of a report: all that is known is on it, and nothing on it runs."""

import re
from collections import ChainMap
from datetime import datetime
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.reporting.charts import BOTTOM, HEIGHT, TOP, Axis, evidence_chart
from dpassay.verifiers.reporting.page import page
from dpassay.verifiers.text import printable

WHEN = datetime(2026, 3, 4, 5, 6)
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Read(HTMLParser):
    """Tags with their attributes, and the text; fails on tags that do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self._open = [], "", []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


NUMBERS = ["numbers", "clamped", "half", "bare", "raising", "keys", "every"]
KINDS = ["pass", "fail", "error", "inconclusive", "interrupted", "refusing", "costly", *NUMBERS]


@pytest.fixture(scope="module")
def all_reports(reports, number_reports):
    return ChainMap(reports, number_reports)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_cases(1)
def test_what_the_report_says_is_on_the_page(all_reports, kind) -> None:
    report = all_reports[kind]
    read = Read(page(report, "a.py:b", WHEN))
    assert read.text.index(report.verdict.value.upper()) < read.text.index("Checks")
    for check in report.checks:
        public = check.public()
        assert printable(check.message) in read.text
        for key in ("diagnosis", "reproduce"):
            assert public[key] is None or printable(public[key]) in read.text
        if check.histogram is not None:
            assert ", ".join(str(votes) for votes in check.histogram) in read.text
    for warning in report.warnings:
        assert printable(warning) in read.text


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_sound_and_can_be_read_aloud(all_reports, kind) -> None:
    """Names for charts, captions and scopes for tables, headings in order, no broken link."""
    read = Read(page(all_reports[kind], "a.py:b", WHEN))
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in read.all("a")]
    assert len(links) == len(all_reports[kind].checks) + 1
    assert {link.removeprefix("#") for link in links} <= set(ids)
    for svg in read.all("svg"):
        assert svg["role"] == "img"
        assert set(svg["aria-labelledby"].split()) <= set(ids)
    assert len(read.all("table")) == len(read.all("caption"))
    assert all("scope" in header for header in read.all("th"))
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for landmark in ("header", "main", "footer"):
        assert len(read.all(landmark)) == 1
    assert dict(read.all("html")[0])["lang"] == "en"


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_on_the_page_comes_from_elsewhere(all_reports, kind) -> None:
    """No script, handler, style attribute or address; and a policy that would stop them."""
    read = Read(page(all_reports[kind], "a.py:b", WHEN))
    tags = {tag for tag, _ in read.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "image", "use"}
    for _, attributes in read.tags:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes)
    policy = next(m["content"] for m in read.all("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "url(" not in page(all_reports[kind], "a.py:b", WHEN)


ROW = re.compile(
    '<tr><th scope="row">[^<]*<br><code>(.*?)</code></th><td>(.*?)</td><td>(.*?)</td>'
    '<td class="number">(.*?)</td><td class="number">(.*?)</td><td>(.*?)</td></tr>'
)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", ["pass", "numbers", "keys", "inconclusive"])
def test_what_passes_exclude_is_on_the_page_as_in_the_json(all_reports, kind) -> None:
    """Folded, in the section of its check: catches an entry left out, and one of another check."""
    report = all_reports[kind]
    sections = page(report, "a.py:b", WHEN).split('<section class="check ')[1:]
    on_page = {re.search('id="check-([a-z-]*)"', one)[1]: ROW.findall(one) for one in sections}
    for check in report.public()["checks"]:
        rows = [[unescape(cell) for cell in row] for row in on_page.get(check["id"], [])]
        assert len(rows) == len(check["excludes"])
        for (code, size, where, queries, sure, method), one in zip(
            rows, check["excludes"], strict=True
        ):
            assert (code, where.split(", ")) == (one["code"], ", ".join(one["where"]).split(", "))
            assert (int(queries.replace(",", "")), method) == (one["queries"], one["method"])
            assert all(name.replace("_", " ") in size for name in one["size"])
            base, _, left = sure.partition(" - ")
            missed = float(left or 1 - float(base))
            assert missed == pytest.approx(1 - one["probability"], rel=0.1)


@pytest.mark.parametrize("kind", ["pass", "fail", "inconclusive", "numbers", "keys"])
def test_what_was_not_looked_at_is_on_the_page_as_in_the_json(all_reports, kind) -> None:
    """By check and reason, in a fold: catches a group that is lost, and a fault in another's."""
    report = all_reports[kind]
    _, _, section = page(report, "a.py:b", WHEN).partition('<section aria-labelledby="unseen">')
    folded = section[section.index("<details>") : section.index("</details>")]
    on_page = []
    for row in folded.split("<tr>")[2:]:
        check, why = re.search('row">(.*?)</th><td>(.*?)</td>', row).groups()
        on_page += [(code, check, unescape(why)) for code in re.findall("<code>(.*?)</code>", row)]
    in_json = report.public()["not_looked_at"]
    said = [(one["code"], one["check"], printable(one["why"]["message"])) for one in in_json]
    assert sorted(on_page) == sorted(said) != []


@pytest.mark.parametrize("kind", ["tallies", "tables"])
def test_an_axis_names_what_it_counts(all_reports, kind) -> None:
    """A release has several numbers, each of which a check sees: 16,336 in a run of 3,012."""
    report = all_reports["numbers"].model_copy(update={"kind": kind})
    text = Read(page(report, "a.py:b", WHEN)).text
    assert "numbers seen by this check" in text
    assert not re.search(rf"{kind} seen|has seen are {kind}", text)


def test_the_likely_cause_stands_under_the_headline(reports) -> None:
    """Of the check that found it; catches one that refers to another check, and none at all."""
    report = reports["fail"]
    causes = [f"half of the noise (see {report.checks[2].id})", "half of the noise: double it"]
    failed = [
        check.model_copy(update={"verdict": Verdict.FAIL, "diagnosis": cause})
        for check, cause in zip(report.checks[1:3], causes, strict=True)
    ]
    text = page(report.model_copy(update={"checks": tuple(failed)}), "a.py:b", WHEN)
    assert causes[1] in text[: text.index("<dl>")]
    assert "Likely cause" not in page(reports["pass"], "a.py:b", WHEN)


def test_checks_that_another_failure_ended_are_one_folded_line(reports) -> None:
    """Catches a card that is lost, and one of a check that has something to say."""
    report = reports["fail"]
    text = page(report, "a.py:b", WHEN)
    ended = [check.id for check in report.checks if check.cut_short]
    (folded,) = re.findall("<summary>[^<]* not finished: .*?\n</details>\n</section>", text, re.S)
    assert sorted(re.findall('<h3 id="check-(.*?)"', folded)) == sorted(ended) != []


def test_long_tables_are_folded(number_reports) -> None:
    """Of more than 20 rows, but for the one of all checks; catches a fold of a short one too."""
    text = page(number_reports["numbers"], "a.py:b", WHEN)
    figures = text[text.index('id="findings"') : text.index('id="unseen"')]
    found = list(re.finditer("<table>.*?</table>", figures, re.S))
    for table in found:
        folded = figures.rfind("<details>", 0, table.start()) > figures.rfind(
            "</details>", 0, table.start()
        )
        if '<th scope="col">Fault</th>' not in table[0]:
            assert folded == (table[0].count("<tr>") > 21)
    assert len(found) > 2


@pytest.mark.parametrize(
    ("more", "first"),
    [((), "Nothing has"), (("labels-copied",), "To be mended"), (("of-a-plugin",), None)],
)
def test_a_pass_says_first_whether_anything_is_to_be_mended(reports, more, first) -> None:
    """Of warnings a defect alone is; catches a promise about a code that nobody knows."""
    notes = tuple(Note(code, "a warning") for code in ("not-restarted", *more))
    passed = reports["pass"].model_copy(update={"notes": notes})
    section = page(passed, "a.py:b", WHEN).partition('<h2 id="warnings">')[2].partition("<li>")[0]
    assert re.findall(r"<p>(Nothing has|To be mended)", section) == ([first] if first else [])


@pytest.mark.parametrize(("asked", "unit"), [(True, "queries"), (False, "rows")])
def test_a_log_has_rows(reports, asked, unit) -> None:
    """Where nobody was asked: in the header, over the table of checks, and along the charts."""
    report = reports["pass"].model_copy(update={"asked": asked})
    text = Read(page(report, "log.csv", WHEN)).text
    assert f"{report.queries:,} {unit} in" in text
    assert unit.capitalize() in text
    assert f"{unit} seen by this check" in text


ANY_TEXT = st.text(st.characters(exclude_categories=()))
PIECES = st.sampled_from(["<script>", "</style>", "]]>", "-->", '"', "'", "&lt;", "{{ 1 }}", "{%"])
HOSTILE = st.lists(st.one_of(ANY_TEXT, PIECES), max_size=5).map("".join)


@settings(max_examples=40)
@given(HOSTILE, HOSTILE)
def test_hostile_text_is_shown_as_it_is(hostile_reports, message, target) -> None:
    """Catches a value that reaches the page unescaped, or is taken for a template."""
    checks = (
        CheckResult(
            id="noise-scale",
            verdict=Verdict.FAIL,
            message=message,
            histogram=(1, 2),
            diagnosis=message,
            reproduce=message,
        ),
        CheckResult(id="abstention", verdict=Verdict.NOT_APPLICABLE, message=message),
    )
    notes = (Note("interrupted", message),)
    report = hostile_reports.model_copy(update={"checks": checks, "notes": notes})
    read = Read(page(report, target, WHEN))
    assert not read.all("script")
    assert read.text.count(printable(message)) >= 5
    assert printable(target) in read.text


@pytest.fixture(scope="session")
def hostile_reports(reports):
    return reports["fail"]


def test_the_cost_of_the_pair_stands_beside_the_claim(reports) -> None:
    """0.5 is claimed for 100 queries of a pair that costs more: both numbers are on the page."""
    text = Read(page(reports["costly"], "a.py:b", WHEN)).text
    low, high = re.search(r"delta 1e-05\s*0\.5\s*([\d.]+) to ([\d.]+)", text).groups()
    assert 0.5 < float(low) < float(high) < 1.03 * float(low)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.booleans())
def test_ticks_are_few_round_and_on_the_axis(low, length, logarithmic) -> None:
    """Catches an axis without marks, one full of them, and marks beyond its ends."""
    low = abs(low) + 1e-3 if logarithmic else low
    high = low * (1.0 + length) if logarithmic else low + max(length, 1e-6 * abs(low))
    axis = Axis(low, high, 74.0, 462.0, logarithmic)
    ticks = axis.ticks
    assert 1 <= len(ticks) <= 8
    assert all(74.0 <= tick.at <= 462.0 for tick in ticks)
    places = [tick.at for tick in ticks]
    assert places == sorted(places)


def test_evidence_beyond_all_bounds_is_drawn_at_the_top() -> None:
    """A label that the claim forbids gives an infinite e-value; its chart is finite."""
    chart = evidence_chart([(32, 1.0), (64, 1e308)], 6.9)
    places = [tuple(map(float, point.split(","))) for point in chart.line.split()]
    assert places[-1][1] == chart.y.end < chart.threshold < places[1][1]


@pytest.mark.parametrize(
    "points",
    [
        ((1000, 0.1), (90_000, 0.2)),
        ((32, 3.0), (64, 8.0)),
        ((32, 20.0), (64, 40.0)),
        ((32, 900.0),),
    ],
    ids=["flat", "late", "early", "steep"],
)
def test_the_name_of_the_refuting_line_is_clear_of_the_evidence(points) -> None:
    """Within the axes, and the evidence goes neither through it nor under it."""
    chart = evidence_chart(points, 6.9)
    assert TOP - 20 < chart.name <= HEIGHT - BOTTOM
    places = [tuple(map(float, point.split(","))) for point in chart.line.split()]
    start = chart.x.end - 130 if chart.early else chart.x.start
    across = np.linspace(start, start + 130, 50)
    heights = np.interp(across, *zip(*places, strict=True))  # type: ignore[call-overload]
    assert not ((chart.name - 12 < heights) & (heights < chart.name + 2)).any()
