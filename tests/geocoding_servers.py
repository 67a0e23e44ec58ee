"""Geocoding servers on loopback: they answer in the formats of three services, written by hand from documentation.

Each does as its service does until one of its `rules` says otherwise: matches, ties, addresses that are not known,
errors in the service's own words. What was asked is in `log`.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from email.parser import BytesParser
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from feature_servers import Answer, Asked, LoopbackServer

from grownj_geo.locators import online_locators
from grownj_geo.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from grownj_geo.locatorservice import OnlineLocator


@dataclass(frozen=True)
class House:
    """An address that a server knows, and where it puts it (degrees)."""

    number: str
    name: str
    suffix: str
    city: str
    zip_code: str
    lon: float
    lat: float
    kind: str = "PointAddress"
    score: float = 100.0

    @property
    def street(self) -> str:
        return f"{self.number} {self.name} {self.suffix}".strip()

    @property
    def line(self) -> str:
        return f"{self.street}, {self.city}, NJ, {self.zip_code}"


# Sixty feet on either side of the line between the two municipalities.
CAMDEN_SIDE = House("1", "LINE", "RD", "CAMDEN", "08104", -75.0865500846311, 39.923696874449455)
COLLINGSWOOD_SIDE = House("1", "LINE", "RD", "COLLINGSWOOD", "08108", -75.08631409908728, 39.92342207149239)

NEWARK_HALL = House("920", "BROAD", "ST", "NEWARK", "07102", -74.17349, 40.73186)
LIVINGSTON = House("33", "LIVINGSTON", "AVE", "NEW BRUNSWICK", "08901", -74.44513, 40.49297)
_SHORT = {"STREET": "ST", "AVENUE": "AVE", "ROAD": "RD"}
HOUSES = (CAMDEN_SIDE, COLLINGSWOOD_SIDE, NEWARK_HALL, LIVINGSTON)


class GeocodingServer(LoopbackServer):
    """What the three have in common: houses, rules, and forms with files."""

    def __init__(self, houses: tuple[House, ...] = HOUSES) -> None:
        self.houses = houses
        self.rules: list[Callable[[Asked], Answer | None]] = []
        super().__init__()

    def serve(self, handler: BaseHTTPRequestHandler, form: str) -> None:
        kind = handler.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            parts = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n{form}".encode())
            fields = {
                str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True)
                for part in parts.get_payload()  # type: ignore[union-attr]
            }
            form = urlencode(fields)
        super().serve(handler, form)

    def answer(self, asked: Asked) -> Answer:
        for rule in self.rules:
            found = rule(asked)
            if found is not None:
                return found
        return self.honest(asked)

    def honest(self, asked: Asked) -> Answer:
        raise NotImplementedError

    def known(self, line: str) -> list[House]:
        """Return the houses of a line: its street, and the city where the line has one and a house is in it."""
        street, *rest = [part.strip().upper() for part in line.split(",")]
        street = " ".join(_SHORT.get(word, word) for word in street.split())
        found = [house for house in self.houses if house.street.upper() == street]
        cities = {house.city for house in found} & set(rest)
        return [house for house in found if not cities or house.city in cities]

    name = ""
    base = ""

    def settings(self, *, days: float = 30.0, **more: Any) -> Settings:
        """Return settings that ask this server only, quickly and without long waiting."""
        own = {"url": self.url + self.base, "allow_private": True, "rate_per_s": 100.0, "timeout_s": 5.0} | more
        return Settings.model_validate({"locators": [self.name], "cache_days": days, self.name: own})

    def locator(self, home: Path, *, days: float = 30.0, **more: Any) -> OnlineLocator:
        """Return the package's locator for this server, which keeps its answers in a folder."""
        (locator,) = online_locators(self.settings(days=days, **more), home=home)
        return locator


class CensusServer(GeocodingServer):
    """The Census Bureau's geocoder: `onelineaddress` in JSON, `addressbatch` in CSV."""

    name = "census"
    base = "/geocoder"

    def kind_of(self, path: str, _params: Mapping[str, str]) -> str:
        return path.rpartition("/")[2]

    def honest(self, asked: Asked) -> Answer:
        if asked.kind == "addressbatch":
            return self.batch(asked)
        line = asked.params.get("address", "")
        if not 0 < len(line) <= 100 or asked.params.get("benchmark") != "Public_AR_Current":
            words = ["Address cannot be empty and cannot exceed 100 characters"]
            return Answer.of({"errors": words, "status": "400"}, status=400)
        return Answer.of(self.document(line, [census_match(house) for house in self.known(line)]))

    def document(self, line: str, matches: list[dict[str, Any]]) -> dict[str, Any]:
        benchmark = {
            "isDefault": True,
            "benchmarkDescription": "Public Address Ranges - Current Benchmark",
            "id": "4",
            "benchmarkName": "Public_AR_Current",
        }
        asked = {"address": {"address": line}, "benchmark": benchmark}
        return {"result": {"input": asked, "addressMatches": matches}}

    def batch(self, asked: Asked) -> Answer:
        rows = []
        for number, street, city, state, zip_code in csv.reader(io.StringIO(asked.params["addressFile"])):
            said = f"{street}, {city}, {state}, {zip_code}"
            found = self.known(f"{street}, {city}")
            if len(found) == 1:
                house = found[0]
                exact = "Exact" if house.street == street.upper() else "Non_Exact"
                rows.append([number, said, "Match", exact, house.line, f"{house.lon},{house.lat}", "76225813", "L"])
            else:
                rows.append([number, said, "Tie" if found else "No_Match"])
        return csv_answer(rows[::-1])  # the service keeps no order


def csv_answer(rows: list[list[str]]) -> Answer:
    page = io.StringIO()
    csv.writer(page, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return Answer(page.getvalue().encode(), headers={"Content-Type": "text/csv;charset=UTF-8"})


def census_match(house: House) -> dict[str, Any]:
    low = int(house.number) // 100 * 100
    return {
        "tigerLine": {"side": "L", "tigerLineId": "76225813"},
        "coordinates": {"x": house.lon, "y": house.lat},
        "addressComponents": {
            "zip": house.zip_code,
            "streetName": house.name,
            "preType": "",
            "city": house.city,
            "preDirection": "",
            "suffixDirection": "",
            "fromAddress": str(low or 1),
            "state": "NJ",
            "suffixType": house.suffix,
            "toAddress": str(low + 98),
            "suffixQualifier": "",
            "preQualifier": "",
        },
        "matchedAddress": house.line,
    }


class NjServer(GeocodingServer):
    """A geocode service of ArcGIS Server: `findAddressCandidates` and `geocodeAddresses`."""

    name = "nj"
    base = "/arcgis/rest/services/Tasks/NJ_Geocode/GeocodeServer"
    most = 1000
    takes_many = True

    def kind_of(self, path: str, _params: Mapping[str, str]) -> str:
        return path.rpartition("/")[2]

    def honest(self, asked: Asked) -> Answer:
        if asked.kind == "geocodeAddresses":
            if not self.takes_many:
                return esri_error(400, "Unable to complete operation.")
            records = json.loads(asked.params["addresses"])["records"][: self.most]
            located = [self.located(one["attributes"]["OBJECTID"], one["attributes"]["SingleLine"]) for one in records]
            return Answer.of({"spatialReference": {"wkid": 4326, "latestWkid": 4326}, "locations": located})
        return Answer.of(self.document([candidate(house) for house in self.known(asked.params["SingleLine"])]))

    def document(self, candidates: list[dict[str, Any]], *, wkid: int = 4326) -> dict[str, Any]:
        return {"spatialReference": {"wkid": wkid, "latestWkid": wkid}, "candidates": candidates}

    def located(self, number: int, line: str) -> dict[str, Any]:
        found = self.known(line)
        if not found:
            attributes = {
                "ResultID": number,
                "Loc_name": "",
                "Status": "U",
                "Score": 0,
                "Match_addr": "",
                "Addr_type": "",
            }
            return {"address": "", "location": {"x": "NaN", "y": "NaN"}, "score": 0, "attributes": attributes}
        one = candidate(found[0])
        status = "T" if len(found) > 1 else "M"
        return {**one, "attributes": {**one["attributes"], "ResultID": number, "Status": status}}


def candidate(house: House) -> dict[str, Any]:
    attributes = {
        "Loc_name": "Address_Points",
        "Status": "M",
        "Score": house.score,
        "Match_addr": house.line,
        "Addr_type": house.kind,
        "AddNum": house.number,
        "StName": house.name,
        "StType": house.suffix,
        "City": house.city,
        "Region": "New Jersey",
        "RegionAbbr": "NJ",
        "Postal": house.zip_code,
    }
    box = {"xmin": house.lon - 0.001, "ymin": house.lat - 0.001, "xmax": house.lon + 0.001, "ymax": house.lat + 0.001}
    return {
        "address": house.line,
        "location": {"x": house.lon, "y": house.lat},
        "score": house.score,
        "attributes": attributes,
        "extent": box,
    }


def esri_error(code: int, message: str) -> Answer:
    return Answer.of({"error": {"code": code, "message": message, "details": []}})


class NominatimServer(GeocodingServer):
    """Nominatim's `/search` in the format `jsonv2`."""

    name = "nominatim"

    def honest(self, asked: Asked) -> Answer:
        if not asked.params.get("q"):
            return Answer.of({"error": {"code": 400, "message": "Nothing to search for."}}, status=400)
        return Answer.of([entry(house) for house in self.known(asked.params["q"])])


def entry(house: House, **more: Any) -> dict[str, Any]:
    """Return an entry for a house that is mapped as a node; `more` changes it."""
    name = f"{house.name.title()} {house.suffix.title()}"
    shown = f"{house.number}, {name}, {house.city.title()}, New Jersey, {house.zip_code}, United States"
    return {
        "place_id": 324567,
        "licence": "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
        "osm_type": "node",
        "osm_id": 2627272,
        "lat": str(house.lat),
        "lon": str(house.lon),
        "category": "place",
        "type": "house",
        "place_rank": 30,
        "importance": 0.0000735,
        "addresstype": "place",
        "name": "",
        "display_name": shown,
        "address": {
            "house_number": house.number,
            "road": name,
            "city": house.city.title(),
            "state": "New Jersey",
            "ISO3166-2-lvl4": "US-NJ",
            "postcode": house.zip_code,
            "country": "United States",
            "country_code": "us",
        },
        "boundingbox": [
            str(house.lat - 0.00005),
            str(house.lat + 0.00005),
            str(house.lon - 0.00005),
            str(house.lon + 0.00005),
        ],
        **more,
    }
