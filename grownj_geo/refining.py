"""What all refinements share: reading given rows, gathering what is found, and making the refined layer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import shapely

from grownj_geo.crs import plain_text
from grownj_geo.errors import SiteError
from grownj_geo.features import LoadOptions
from grownj_geo.fieldvalues import as_text, read_days
from grownj_geo.layer import Layer
from grownj_geo.layercheck import read_figure
from grownj_geo.manifest import Status
from grownj_geo.pins import match_municipality
from grownj_geo.readings import nearest_name
from grownj_geo.refine_columns import Columns, find_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    import numpy as np

    from grownj_geo.atlas import Atlas
    from grownj_geo.features import Features
    from grownj_geo.findings import Findings
    from grownj_geo.manifest import Manifest

__all__ = ["COMMON_FIELDS", "PLACE_FIELDS", "YES_NO", "Work", "in_words", "put", "result", "shown"]

YES_NO = {
    "yes": "true",
    "y": "true",
    "1": "true",
    "t": "true",
    "no": "false",
    "n": "false",
    "0": "false",
    "f": "false",
}
"""What is typed for yes and no, in small letters."""

COMMON_FIELDS = {"status": ("status",), "status_note": ("status_note",), "source": ("source",)}
"""What every given row may say: fields and the names of columns that are taken for them."""

PLACE_FIELDS = {
    "mun_code": ("mun_code", "mun"),
    "municipality": ("municipality", "mun_label", "mun_name"),
    "county": ("county",),
}
"""How a row names its municipality."""

_STATUSES = get_args(Status)
_CODE_DIGITS = 4
_MOST_SHOWN = 8


@dataclass
class Work:
    """What one refinement is made of: what was given, what is there, and what was found on the way.

    Attributes
    ----------
    given
        The rows, with geometries where they have them.
    base, manifest
        The layer as it is, and its manifest in the package.
    source, stated_on
        What the given rows are called, and the day on which they were so.
    atlas
        Says which municipalities there are.
    found
        Faults and what is to be told, gathered.
    options, accuracy_ft
        What the user states of all rows: fields, values, coordinate system, and the feet within which they are true.
    columns
        The given columns by the field that they say, once `find_columns` has looked.
    crs, added_accuracy_ft
        What coordinates were taken to be in, in words, and the feet that a change of datum added.
    """

    given: Features
    base: Layer
    manifest: Manifest
    source: str
    stated_on: date | None
    atlas: Atlas
    found: Findings
    options: LoadOptions = field(default_factory=LoadOptions)
    accuracy_ft: float | None = None
    columns: Columns = field(default_factory=lambda: Columns({}, {}, {}, {}))
    crs: str = "none: a table"
    added_accuracy_ft: float = 0.0
    _days: dict[str, list[date | None]] = field(default_factory=dict)

    def text(self, name: str, row: int) -> str:
        """Return a given value as text; empty where it is blank or its column is not there."""
        column = self.columns.values.get(name)
        return "" if column is None else plain_text(as_text(column[row]))

    def find_columns(self, fields: Mapping[str, tuple[str, ...]]) -> None:
        """Find the given columns, as the user says or by their names, with what is stated for all rows."""
        stated = list(self.options.constants.items())
        if self.accuracy_ft is not None:
            stated.append(("accuracy_ft", repr(self.accuracy_ft)))
        self.columns = find_columns(self.given, fields, mapped=self.options.fields, stated=stated, found=self.found)

    def fault(self, kind: str, row: int, message: str) -> None:
        """Add a fault of a row; the message may end as it likes."""
        message = message.rstrip(". ")
        self.found.fault(kind, f"row {row + 1}: {message}{' Correct it' if message.endswith('?') else ''}")

    def own(self, row: int) -> dict[str, str]:
        """Return what every given row has: status, source and remark."""
        status = self.text("status", row).lower().replace(" ", "_") or "secondary"
        if status not in _STATUSES:
            self.fault(
                "bad_status", row, f"the status is {status!r}, which is no status. {nearest_name(status, _STATUSES)}"
            )
        stated = f"stated on {self.stated_on}" if self.stated_on else ""
        note = "; ".join(filter(None, (self.text("status_note", row), f"refined by {self.source}", stated)))
        return {"status": status, "source": self.text("source", row) or self.source, "status_note": note}

    def day(self, name: str, row: int) -> date | None:
        """Return a given day, read as in every other layer; what is none is a fault."""
        if name not in self.columns.values:
            return None
        if name not in self._days:
            read = read_days(self.columns.values[name], self.columns.names[name], self.found)
            self._days[name] = [None] * len(self.given) if read is None else read[0]
        return self._days[name][row]

    def feet(self, name: str, row: int) -> float | None:
        """Return given feet; None where nothing is given, and where what is given is a fault."""
        text = self.text(name, row)
        if not text:
            return None
        feet = read_figure(text)
        if not feet >= 0:
            self.fault(
                "bad_figure", row, f"{self.columns.names[name]} is {text!r}. Expected feet, 0 or more, without a unit"
            )
            return None
        return feet

    def municipality(self, row: int) -> str | None:
        """Return the code of the municipality that a row names, by code, by name, or by both; None after a fault."""
        code, name, county = (self.text(n, row) for n in ("mun_code", "municipality", "county"))
        known = self.atlas.municipal_names
        if code and code not in known:
            padded = code.zfill(_CODE_DIGITS)
            if not (code.isdigit() and padded in known):
                self.fault(
                    "bad_code", row, f"the municipal code is {code!r}, and there is no such. Expected four digits"
                )
                return None
            self.found.tell(
                "leading_zeros", "changed", [row], f"The code {code} was read as {padded} ({known[padded][0]})."
            )
            code = padded
        if not name:
            if not code:
                self.fault("missing_value", row, "it names no municipality. Give mun_code, or municipality and county")
            elif county and plain_text(county).lower().removesuffix(" county") != known[code][1].lower():
                self.fault("municipality_contradicted", row, f"{code} lies in {known[code][1]} County, not in {county}")
            return code or None
        try:
            by_name, notes = match_municipality(f"{name}, {county}" if county else name, _Directory(known))
        except SiteError as error:
            self.fault("unknown_municipality", row, str(error))
            return None
        if code and by_name != code:
            theirs = f"{known[code][0]}, and {name!r} is {by_name}"
            self.fault(
                "municipality_contradicted",
                row,
                f"{code} is {theirs}. Correct either (other agencies number otherwise)",
            )
            return None
        for note in notes:
            self.found.tell("municipality_read", "noted", [row], note)
        return by_name


@dataclass(frozen=True)
class _Directory:
    names: Mapping[str, tuple[str, str]]


def result(
    work: Work,
    columns: dict[str, list[Any]],
    bounds: np.ndarray[Any, np.dtype[np.float64]],
    words: str,
    *,
    lonlat: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    shapes: Sequence[shapely.Geometry] = (),
    **more: Any,  # noqa: ANN401 - fields of the manifest
) -> Layer:
    """Return the refined layer, whose manifest says what was refined by what, and whose fingerprint is its own.

    Parameters
    ----------
    work
        The refinement.
    columns, bounds, lonlat, shapes
        What the layer holds, a value for each feature.
    words
        What was done, for the manifest's source.
    **more
        Fields of the manifest that are no longer the shipped ones.
    """
    on = f", stated on {work.stated_on}" if work.stated_on else ""
    update = {
        "ships": False,
        "file": None,
        "sha256": None,
        "refines": True,
        "source": f"{work.base.manifest.source.rstrip('.')}; refined by {work.source}{on}: {words}",
        "least_features": min(work.manifest.least_features, len(bounds)),
        "accuracy_ft": work.base.manifest.accuracy_ft,
        "accuracy_source": work.base.manifest.accuracy_source,
    }
    digest = hashlib.sha256(work.base.fingerprint.encode())
    digest.update(json.dumps(columns, default=str, sort_keys=True).encode())
    digest.update(bounds.tobytes())
    for shape in shapes:
        digest.update(shapely.to_wkb(shape))
    manifest = work.manifest.model_copy(update=update | more)
    return Layer(manifest, columns, bounds, digest.hexdigest(), lonlat=lonlat, geometries=dict(enumerate(shapes)))


def in_words(**numbers: int) -> str:
    """Say how many rows became what.

    Examples
    --------
    >>> in_words(replaced=2, added=1, removed=0), in_words(added=0)
    ('2 rows replaced, 1 row added', 'nothing changed')
    """
    return ", ".join(f"{n} row{'s' if n != 1 else ''} {what}" for what, n in numbers.items() if n) or "nothing changed"


def shown(names: Iterable[str]) -> str:
    """List names for a message, the first of them where they are many.

    Examples
    --------
    >>> shown(["Newark", "Camden"]), shown("abcdefghij")
    ('Newark, Camden', 'a, b, c, d, e, f, g, h and 2 more')
    """
    listed = list(names)
    return ", ".join(listed[:_MOST_SHOWN]) + (
        f" and {len(listed) - _MOST_SHOWN} more" if len(listed) > _MOST_SHOWN else ""
    )


def put(
    base: Layer,
    replaced: Mapping[int, Mapping[str, Any]],
    added: Sequence[Mapping[str, Any]],
    left_out: Iterable[int] = (),
) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns with rows replaced in place, others added and some left out, and which rows were kept."""
    gone = set(left_out)
    kept = [i for i in range(len(base)) if i not in gone]
    columns = {}
    for name, values in base.columns.items():
        column = [replaced.get(i, {}).get(name, values[i]) for i in kept]
        columns[name] = column + [row.get(name, "") for row in added]
    return columns, kept
