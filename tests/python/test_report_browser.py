"""A report of a real run in a real browser: it draws, its controls work, and it fits a phone and paper.

CONTEND_REPORT_PICTURES=DIR keeps pictures of it, to be looked at.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Browser, needs_browser, start_browser
from contend.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.core, pytest.mark.slow, needs_browser]

LINES = "[...document.querySelectorAll('#chart-rate svg .mark-line path')].filter((p) => p.getAttribute('d')).length"
CHARTS = {"rate", "budget-0", "budget-1", "counters", "speedups", "timeline", "queues"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small sweep over designs and pairs, explained."""
    folder = tmp_path_factory.mktemp("report")
    scenario = folder / "designs.json"
    scenario.write_text(
        """{"schema_version": 1, "name": "designs", "description": "Three designs & a <sweep>.",
            "machine": {"profile": "alembert"}, "fabric": {"latency": "700 ns", "bandwidth": "12.5 GB/s"},
            "library": {"preset": "ob1-base"},
            "workload": {"kind": "multirate", "pairs": 4, "window": 32, "iterations": 2, "warmup_iterations": 1},
            "run": {"seed": 1, "replications": 2},
            "sweep": {"library.preset": {
                        "as it is": {"preset": "ob1-base"},
                        "four instances": {"preset": "ob1-base", "instances": {"count": 4, "assignment": "dedicated"}},
                        "concurrent": {"preset": "ob1-cri", "instances": {"count": 4}}},
                      "workload.pairs": [1, 2, 4]}}"""
    )
    path = folder / "report.html"
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(["report", str(scenario), "--out", str(path), "--quiet"]) == 0
    finally:
        os.chdir(before)
    return path


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser, page: Path) -> Browser:
    running.open(page)
    return running


def keep(browser: Browser, name: str) -> None:
    """A picture for people, where they want one."""
    folder = os.environ.get("CONTEND_REPORT_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.picture(Path(folder) / f"{name}.png")


def drawn_marks(browser: Browser, chart: str) -> int:
    """How many marks with a size a chart shows."""
    count: int = browser.js(
        "return [...document.querySelectorAll(`#chart-${arguments[0]} svg path, #chart-${arguments[0]} svg text`)]"
        ".map((mark) => mark.getBoundingClientRect()).filter((box) => box.width > 0 && box.height > 0).length",
        chart,
    )
    return count


def choose(browser: Browser, what: str, index: int) -> None:
    """Takes another entry of a list."""
    browser.js(
        "const list = document.querySelector(`select[data-choice=${arguments[0]}]`); list.selectedIndex = arguments[1];"
        "list.dispatchEvent(new Event('change'))",
        what,
        index,
    )


def test_it_loads_without_a_word_in_the_console_and_without_the_network(browser: Browser) -> None:
    assert browser.errors() == []
    assert browser.requests() == []
    assert browser.js("return document.title") == "designs - contend"


def test_every_chart_is_drawn(browser: Browser) -> None:
    shown = set(browser.js("return [...document.querySelectorAll('.plot')].map((place) => place.dataset.drawn)"))
    assert shown == CHARTS
    for chart in CHARTS:
        assert drawn_marks(browser, chart) >= 8, chart
    assert browser.js("return document.querySelectorAll('.plot.failed').length") == 0
    keep(browser, "light")


def test_names_of_costs_are_whole_where_there_is_room(browser: Browser) -> None:
    names: list[str] = browser.js(
        "return [...document.querySelectorAll('#chart-speedups svg .role-axis-label text')].map((t) => t.textContent)"
    )
    assert len(names) > 5
    assert not [name for name in names if name.endswith("\u2026")]


def test_a_key_hides_its_curve(browser: Browser) -> None:
    curves = f"return {LINES}"
    assert browser.js(curves) == 3
    browser.js("document.querySelector('button.key.line').click()")
    assert browser.js(curves) == 2
    assert browser.js("return document.querySelector('button.key.line').getAttribute('aria-pressed')") == "false"
    browser.js("document.querySelector('button.key.line').click()")
    assert browser.js(curves) == 3


def test_a_category_can_be_hidden(browser: Browser) -> None:
    before = drawn_marks(browser, "budget-0")
    browser.js("document.querySelector('#time button.key').click()")
    assert drawn_marks(browser, "budget-0") < before


def test_the_choice_of_a_curve_changes_the_budget(browser: Browser) -> None:
    look = "return document.querySelector('#chart-budget-0 svg').outerHTML"
    before = browser.js(look)
    choose(browser, "curve", 0)
    first = browser.js(look)
    assert first != before
    # What is shown at first is the curve of the point that the page explains: the last one.
    choose(browser, "curve", browser.js("return document.querySelector('select[data-choice=curve]').length - 1"))
    assert browser.js(look) == before


def test_the_choice_of_a_counter_changes_its_chart(browser: Browser) -> None:
    look = "return document.querySelector('#chart-counters svg').outerHTML"
    before = browser.js(look)
    choose(browser, "counter", 1)
    assert browser.js(look) != before


def test_the_time_line_zooms_and_moves(browser: Browser) -> None:
    labels = "[...document.querySelectorAll('#chart-timeline .mark-text.role-axis-label text')]"
    ticks = f"return {labels}.map((label) => label.textContent).sort().join()"
    text = "return document.getElementById('zoom-range').textContent"
    click = "document.querySelector(`[data-zoom=${arguments[0]}]`).click()"
    whole, label = browser.js(ticks), browser.js(text)
    assert browser.js("return document.querySelector('[data-zoom=out]').disabled") is True
    browser.js(click, "in")
    zoomed = browser.js(ticks)
    assert zoomed != whole
    browser.js(click, "later")
    assert browser.js(text) not in (label, "")
    browser.js(click, "all")
    assert browser.js(ticks) == whole
    assert browser.js(text) == label


def test_messages_can_be_left_out(browser: Browser) -> None:
    before = drawn_marks(browser, "timeline")
    browser.js("document.getElementById('messages').click()")
    assert drawn_marks(browser, "timeline") < before


def test_the_other_scale(browser: Browser) -> None:
    browser.js("document.querySelector('button.key.line').click()")
    browser.js("document.getElementById('other-scale').click()")
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 20).until(
        lambda _: browser.js("return document.getElementById('chart-rate').dataset.drawn") == "rate-other"
    )
    curves = f"return {LINES}"
    WebDriverWait(browser.driver, 20).until(lambda _: browser.js(curves) == 2)
    assert browser.errors() == []


def test_tooltips(browser: Browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    bar = browser.driver.find_element(By.CSS_SELECTOR, "#chart-budget-0 svg .mark-rect path")
    browser.js("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", bar)
    ActionChains(browser.driver).move_to_element(bar).perform()
    text = browser.js("return document.getElementById('vg-tooltip-element').textContent")
    assert "category" in text
    assert "%" in text


def test_the_theme_follows_the_system_and_the_button(browser: Browser, page: Path) -> None:
    paper = "return getComputedStyle(document.querySelector('section#rate')).backgroundColor"
    ink = "return getComputedStyle(document.querySelector('#chart-rate .role-axis-title text')).fill"
    light, light_ink = browser.js(paper), browser.js(ink)
    browser.open(page, dark=True)
    dark, dark_ink = browser.js(paper), browser.js(ink)
    assert light != dark
    assert light_ink != dark_ink, "charts follow as well"
    keep(browser, "dark")
    browser.js("document.getElementById('theme').click()")
    assert browser.js(paper) == light
    browser.js("document.getElementById('theme').click()")
    assert browser.js(paper) == dark
    browser.media(dark=False)
    assert browser.js(paper) == dark, "dark was chosen"
    browser.js("document.getElementById('theme').click()")
    assert browser.js(paper) == light


@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_a_phone(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width, height=844, phone=True)
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.js("return window.innerWidth") == width
    too_wide = browser.js(
        "return [...document.querySelectorAll('svg, .card, h1, p')]"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1)"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert too_wide == []
    small = browser.js(
        "return [...document.querySelectorAll('#chart-rate svg .role-axis-label text')]"
        ".filter((e) => e.getBoundingClientRect().height < 9).length"
    )
    assert small == 0, "text stays readable"
    keep(browser, f"phone-{width}")


def test_it_fits_paper(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.open(page, dark=True)
    browser.media(dark=True, paper=True)
    assert browser.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", (
        "no ink for night"
    )
    assert browser.js("return getComputedStyle(document.querySelector('.top')).display") == "none"
    browser.media()
    folder = os.environ.get("CONTEND_REPORT_PICTURES")
    pdf = browser.pdf(Path(folder or tmp_path) / "report.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.stat().st_size > 50_000


def test_names_are_for_assistive_technology_too(browser: Browser) -> None:
    nameless = browser.js(
        "return [...document.querySelectorAll('button, select, .plot, .scroll')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).length"
    )
    assert nameless == 0
    assert browser.js("return document.documentElement.lang") == "en"
    assert browser.js("return document.querySelectorAll('h1').length") == 1


def test_the_file_has_a_reasonable_size(page: Path) -> None:
    assert page.stat().st_size < 3_000_000
