"""Who holds each lock and who waits for it, over a short stretch of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contend.common.errors import InputError
from contend.plots.style import SERIES_COLOURS, STYLE, Picture, add_heading, single

if TYPE_CHECKING:
    from contend.traces.timelines import LockSpan, Timeline

_MOST_LOCKS = 10
_MOST_THREADS_NAMED = 12
_HELD_HEIGHT = 0.34
_LEAST_WIDTH = 1 / 3000
_LEAST_SHARE = 0.01


def busiest(spans: list[LockSpan], most: int = _MOST_LOCKS) -> list[str]:
    """The locks with the most time of waiting and holding, the worst first."""
    totals: dict[str, float] = {}
    for span in spans:
        totals[span.lock] = totals.get(span.lock, 0.0) + (span.end - span.begin) * (2.0 if span.waits else 1.0)
    least = _LEAST_SHARE * max(totals.values(), default=0.0)
    return sorted((lock for lock in totals if totals[lock] > least), key=lambda lock: -totals[lock])[:most]


def lock_timeline(timeline: Timeline, *, most: int = _MOST_LOCKS, title: str | None = None) -> Picture:
    """For each lock a bar in the colour of the thread that holds it, and above it a line for each thread that waits.

    Args:
        timeline: What contend.timeline gave.
        most: How many locks are shown, those with the most waiting first.
        title: Of the picture; the scenario's name if not given, "" for none.

    Raises:
        InputError: No lock is touched in that stretch.
    """
    spans = timeline.lock_spans()
    locks = busiest(spans, most)
    if not locks:
        raise InputError("no lock is taken in this stretch")
    threads = sorted({span.thread for span in spans if span.lock in locks}, key=_natural)
    colours = {thread: SERIES_COLOURS[index % len(SERIES_COLOURS)] for index, thread in enumerate(threads)}
    least = (timeline.end_us - timeline.begin_us) * _LEAST_WIDTH
    with rc_context(STYLE):
        picture, axes = single(9.6, 1.5 + 0.62 * len(locks))
        for row, lock in enumerate(locks):
            waiting = sorted({span.thread for span in spans if span.lock == lock and span.waits}, key=_natural)
            step = (0.92 - _HELD_HEIGHT) / max(1, len(waiting))
            for thread in threads:
                own = [span for span in spans if span.lock == lock and span.thread == thread]
                held = [(span.begin, max(span.end - span.begin, least)) for span in own if not span.waits]
                waits = [(span.begin, max(span.end - span.begin, least)) for span in own if span.waits]
                if held:
                    axes.broken_barh(held, (row + 0.46 - _HELD_HEIGHT, _HELD_HEIGHT), facecolors=colours[thread], lw=0)
                if waits:
                    top = row + 0.46 - _HELD_HEIGHT - step * (waiting.index(thread) + 1)
                    height = min(0.6 * step, 0.09)
                    axes.broken_barh(waits, (top + (step - height) / 2, height), facecolors=colours[thread], lw=0)
        axes.set_yticks(range(len(locks)), locks, fontsize="small")
        axes.set_ylim(len(locks) - 0.5, -0.5)
        for row in range(1, len(locks)):
            axes.axhline(row - 0.5, color="#cccccc", lw=0.6)
        axes.set_xlim(timeline.begin_us, timeline.end_us)
        axes.set_xlabel("simulated time (us)")
        axes.grid(visible=False, axis="y")
        axes.ticklabel_format(axis="x", useOffset=False)
        add_heading(picture, timeline.shown.title if title is None else title)
        handles: list[Patch | Line2D] = [
            Patch(facecolor="#777777", label="holds it"), Line2D([], [], color="#777777", lw=2, label="waits for it"),
        ]  # fmt: skip
        if len(threads) <= _MOST_THREADS_NAMED:
            handles += [Patch(facecolor=colours[thread], label=thread) for thread in threads]
        picture.legend(handles=handles, loc="outside lower center", ncols=8, fontsize="small")
        return picture


def _natural(name: str) -> tuple[str, int]:
    words, _, number = name.rpartition(" ")
    return (words, int(number)) if number.isdecimal() else (name, 0)
