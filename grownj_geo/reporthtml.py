"""A report as one page: it opens anywhere, loads nothing, runs nothing, and prints on letter paper."""

from __future__ import annotations

import base64
import io
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from grownj_geo.features import LayerFault
from grownj_geo.picturetext import font_files, missing_signs, numbers_of, odd_signs
from grownj_geo.words import counted_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.reportblocks import Report

__all__ = ["INSTALL_REPORT", "beyond_font", "check_report_packages", "report_html", "texts_of"]

INSTALL_REPORT = "pip install 'grownj-geo[report]'"

_ALWAYS = "".join(map(chr, range(0x20, 0x7F))) + "\u2019\u2013\u2014\u2026\u00bd\u00bc\u2191"


def check_report_packages(*, fpdf2: bool, picture: bool = True) -> None:
    """Refuse to begin where a package is missing that the end will need.

    Parameters
    ----------
    fpdf2
        Whether a PDF is made without a browser.
    picture
        Whether there are maps in it.

    Raises
    ------
    LayerFault
        ``not_installed``, with what to type.
    """
    wanted = {"jinja2": "jinja2", "matplotlib": "matplotlib"}
    wanted |= ({"rtree": "rtree"} if picture else {}) | ({"fpdf": "fpdf2"} if fpdf2 else {})
    missing = [name for module, name in wanted.items() if find_spec(module) is None]
    if missing:
        raise LayerFault(
            "not_installed", f"Reports need {', '.join(missing)}, which is not installed. Install it: {INSTALL_REPORT}."
        )


def report_html(report: Report) -> str:
    """Return a report as a page.

    Texts are escaped by jinja2; maps are the package's own SVG.

    Parameters
    ----------
    report
        What it says.

    Raises
    ------
    ImportError
        Where jinja2 or matplotlib, whose font is put in, is not there; `check_report_packages` says so before.
    """
    texts = list(texts_of(report))
    faces = _faces(set().union(*texts, _ALWAYS))
    return str(_template().render(report=report, faces=faces, unsure=beyond_font(odd_signs(texts))))


def beyond_font(signs: Sequence[str]) -> str:
    """Return what is to be said of signs that the page's own font does not have; nothing where there are none.

    A browser takes them from the fonts of its machine, also where it prints, and draws boxes where it has none.
    """
    missing = missing_signs(signs)
    if not missing:
        return ""
    return (
        f"The font inside has no picture of {counted_words(len(missing), 'sign')} ({numbers_of(missing)}): fonts of "
        "the machine that shows or printed this have them, or boxes stand in their place."
    )


@lru_cache(maxsize=1)
def _template() -> Any:  # noqa: ANN401 - jinja2 is an extra
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - an extra
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    folder = resources.files("grownj_geo") / "templates"
    made = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["svg"] = lambda picture: Markup(picture.content.decode("utf-8"))  # noqa: S704 - made by this package
    made.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    made.filters["kind"] = lambda block: type(block).__name__.lower()
    return made.get_template("report.html")


def texts_of(report: Report) -> Iterator[str]:
    """Yield every text of a report, those of its pictures too."""
    yield report.title
    yield report.foot
    for section in report.sections:
        yield section.title
        for block in section.blocks:
            yield from _texts(block)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        if value.startswith(b"<svg"):
            yield value.decode("utf-8")
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _texts(getattr(value, name))


# -- the font ------------------------------------------------------------------------------------------


def _faces(signs: set[str]) -> list[tuple[str, str]]:
    """Return weight and data of the font, cut to some signs."""
    return [(weight, _cut(file, "".join(sorted(signs)))) for weight, file in font_files().items()]


@lru_cache(maxsize=8)
def _cut(file: str, signs: str) -> str:
    from fontTools import subset  # noqa: PLC0415 - comes with matplotlib
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - same

    font = TTFont(file, recalcTimestamp=False)
    options = subset.Options(hinting=False, notdef_outline=True, drop_tables=["FFTM"], layout_features=["kern", "mark"])
    cut = subset.Subsetter(options)
    cut.populate(unicodes=[ord(sign) for sign in signs])
    cut.subset(font)
    font.flavor = "woff"
    target = io.BytesIO()
    font.save(target)
    return base64.b64encode(target.getvalue()).decode("ascii")
