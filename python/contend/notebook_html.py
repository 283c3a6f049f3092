"""How scenarios, results, comparisons, explanations and lists of names look in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from contend.common.spelling import counted, parameters_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contend.comparisons.comparison import Comparison
    from contend.explanations.explanation import Explanation
    from contend.listings import Listing
    from contend.results.results import Results
    from contend.scenarios.scenario import Scenario

_MOST_ROWS = 24
# What tells designs and workloads apart at a glance; what a scenario does not have is left out.
_GLANCE = (
    "machine.name", "fabric.latency", "fabric.bandwidth", "library.name", "library.thread_level",
    "library.critical_section", "library.instances.count", "library.instances.assignment", "library.instances.mapping",
    "library.instances.lock", "library.progress.engine", "library.matching.engine", "library.matching.domain",
    "workload.kind", "workload.pattern", "workload.mode", "workload.pairs", "workload.threads", "workload.operation",
    "workload.message_size", "workload.window", "workload.iterations", "run.replications", "run.seed",
)  # fmt: skip


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small table; numbers to the right."""
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in header)
    body = []
    for row in rows:
        cells = []
        for value in row:
            side = "right" if isinstance(value, int | float) else "left"
            text = f"{value:,.4g}" if isinstance(value, float) else "" if value is None else str(value)
            cells.append(f"<td style='text-align:{side}'>{escape(text)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _shortened(values: Sequence[object]) -> str:
    words = [str(value) for value in values]
    if len(words) > 8:  # noqa: PLR2004
        words = [*words[:3], "...", words[-1], f"({len(values)} values)"]
    return ", ".join(words)


def scenario_html(scenario: Scenario) -> str:
    """Name, description, sweep, and the values that tell designs apart, with their origin."""
    axes = scenario.axes
    rows = [
        (path, _shortened(axes[path]) if path in axes else scenario[path], scenario.origin(path))
        for path in dict.fromkeys([*axes, *_GLANCE])
        if path in scenario or path in axes
    ]
    count = len(scenario.points)
    return f"<b>{escape(scenario.name)}</b>: {counted(count, 'point')}<br>{escape(scenario.description)}" + _table(
        ("value of", "is", "because"), ((path, str(value), origin) for path, value, origin in rows)
    )


def listing_html(listing: Listing) -> str:
    """All rows, without files: what is listed is what one wants to read to its end."""
    columns = [name for name in (listing.rows[0] if listing.rows else ()) if name != "file"]
    return f"<b>{escape(listing.title)}</b>" + _table(
        [name.replace("_", " ") for name in columns], ([row[name] for name in columns] for row in listing.rows)
    )


def results_html(results: Results) -> str:
    """Rates with intervals, the first points of many."""
    from contend.common.amounts import bare, interval_text
    from contend.results.measures import ESTIMATED

    names = list(results.points[0].parameters) if results.points else []
    rows = []
    for point in results.points[:_MOST_ROWS]:
        cells: list[object] = [value_text(point.parameters.get(name, "-")) for name in names]
        for name, value in point.estimates.items():
            cells += [bare(value.mean, ESTIMATED[name]), interval_text(value, ESTIMATED[name])]
        rows.append([*cells, point.replications])
    measures = []
    for name in results.points[0].estimates if results.points else ():
        measures += [f"{name.replace('_', ' ')} ({results.units[name]})", "95 % interval"]
    left = len(results.points) - len(rows)
    notes = "".join(f"<br>note: {escape(note)}" for note in results.notes)
    made = f"contend {results.contend_version}, seed {results.seed}{', interrupted' if results.interrupted else ''}"
    return (
        f"<b>{escape(results.name)}</b>: {counted(len(results.points), 'point')}, {escape(made)}"
        + _table([*names, *measures, "replications"], rows)
        + (f"and {left} more points; all are in <code>frame()</code>" if left > 0 else "")
        + notes
    )


def comparison_html(comparison: Comparison) -> str:
    """Both rates and their ratio at each point."""
    frame = comparison.frame().head(_MOST_ROWS)
    left = len(comparison.points) - frame.height
    return (
        f"A = {escape(comparison.name_a)}<br>B = {escape(comparison.name_b)}"
        + "".join(f"<br>{escape(remark)}" for remark in comparison.reader_remarks)
        + _table(frame.columns, frame.rows())
        + (f"and {left} more points; all are in <code>frame()</code>" if left > 0 else "")
    )


def explanation_html(explanation: Explanation) -> str:
    """The largest times, locks and speed-ups."""
    from contend.common.amounts import measured_text

    place, unit = parameters_text(explanation.parameters), explanation.measure.unit
    times = explanation.times().sort("share", descending=True).head(8)
    parts = [
        f"<b>{escape(explanation.name)}</b> {escape(place)}: {escape(measured_text(explanation.rate, unit))}",
        "<br>where the time goes" + _table(times.columns, times.rows()),
    ]
    if explanation.places:
        waits = explanation.place_frame().select("place", "waiter", "category", "awaited", "how", "time_ns").head(8)
        parts.append("waits for other threads without a lock" + _table(waits.columns, waits.rows()))
    if explanation.locks:
        locks = explanation.lock_frame().select("name", "acquisitions", "contended", "wait_ns", "held").head(5)
        parts.append("locks, longest wait first" + _table(locks.columns, locks.rows()))
    if explanation.speedups:
        speedups = explanation.speedup_frame().select("cost", "value", "halved", "removed", "what").head(10)
        parts.append(escape(explanation.measure.speedups_title) + _table(speedups.columns, speedups.rows()))
    parts += [f"<br>note: {escape(remark)}" for remark in explanation.remarks]
    return "".join(parts)
