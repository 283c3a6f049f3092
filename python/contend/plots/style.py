"""What all pictures have in common: colours, fonts, how they become files and show in notebooks."""

from __future__ import annotations

import io
import textwrap
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

# Fixed colours: a category looks the same in every picture.
CATEGORY_COLOURS = {
    "software": "#4e79a7",
    "lock_wait": "#e15759",
    "line_transfer": "#ff9d9a",
    "matching": "#f28e2b",
    "out_of_sequence": "#ffbe7d",
    "nic_post": "#59a14f",
    "completion": "#8cd17d",
    "poll_idle": "#d4d4d4",
    "blocked": "#bab0ac",
    "barrier": "#79706e",
    "copy": "#b07aa1",
    "run_queue": "#9c755f",
    "context_switch": "#d7b5a6",
    "compute": "#76b7b2",
}
OTHER_COLOURS = ("#edc948", "#b6992d", "#499894", "#86bcb6", "#d37295", "#9d7660")
# Ten colours that people with colour vision deficiencies tell apart (Petroff, arXiv:2107.02270).
SERIES_COLOURS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
# Markers of series, in this order.
MARKERS = "osD^vP*X"
STYLE: Any = {
    # The same bytes for the same results: no random identifiers.
    "svg.hashsalt": "contend",
    # Names are anybody's: "cost of $a_1$" is shown as it is, and what is no formula ends no picture.
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.prop_cycle": f"cycler('color', {[colour[1:] for colour in SERIES_COLOURS]})",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "figure.dpi": 110,
    "legend.frameon": False,
}
_FILE_DPI = 150
_NOTEBOOK_DPI = 96
_HEADING_CHARACTERS_PER_INCH = 9.5


def draw_interval(
    axes: Axes,
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    colour: ColorType,
    *,
    label: str = "",
) -> None:
    """Draws intervals as a band; where there is one only, which would have no width, as a bar.

    Args:
        axes: Where to draw.
        x: Where they are.
        low: Their lower ends.
        high: Their upper ends.
        colour: Of the band.
        label: In the legend; "" for none.
    """
    if len(x) > 1:
        axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0, label=label)
    else:
        axes.vlines(x, low, high, color=colour, alpha=0.6, lw=2, label=label)


class Picture(Figure):
    """A Matplotlib figure that shows itself in a notebook and writes itself in the style it was drawn in."""

    def _repr_png_(self) -> bytes:
        return figure_bytes(self, ("png",), dpi=_NOTEBOOK_DPI)["png"]

    def save(self, path: str | Path) -> Path:
        """Writes the picture.

        Args:
            path: A .png, .svg or .pdf file; folders that are missing are made, as commands do.

        Raises:
            ContendError: It cannot be written.
            InputError: It is another kind of file.
        """
        from pathlib import Path as File

        from contend.common.errors import InputError
        from contend.common.files import output_file, write_file

        file = File(path)
        kind = file.suffix.lower().removeprefix(".")
        if kind not in _METADATA:
            raise InputError(f"{file}: a picture is a {', '.join(f'.{name}' for name in _METADATA)} file")
        with output_file(file):
            write_file(file, figure_bytes(self, (kind,))[kind])
        return file


_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def figure_bytes(figure: Figure, kinds: Sequence[str] = ("png", "svg"), *, dpi: int = _FILE_DPI) -> dict[str, bytes]:
    """A figure in some formats ("png", "svg", "pdf"), by format; the same figure gives the same bytes."""
    pictures = {}
    with rc_context(STYLE), warnings.catch_warnings():
        # A name in a script that the font does not have shows as boxes; it is readable in all other results.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        FigureCanvasAgg(figure)
        with _laid_out(figure, dpi) if "png" in kinds else nullcontext():
            for kind in kinds:
                buffer = io.BytesIO()
                figure.savefig(buffer, format=kind, dpi=dpi, metadata=_METADATA[kind])
                pictures[kind] = buffer.getvalue()
    return pictures


@contextmanager
def _laid_out(figure: Figure, dpi: int) -> Iterator[None]:
    """Lays a figure out once for all formats, as PNG.

    Matplotlib does so for each format, and where there is a layout it draws everything once more, only to measure it.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    own_dpi = figure.dpi
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_dpi(own_dpi)
        figure.set_layout_engine(None)  # that of rcParams: none
        try:
            yield
        finally:
            figure.set_layout_engine(engine)


def add_heading(picture: Picture, text: str) -> None:
    """A title above everything, broken into lines that fit; none if the text is empty."""
    if text:
        width = max(12, int(_HEADING_CHARACTERS_PER_INCH * picture.get_figwidth()))
        picture.suptitle(textwrap.fill(text, width), x=0.01, ha="left", fontsize="large", fontweight="bold")


def single(width: float = 6.4, height: float = 4.2) -> tuple[Picture, Axes]:
    """A picture with one pair of axes; draw in it inside rc_context(STYLE). Sizes in inches."""
    picture = Picture(figsize=(width, height), layout="constrained")
    return picture, picture.subplots()
