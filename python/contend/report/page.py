"""A report as one HTML file: the template with its style, its script, the data, and the chart library, all inside."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from contend.common.amounts import count_text, interval_text, quantity, rate_text, time_text
from contend.common.documents import dotted, leaves, origin
from contend.common.spelling import counted, plural, value_text
from contend.explanations.interface_stages import verdict
from contend.explanations.price_bases import UNCERTAIN_WORDS
from contend.explanations.speedups import BOUNDED_MARK, BOUNDED_WORDS
from contend.explanations.waiting_rows import WAITING_WORDS, coverage_text, waiting_rows
from contend.plots.curves import value_of
from contend.plots.measurements import interval_words
from contend.report.budget_chart import SMALLEST_SHARE
from contend.report.charts import make_charts
from contend.report.provenance import explained_measure
from contend.report.texts import label, percent
from contend.results.counted import count_of
from contend.results.measures import main_measure, measure_named
from contend.results.tables import SPC, has_bandwidth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.explanations.waiting_rows import WaitingRow
    from contend.report.content import Content
    from contend.report.source import ExplanationFile
    from contend.results.measures import Measure
    from contend.results.results import PointResult, Results
    from contend.results.workload_words import WorkloadWords

_FOLDER = Path(__file__).resolve().parent
_MOST_ROWS = 400
_MOST_SPC = 6
_MOST_LOCKS = 10
_MOST_PLACES = 10
_MOST_STAGES = 10
_SMALLEST_WAIT = 0.01
# Threads that spend their time so are not what limits the others.
_IDLE = frozenset({"poll_idle", "blocked", "barrier"})


@dataclass(frozen=True)
class Card:
    """A headline number."""

    title: str
    value: str
    remark: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table; `share` of the column's largest value is drawn as a bar behind it."""

    text: str
    share: float | None = None
    is_number: bool = True


@dataclass(frozen=True)
class TableView:
    """A table: titles of the columns, and rows."""

    titles: list[str]
    rows: list[list[Cell]]
    left_out: int = 0


@dataclass(frozen=True)
class WaitsView:
    """The table of waits without a lock, and what a reader must know about it."""

    rows: list[WaitingRow]
    left_out: int
    note: str


@dataclass(frozen=True)
class Setting:
    """One value of the resolved scenario."""

    path: str
    value: str
    origin: str


def render_page(content: Content, validations: Sequence[tuple[str, JsonObject]] = ()) -> bytes:
    """The page.

    Args:
        content: Results with at least one point, and what else there is.
        validations: Titles and results of `contend validate`, a section each.
    """
    charts = make_charts(content.results, content.chosen, content.explanation, content.stretch)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters.update(
        percent=percent, whole=count_text, quantity=quantity, seconds=time_text, point=label,
        plural=plural, counted=counted, sentence=lambda text: text[:1].upper() + text[1:],
    )  # fmt: skip
    page = environment.get_template("page.html.j2").render(
        content=content,
        results=content.results,
        scenario=content.results.scenario,
        explanation=content.explanation,
        stretch=content.stretch,
        measure=main_measure(content.results),
        explained=explained_measure(content.results, content.explanation),
        words=content.results.words,
        charts=charts,
        category_rows=_category_shares(content.chosen),
        cards=_cards(content),
        points=_points_table(content.results),
        spc=_spc_table(content.results),
        locks=content.explanation.locks[:_MOST_LOCKS] if content.explanation else [],
        waits=_waits(content),
        stages=_stages(content.explanation),
        verdict=verdict,
        smallest_wait=_SMALLEST_WAIT,
        bounded_mark=BOUNDED_MARK,
        bounded_words=BOUNDED_WORDS,
        uncertain_words=UNCERTAIN_WORDS,
        measured_interval=interval_words(content.results.points, "the 95 % confidence interval of its median"),
        settings=_settings(content),
        provenance=_provenance(content),
        validations=[Markup(one) for one in _validation_sections(validations)],  # noqa: S704 - escaped there
        data=Markup(_safe_json({"charts": charts.specifications, "data": charts.data})),  # noqa: S704 - escaped there
        style=Markup((_FOLDER / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of this package
        script=Markup((_FOLDER / "page.js").read_text(encoding="utf-8")),  # noqa: S704 - a file of this package
        library=Markup(chart_library()),  # noqa: S704 - generated from the package vl-convert
    )
    return page.encode()


def _validation_sections(validations: Sequence[tuple[str, JsonObject]]) -> list[str]:
    from contend.accuracy.document import html_section

    return [html_section(result, title, f"validation-{place}") for place, (title, result) in enumerate(validations, 1)]


@cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, of the version that Altair writes for."""
    import altair as alt
    import vl_convert

    # Without code of its own the bundle is the library alone; the stub does not know that.
    snippet: Any = None
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    bundle: str = vl_convert.javascript_bundle(snippet, vl_version=version)
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _safe_json(document: object) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _category_shares(point: PointResult) -> list[tuple[str, list[tuple[str, float]]]]:
    """By role: its categories with their shares, largest first, but those that nothing is to be seen of."""
    shares = []
    for role, times in point.time_by_category_ns.items():
        total = sum(times.values())
        if total:
            named = ((name.replace("_", " "), time / total) for name, time in times.items())
            shown = (entry for entry in named if entry[1] >= SMALLEST_SHARE)
            shares.append((role, sorted(shown, key=lambda entry: -entry[1])))
    return shares


def _cards(content: Content) -> list[Card]:
    results, chosen = content.results, content.chosen
    measure = main_measure(results)
    cards = []
    if len(results.points) > 1:
        best = (min if measure.less_is_better else max)(results.points, key=lambda p: value_of(p, measure.name)[0])
        value = value_of(best, measure.name)[0]
        word = "shortest" if measure.less_is_better else "highest"
        cards.append(
            Card(f"{word} {measure.title}", quantity(value, measure.short_unit), f"at {label(best.parameters)}")
        )
    mean, _, _ = value_of(chosen, measure.name)
    estimate = chosen.estimates.get(measure.name)
    interval = "" if estimate is None or estimate.half_width is None else interval_text(estimate, measure.unit)
    where = f"at {label(chosen.parameters)}" if len(results.points) > 1 else ""
    cards.append(Card(measure.title, quantity(mean, measure.short_unit), ", ".join(filter(None, (interval, where)))))
    cards += _work_card(chosen, where, content.results.words)
    cards += _help_card(content)
    return cards


def _work_card(chosen: PointResult, where: str, words: WorkloadWords) -> list[Card]:
    work: list[tuple[float, str, str]] = []
    for role, times in chosen.time_by_category_ns.items():
        total = float(sum(times.values()))
        if total > 0:
            work += [(time / total, role, name.replace("_", " ")) for name, time in times.items() if name not in _IDLE]
    if not work:
        return []
    share, role, name = max(work)
    remark = ", ".join(filter(None, ("idle and blocked time left aside", where)))
    return [Card(f"largest share of {words.role(role)} time", f"{share:.0%} {name}", remark)]


def _help_card(content: Content) -> list[Card]:
    """The cost whose removal gains most, of those that can be told from no effect."""
    explanation = content.explanation
    single = [(entry, entry.removed) for entry in explanation.speedups if entry.value] if explanation else []
    known = [(entry, ratio) for entry, ratio in single if ratio is not None]
    if not known:
        return []
    title = "would help most"
    gains = [(entry, ratio) for entry, ratio in known if ratio.is_gain]
    if not gains:
        has_intervals = any(ratio.half_width is not None for _, ratio in known)
        least = "no more than its 95 % interval" if has_intervals else "nothing"
        return [Card(title, "no single cost", f"removing any one of them gains {least}")]
    entry, ratio = max(gains, key=lambda gain: gain[1].rate_ratio)
    half = ratio.half_width
    interval = "" if half is None else f"± {half:.3f} ({half / ratio.rate_ratio:.1%})"
    gain = explained_measure(content.results, explanation).speedup
    price = f"{entry.value}, {entry.basis}" if entry.uncertain else entry.value
    change = f"with {entry.name} as low as allowed" if entry.not_removable else f"without the cost {entry.name}"
    remark = ", ".join(filter(None, (interval, f"{gain} {change} ({price})")))
    return [Card(title, f"x {ratio.rate_ratio:.3f}", remark)]


def _points_table(results: Results) -> TableView:
    measure = main_measure(results)
    names = list(dict.fromkeys(name for point in results.points for name in point.parameters))
    scalars = [name for name in results.points[0].scalars if name not in ("elapsed_s", measure.name)]
    largest = max(abs(value_of(point, measure.name)[0]) for point in results.points) or 1.0
    counted = _counted_columns(results.points)
    with_bandwidth = measure.name != "perceived_bandwidth" and has_bandwidth(results.points)
    bandwidth = ["bandwidth (MiB/s)"] if with_bandwidth else []
    titles = [
        *names,
        measure.label,
        "95 % interval",
        *bandwidth,
        *(measure_named(name).title for name in scalars),
    ]
    titles += counted.values()
    titles += ["replications", "simulated"]
    rows = [
        _point_row(point, names, measure, scalars, largest, list(counted), with_bandwidth=with_bandwidth)
        for point in results.points[:_MOST_ROWS]
    ]
    return TableView(titles, rows, max(0, len(results.points) - _MOST_ROWS))


def _counted_columns(points: Sequence[PointResult]) -> dict[str, str]:
    """Counters that stand beside the measures, with their titles: what one of the points counts of its messages."""
    if not any(point.counters.get("messages_received") for point in points):
        return {}
    titles = {"out_of_sequence": "out of sequence", "unexpected": "unexpected", "match_time_ns": "match time"}
    return {
        counter: title
        for counter, title in titles.items()
        if any(count_of(point.counters, counter) is not None for point in points)
    }


def _per_message(point: PointResult, counter: str) -> str:
    received, value = point.counters.get("messages_received"), count_of(point.counters, counter)
    if not received or value is None:
        return "-"
    return time_text(value / received / 1e9) if counter.endswith("_ns") else percent(value / received)


def _point_row(  # noqa: PLR0917 - what all rows have in common
    point: PointResult,
    names: Sequence[str],
    measure: Measure,
    scalars: Sequence[str],
    largest: float,
    counted: Sequence[str],
    *,
    with_bandwidth: bool,
) -> list[Cell]:
    row = [
        Cell(value_text(point.parameters.get(name, "-")), is_number=isinstance(point.parameters.get(name), int | float))
        for name in names
    ]
    mean, low, high = value_of(point, measure.name)
    unit = measure.short_unit
    row.append(Cell(quantity(mean, unit).removesuffix(unit), share=max(0.0, mean / largest)))
    row.append(Cell(f"± {quantity((high - low) / 2, unit).removesuffix(unit)}" if low < high else "-"))
    if with_bandwidth:
        bandwidth = point.mean_of("bandwidth")
        row.append(Cell(rate_text(bandwidth) if bandwidth else "-"))
    row += [
        Cell(quantity(point.scalars[name], measure_named(name).unit) if name in point.scalars else "-")
        for name in scalars
    ]
    row += [Cell(_per_message(point, counter)) for counter in counted]
    row += [Cell(str(point.replications)), Cell(time_text(point.simulated_s))]
    return row


def _spc_table(results: Results) -> TableView | None:
    from contend.scenarios.axes import representative

    chosen = representative(results.points, _MOST_SPC)
    rows = []
    for title, counter, divisor in SPC:
        values = [count_of(point.counters, counter) for point in chosen]
        if any(value is not None for value in values):
            cells = [Cell(count_text(None if value is None else value / divisor)) for value in values]
            rows.append([Cell(title, is_number=False), *cells])
    return TableView(["counter", *(label(point.parameters) for point in chosen)], rows) if rows else None


def _waits(content: Content) -> WaitsView | None:
    """None where nothing is explained, or nobody waits."""
    explanation = content.explanation
    if explanation is None:
        return None
    places = [place.model_dump() for place in explanation.waiting_places]
    rows = waiting_rows(places, explanation.time_by_category_ns, content.results.words)
    if not rows:
        return None
    covered = coverage_text(places, explanation.time_by_category_ns)
    note = f"These are {covered} of all threads; {WAITING_WORDS}."
    return WaitsView(rows[:_MOST_PLACES], max(0, len(rows) - _MOST_PLACES), note)


def _stages(explanation: ExplanationFile | None) -> list[Any]:
    stages = explanation.interface_stages if explanation else []
    return sorted(stages, key=lambda stage: -stage.busy_ns)[:_MOST_STAGES]


def _settings(content: Content) -> dict[str, list[Setting]]:
    """The resolved scenario by its sections."""
    sections: dict[str, list[Setting]] = {}
    for pointer, value in leaves(content.results.scenario):
        path = dotted(pointer)
        section = path.partition(".")[0]
        is_nested = isinstance(content.results.scenario.get(section), dict)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        name = path.partition(".")[2] if is_nested else path
        sections.setdefault(section if is_nested else "scenario", []).append(
            Setting(name or path, text, origin(content.origins, pointer))
        )
    return sections


def _provenance(content: Content) -> list[tuple[str, str]]:
    from contend.common.paths import version

    results = content.results
    scenario = results.scenario

    def name_of(section: str, *keys: str) -> str:
        entry = scenario.get(section)
        values = [entry.get(key) for key in keys] if isinstance(entry, dict) else []
        return next((str(value) for value in values if value), "-")

    resolved = json.dumps(scenario, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    runs = sum(point.replications for point in results.points)
    return [
        ("simulated by", f"contend {results.contend_version}, engine {results.engine}"),
        ("report made by", f"contend {version()}"),
        ("scenario", results.name),
        ("machine profile", name_of("machine", "profile", "name")),
        ("library", name_of("library", "preset", "name")),
        ("workload", name_of("workload", "kind")),
        ("seed", str(results.seed)),
        ("points, runs", f"{len(results.points)}, {runs}"),
        ("resolved scenario, SHA-256", hashlib.sha256(resolved.encode()).hexdigest()),
        ("results, SHA-256", results.canonical_hash()),
    ]
