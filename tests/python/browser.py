"""A real headless Chromium for tests of pages, driven through its WebDriver."""

from __future__ import annotations

import base64
import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.chrome.webdriver import WebDriver

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# The programs themselves: what Debian has on the path is a script, and stopping that would leave the browser behind.
_DEBIAN = Path("/usr/lib/chromium")


def why_not() -> str | None:
    """Why there is no browser to test with, if so."""
    if not any(map(shutil.which, _BROWSERS)):
        return "no Chromium here: apt-get install chromium-headless-shell chromium-driver"
    if shutil.which("chromedriver") is None:
        return "no chromedriver here: apt-get install chromium-driver"
    return None


def _program() -> str:
    name = next(name for name in _BROWSERS if shutil.which(name))
    return str(_DEBIAN / name) if (_DEBIAN / name).is_file() else str(shutil.which(name))


needs_browser = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


class Browser:
    """A browser with one page."""

    def __init__(self, driver: WebDriver) -> None:
        self.driver = driver

    def open(
        self, page: Path, *, width: int = 1200, height: int = 900, phone: bool = False, dark: bool = False
    ) -> None:
        """Opens a file and waits until its charts are drawn."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip
        self.media(dark=dark)
        self.driver.get(page.absolute().as_uri())
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(
            lambda _: self.js("return document.documentElement.dataset.ready") == "true"
        )

    def media(self, *, dark: bool = False, paper: bool = False) -> None:
        """What the page believes to be shown on."""
        self.command(
            "Emulation.setEmulatedMedia",
            media="print" if paper else "",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A command of the DevTools protocol."""
        answer: dict[str, Any] = self.driver.execute_cdp_cmd(name, arguments)
        return answer

    def js(self, script: str, *arguments: Any) -> Any:
        """Runs a script in the page; `return` gives a value."""
        return self.driver.execute_script(script, *arguments)

    def errors(self) -> list[str]:
        """What the console complained about since the last call, warnings included."""
        return [
            f"{entry['level']}: {entry['message']}"
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def requests(self) -> list[str]:
        """What the page asked the network for."""
        found: list[str] = self.js("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        return found

    def picture(self, path: Path, *, whole: bool = True) -> Path:
        """A picture of the page."""
        answer = self.command("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        path.write_bytes(base64.b64decode(answer["data"]))
        return path

    def pdf(self, path: Path) -> Path:
        """The page on paper (A4)."""
        answer = self.command(
            "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True, printBackground=False
        )
        path.write_bytes(base64.b64decode(answer["data"]))
        return path


@contextlib.contextmanager
def start_browser() -> Iterator[Browser]:
    """Starts a browser with an empty profile and no network."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _program()
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--force-color-profile=srgb", "--hide-scrollbars",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
