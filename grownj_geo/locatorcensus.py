"""The US Census Bureau's geocoder: places between the ends of a street's house numbers, for one address or 10,000.

Read from the Bureau's documentation of the interface. It gives no scores, and several matches where it cannot decide;
in files it says so without naming them, so that ties are asked for one by one. Its files of answers may lack rows, have
them in another order, and have fewer columns for addresses that it does not know.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from grownj_geo.locator import LocatorError
from grownj_geo.locatorservice import Found, OnlineLocator, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grownj_geo.locator import AddressQuery, Answer
    from grownj_geo.netclient import Reply, Session

__all__ = ["CensusLocator"]

# The interface takes no longer ones.
_LONGEST_LINE = 100
_NUMBER = re.compile(r"\s*[0-9]")
_ZIP = re.compile(r"[0-9]{5}")
_LONGEST_CELL = 1_000
_ROW, _MATCH_ROW = 3, 6
# A file that failed is sent again in halves, down to this many addresses: large ones take longest.
_SMALLEST_HALF = 500


class CensusLocator(OnlineLocator):
    """The Census Bureau's geocoder, asked for locations only."""

    name = "census"

    def _check(self, query: AddressQuery) -> None:
        super()._check(query)
        if not _NUMBER.match(query.street or query.line):
            raise self._error(
                "refused", "was not asked: it takes no address without a house number. Expected one such as 12 Main St"
            )
        if len(query.line) > _LONGEST_LINE:
            raise self._error(
                "refused",
                f"was not asked: it takes at most {_LONGEST_LINE} signs; the address has {len(query.line)}. Shorten it",
            )

    def _ask(self, session: Session, query: AddressQuery) -> Sequence[Found]:
        asked = {"address": query.line, "format": "json", **dict(self.options.parameters)}
        url = f"{self.options.url}/locations/onelineaddress?{urlencode(asked)}"
        return self._read(session, url, self._places)

    def _places(self, reply: Reply) -> list[Found]:
        """Return what a JSON reply holds."""
        from grownj_geo.netclient import json_of  # noqa: PLC0415 - brings in httpx

        found = json_of(reply)
        result = found.get("result") if isinstance(found, dict) else None
        matches = result.get("addressMatches") if isinstance(result, dict) else None
        if not isinstance(matches, list):
            raise self._nonsense("the reply has no list of matches")
        places = [place for place in map(_place, matches) if place is not None]
        if matches and not places:
            raise self._nonsense("no match of the reply has an address and a place on the globe")
        return places

    # -- many --

    def _ask_many(
        self, session: Session, queries: Sequence[AddressQuery], count: Callable[[int], None]
    ) -> list[Answer]:
        if len(queries) == 1:
            return super()._ask_many(session, queries, count)
        answers: list[Answer] = []
        stopped: LocatorError | None = None
        size = min(self.options.batch, 10_000)
        for first in range(0, len(queries), size):
            chunk = queries[first : first + size]
            if stopped is not None:
                answers += [self._unasked(stopped)] * len(chunk)
                continue
            found = self._answers(session, chunk)
            answers += found
            failed = [answer for answer in found if isinstance(answer, LocatorError)]
            # Nothing came of a whole file: the next would fare no better, and the service is left in peace.
            if len(failed) == len(found) and failed[-1].kind != "refused":
                stopped = failed[-1]
            count(len(answers))
        return answers

    def _answers(self, session: Session, queries: Sequence[AddressQuery], *, waited: bool = False) -> list[Answer]:
        """Return an answer for each of the addresses of one file, sent in halves where the whole fails.

        A service that was waited for once, and for half as many addresses again, is not waited for any more.
        """
        try:
            with self._asking(queries):
                rows = self._rows(session, queries)
        except LocatorError as error:
            slow = error.kind == "slow"
            if error.kind not in {"slow", "nonsense"} or (slow and waited) or len(queries) < 2 * _SMALLEST_HALF:
                return [error] * len(queries)
            middle = len(queries) // 2
            first = self._answers(session, queries[:middle], waited=slow)
            if all(isinstance(answer, LocatorError) for answer in first):
                return [*first, *[self._unasked(error)] * (len(queries) - middle)]
            return first + self._answers(session, queries[middle:], waited=slow)
        answers: list[Answer] = [self._nonsense_row("is not in its answer")] * len(queries)
        ties, kept = [], []
        for i, query in enumerate(queries):
            row = rows.get(i)
            if row is None:
                continue
            if row == "tie":
                ties.append(i)
            elif isinstance(row, str):
                answers[i] = self._nonsense_row(row)
            else:
                matches = self._matches(query, row)
                kept.append((query, matches))
                answers[i] = self._told(matches)
        self._keep(kept)
        one_by_one = super()._ask_many(session, [queries[i] for i in ties], lambda _: None)
        for i, answer in zip(ties, one_by_one, strict=True):
            answers[i] = answer
        return answers

    def _rows(self, session: Session, queries: Sequence[AddressQuery]) -> dict[int, list[Found] | str]:
        """Send a file, and return by number of the address what came: places, ``"tie"``, or what is wrong with it."""
        page = io.StringIO()
        writer = csv.writer(page, lineterminator="\r\n")
        for i, query in enumerate(queries):
            taken = (query.street or query.line, query.city or "", query.state, query.zip_code or "")
            writer.writerow([i, *(text_of(cell) for cell in taken)])
        return self._read(
            session,
            f"{self.options.url}/locations/addressbatch",
            lambda reply: self._parsed(reply, len(queries)),
            form=dict(self.options.parameters),
            files={"addressFile": ("addresses.csv", page.getvalue().encode(), "text/csv")},
        )

    def _parsed(self, reply: Reply, count: int) -> dict[int, list[Found] | str]:
        try:
            text = reply.content.decode("utf-8-sig")
            lines = list(csv.reader(io.StringIO(text), strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            raise self._nonsense(f"the reply is no table ({error})") from error
        rows: dict[int, list[Found] | str] = {}
        for line in lines:
            number = line[0].strip() if len(line) >= _ROW else ""
            if not (number.isdecimal() and int(number) < count):
                continue
            # Of an address that is in the answer twice, nobody knows which row is meant.
            rows[int(number)] = "is in its answer twice" if int(number) in rows else _row(line)
        if not rows:
            raise self._nonsense("the reply has no row of an address that was sent")
        return rows

    def _nonsense_row(self, what: str) -> LocatorError:
        return self._error("nonsense", f"gave no answer that can be read: the address {what}. Ask again for it alone")


def _row(line: list[str]) -> list[Found] | str:
    """Return what one row of an answer says."""
    said = line[2].strip().lower()
    if said == "no_match":
        return []
    if said == "tie":
        return "tie"
    if said != "match" or len(line) < _MATCH_ROW:
        return f"came back as {text_of(line[2])!r} with {len(line)} columns"
    lon, _, lat = line[5].partition(",")
    # Whether it is exact, which stands in between, is compared here as for single answers, which do not say it.
    place = _placed(line[4], number_of(lon), number_of(lat))
    return "came back without a place on the globe" if place is None else [place]


def _place(match: Any) -> Found | None:  # noqa: ANN401 - JSON is anything
    """Return one match of a JSON reply; None where it has no address or no place."""
    if not isinstance(match, dict) or not isinstance(match.get("coordinates"), dict):
        return None
    at = match["coordinates"]
    return _placed(match.get("matchedAddress"), number_of(at.get("x")), number_of(at.get("y")))


def _placed(matched: Any, lon: float | None, lat: float | None) -> Found | None:  # noqa: ANN401 - JSON is anything
    """Return a place from an address such as ``12 MAIN ST, CAMDEN, NJ, 08102``."""
    text = text_of(matched)
    if not text or lon is None or lat is None or not (abs(lon) <= 180 and abs(lat) <= 90 and (lon or lat)):  # noqa: PLR2004 - the globe
        return None
    street, *rest = [part.strip() for part in text.split(",")]
    zip_code = rest[-1] if rest and _ZIP.fullmatch(rest[-1]) else None
    return Found(text, street, rest[0] if rest else None, zip_code, "range", lon, lat)
