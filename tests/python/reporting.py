"""What tests of `contend report` share: a trace, and a page as a browser sees it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NASTY = "</script><img src=x onerror=alert(1)>\u2028{{7*7}}\"'"
MEASURED = {
    "dataset": "d", "metric": "message_rate", "predicted": 1.1e6, "median": 1e6, "interval": [0.9e6, 1.2e6], "cov": 0.1,
    "unit": "msg/s", "abs_error_pct": 10.0, "scored_against_interval": False, "fitted": True,
}  # fmt: skip


def a_trace(spans: int = 400) -> dict[str, Any]:
    """Two threads that call and wait in turns, and a lock."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "rank 0 on host 0"}},
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "locks"}},
        {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": 20.0, "name": "timed part begins"},
    ]
    events += [
        {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
        for pid, tid, name in ((1, 1, "sender 0"), (1, 2, "sender 1"), (2, 3, "rank 0/instance 0"))
    ]
    for number in range(spans):
        at = 0.5 * number
        tid = 1 + number % 2
        events += [
            {"ph": "X", "pid": 1, "tid": tid, "ts": at, "dur": 0.9, "name": "MPI_Isend"},
            {"ph": "X", "pid": 1, "tid": tid, "ts": at + 0.1, "dur": 0.3, "name": "lock_wait", "args": {"lock": NASTY}},
            {"ph": "X", "pid": 2, "tid": 3, "ts": at + 0.4, "dur": 0.4, "name": f"sender {number % 2}"},
            {"ph": "C", "pid": 1, "ts": at, "name": "posted", "args": {"length": number % 7}},
        ]
    return {"traceEvents": events, "otherData": {"title": "small, pairs=4 lock=mcs, replication 0", "complete": True}}


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data
        else:
            self.text += data

    @property
    def data(self) -> dict[str, Any]:
        """The charts and their data."""
        document: dict[str, Any] = next(json.loads(text) for text in self.scripts if text.startswith("{"))
        return document


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))
