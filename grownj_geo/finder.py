"""From anything that names a place to a site: what `locate` reads, block and lot, and addresses by the user's locators.

Parcel numbers get the outlines of the parcels that are loaded. Addresses are asked for as `asking` says. Without an
online locator, which the user has to switch on, nothing leaves this machine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import shapely

from grownj_geo.asking import Asker, Names, Sources
from grownj_geo.errors import NoPlaceError, SiteError
from grownj_geo.found import Found, UnsettledSiteError, feet_words
from grownj_geo.locate import locate
from grownj_geo.pins import match_municipality, parse_pins
from grownj_geo.site import Site
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from grownj_geo.atlas import Atlas
    from grownj_geo.found import Form, TypedAddress
    from grownj_geo.locator import Match
    from grownj_geo.parcel import Parcel
    from grownj_geo.parcelstore import ParcelStore

__all__ = ["Finder", "Sources"]

_NOWHERE = Sources()
_STATE_AT_END = re.compile(r"[\s,]+(?:NJ|N\.J\.|New Jersey)\s*$", re.IGNORECASE)


class Finder:
    """Finds sites by whatever names them.

    Parameters
    ----------
    atlas
        The layers of a day: its municipalities name places and say where points lie.
    sources
        Where to look, or what gives it when it is first wanted; nowhere by default.
    every_locator
        Ask all locators even where one has settled the place, and say how far apart they are.

    Examples
    --------
    >>> from grownj_geo.atlas import load_atlas
    >>> finder = Finder(load_atlas())
    >>> found = finder.find("Camden City block 81 lot 1")
    >>> found.form, found.site.pins, found.site.mun_code
    ('lot', ('0408_81_1',), '0408')
    """

    def __init__(
        self, atlas: Atlas, sources: Sources | Callable[[], Sources] = _NOWHERE, *, every_locator: bool = False
    ) -> None:
        self._atlas = atlas
        self._directory = Names(atlas)
        self._given = sources
        self._every = every_locator

    @classmethod
    def at_home(cls, atlas: Atlas, *, home: str | PathLike[str] | None = None, every_locator: bool = False) -> Finder:
        """Return a finder with the user's own parcels and the locators of the user's settings.

        Nothing is opened before a text asks for it: coordinates never wait for a database.

        Parameters
        ----------
        atlas, every_locator
            As for `Finder`.
        home
            The folder of the user's data; the usual one by default.
        """
        from grownj_geo.sources import sources_at_home  # noqa: PLC0415 - only where it is used

        return cls(atlas, lambda: sources_at_home(atlas, home), every_locator=every_locator)

    @cached_property
    def sources(self) -> Sources:
        """Where places are looked for."""
        return self._given if isinstance(self._given, Sources) else self._given()

    @cached_property
    def asker(self) -> Asker:
        """Who is asked for addresses."""
        return Asker(self._atlas, self.sources, every_locator=self._every)

    @property
    def looks_up(self) -> bool:
        """Whether addresses can be looked up at all."""
        return bool(self.sources.locators)

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Name and county by municipal code."""
        return self._directory.names

    # -- one place ------------------------------------------------------------------------------------

    def site(self, text: str, **said: Any) -> Site:  # noqa: ANN401 - what `find` takes
        """Return the site that a text names; takes what `find` takes.

        Raises
        ------
        UnsettledSiteError
            Where it may be one of several places that have no site in common, or where nobody knows it.
        SiteError
            As `find`.
        """
        found = self.find(text, **said)
        if found.site is None:
            raise UnsettledSiteError(self.words_of(found), found)
        return found.site

    def find(
        self,
        text: str,
        *,
        crs: str | None = None,
        uncertainty_ft: float = 0.0,
        pin: str | None = None,
        municipality: str | None = None,
        at: str | None = None,
        files: bool = True,
    ) -> Found:
        """Return what a text that names a place comes to.

        Parameters
        ----------
        text
            Whatever `locate` takes, block and lot with their municipality, or an address.
        crs, pin, municipality, files
            As for `locate`.
        uncertainty_ft
            How far the true place may be from the one given or found, in feet; where a locator's own figure is more,
            that counts.
        at
            Where the user has moved the place to, as coordinates: that is the site then, and what was typed and where
            that was found stay on record.

        Raises
        ------
        OutsideNewJerseyError
            Where the place is plainly not in New Jersey.
        SiteError
            For what cannot be read without guessing; a post office box among it.
        """
        stated: dict[str, Any] = {"uncertainty_ft": uncertainty_ft, "pin": pin, "municipality": municipality}
        if at is not None:
            return self._moved(text, at, crs=crs, files=files, **stated)
        try:
            site = locate(text, crs=crs, directory=self._directory, files=files, **stated)
        except NoPlaceError:
            return self._words(text, crs, **stated)
        form: Form = "geometry"
        if site.located_by.startswith("coordinates"):
            form = "coordinates"
        elif site.geometry is None:
            form = "pin" if site.mun_basis == "pin" else "municipality"
        return self._outlined(text, form, site)

    def _words(
        self, text: str, crs: str | None, *, uncertainty_ft: float, pin: str | None, municipality: str | None
    ) -> Found:
        """Read words: block and lot, or an address."""
        from grownj_geo.parcellot import parse_lot  # noqa: PLC0415 - only where there are words

        if crs is not None:
            raise SiteError(
                f"--crs {crs} was given with words alone: a CRS belongs to coordinates, and there are none. Expected "
                "coordinates in that system; give them, or leave --crs out."
            )
        stated: dict[str, Any] = {"uncertainty_ft": uncertainty_ft, "pin": pin, "municipality": municipality}
        lot = parse_lot(text, self._directory)
        if lot is not None:
            number, notes = lot
            site = locate(str(number), directory=self._directory, **stated)
            read = replace(site, typed=text, located_by="block and lot", notes=(*notes, *site.notes))
            return self._outlined(text, "lot", read)
        if pin is None and municipality is None:
            code, notes = self._municipality_alone(text)
            if code is not None:
                site = locate("", directory=self._directory, uncertainty_ft=uncertainty_ft, municipality=code)
                site = replace(site, typed=text, located_by="name of a municipality", notes=(*notes, *site.notes))
                return Found(text, "municipality", site, notes=site.notes)
        typed = self.asker.address(text)
        if municipality is not None and typed.place not in {"named", "conflict"}:
            code = match_municipality(municipality, self._directory)[0]
            name = self._directory.names[code][0]
            query = replace(typed.query, mun_codes=(code,), city=typed.query.city or name)
            typed = replace(typed, query=query, place="named", notes=())
        (found,) = self.asker.look_up([typed], bulk=False)
        return self._with_stated(found, **stated)

    def _municipality_alone(self, text: str) -> tuple[str | None, tuple[str, ...]]:
        """Return the municipality where a text is the name of one and no more, and notes; None for any other text.

        Raises
        ------
        SiteError
            For a name that several have, or that is a county's as well; the message lists them.
        """
        name = _STATE_AT_END.sub("", text).strip()
        if not name or any(sign.isdigit() for sign in name):
            return None, ()
        try:
            return match_municipality(name, self._directory)
        except SiteError:
            begun = name.casefold()
            if any(f"{full.casefold()} ".startswith(f"{begun} ") for full, _ in self.names.values()):
                raise
            return None, ()

    # -- many addresses -------------------------------------------------------------------------------

    def address(self, text: str) -> TypedAddress:
        """Return an address as `find_many` takes it; see `Asker.address`."""
        return self.asker.address(text)

    def find_many(
        self, addresses: Sequence[TypedAddress], *, progress: Callable[[str, int, int], None] | None = None
    ) -> list[Found]:
        """Return what addresses come to, each locator asked for all that are still open at once.

        A locator that gave no answer to any of them is not asked again by this finder.

        Parameters
        ----------
        addresses
            As `address` reads them.
        progress
            Called with a locator's name, how many addresses it has been asked for, and how many it is asked for.
        """
        return self.asker.look_up(addresses, bulk=True, progress=progress) if addresses else []

    def find_loaded(self, addresses: Sequence[TypedAddress]) -> list[Found]:
        """Return what addresses come to by what is loaded on this machine alone; see `find_many`."""
        here = tuple(locator for locator in self.sources.locators if not locator.online)
        return Finder(self._atlas, self.sources._replace(locators=here)).find_many(addresses)

    def words_of(self, found: Found) -> str:
        """Return why a text has no site: what was found, what was expected, what to do."""
        return self.asker.words_of(found)

    # -- parcels --------------------------------------------------------------------------------------

    def _outlined(self, text: str, form: Form, site: Site) -> Found:
        """Give a site that is known by its parcels alone their outlines, where they are loaded."""
        if site.geometry is None and site.pins and self.sources.store is not None:
            outline, notes = self.outline_of(site.pins)
            by = f"{site.located_by}, by the outline of the loaded parcels" if outline is not None else site.located_by
            typed = site
            site = replace(site, geometry=outline, located_by=by, notes=tuple(dict.fromkeys((*site.notes, *notes))))
            choices = self._places(site.pins[0]) if outline is None and len(site.pins) == 1 else ()
            if choices:
                return Found(text, form, _shared(typed, choices, site.notes), choices=choices, notes=site.notes)
        return Found(text, form, site, notes=site.notes)

    def _places(self, pin: str) -> tuple[Match, ...]:
        """Return the places of a parcel number whose outlines do not touch; none where there is one, or none."""
        from grownj_geo.locator import Match  # noqa: PLC0415 - only where there are several
        from grownj_geo.parcelgrounds import apart_words, grounds_of  # noqa: PLC0415 - same

        parcels = () if self.sources.store is None else self.sources.store.by_pin(pin)
        grounds = grounds_of(parcels)
        if len(grounds) < 2:  # noqa: PLR2004 - one place is no choice
            return ()
        first, words = parcels[0], apart_words(pin, parcels, grounds)
        inside = [shapely.point_on_surface(ground) for ground in grounds]
        return tuple(
            Match(
                locator="local",
                matched=first.address or pin,
                score=1.0,
                kind="parcel",
                x_ft=point.x,
                y_ft=point.y,
                uncertainty_ft=0.0,
                mun_code=first.mun_code,
                pin=first.pin,
                geometry=ground,
                notes=(words,),
            )
            for point, ground in zip(inside, grounds, strict=True)
        )

    def ground_of(self, pins: Sequence[str]) -> tuple[shapely.Geometry | None, float, str, tuple[str, ...]]:
        """Return the ground of parcels as `find` has it for their numbers, without the choices.

        Parameters
        ----------
        pins
            Parcel numbers that make up one site.

        Returns
        -------
        tuple of (shapely.Geometry or None, float, str, tuple of str)
            Outline or point in EPSG:3424, how far the true place may be from it in feet, how it became a place (empty
            where it did not), and notes.
        """
        outline, notes = self.outline_of(pins)
        if outline is not None:
            return outline, 0.0, ", by the outline of the loaded parcels", notes
        choices = self._places(pins[0]) if len(pins) == 1 else ()
        if not choices:
            return None, 0.0, "", notes
        number = Site(typed="", located_by="", mun_code=choices[0].mun_code, mun_basis="pin", pins=tuple(pins))
        shared = _shared(number, choices, ())
        how = shared.located_by if shared.geometry is not None else ""
        return shared.geometry, shared.uncertainty_ft, how, notes

    def outline_of(self, pins: Sequence[str]) -> tuple[shapely.Geometry | None, tuple[str, ...]]:
        """Return the ground of parcels in EPSG:3424, and notes; no ground where that of any of them is not known.

        A lot without an outline has the one that all of its units have. A number whose outlines do not touch has none.

        Parameters
        ----------
        pins
            Parcel numbers that make up one site.
        """
        from grownj_geo.parcelgrounds import apart_words, grounds_of  # noqa: PLC0415 - only where parcels are loaded

        store = self.sources.store
        if store is None:
            return None, ()
        shapes: dict[bytes, shapely.Geometry] = {}
        notes: list[str] = []
        lacking: list[str] = []
        for pin in pins:
            parcels = store.by_pin(pin)
            grounds = grounds_of(parcels)
            outline, words = (None, "") if grounds else _of_units(store, pin)
            if outline is not None:
                notes.append(words)
                shapes[outline.wkb] = outline
                continue
            drawn = [parcel.geometry for parcel in parcels if parcel.geometry is not None]
            notes += [f"{pin}: {note}" for parcel in parcels for note in parcel.notes]
            if not parcels:
                notes.append(_not_loaded(store, pin))
            elif drawn and len(drawn) < len(parcels):
                notes.append(f"{pin}: {len(parcels) - len(drawn)} of its {len(parcels)} records have no outline.")
            if len(grounds) > 1:
                notes.append(apart_words(pin, parcels, grounds))
            if len(grounds) != 1:
                lacking.append(pin)
            shapes |= {shape.wkb: shape for shape in grounds}
        told = tuple(dict.fromkeys(notes))
        if lacking:
            some = f"The outline of {', '.join(lacking)} is not known, so that the place of the whole site is not."
            return None, (*told, *([some] if shapes and len(pins) > 1 else []))
        # One outline stays as it came, to the last bit.
        ground, *more = shapes.values()
        return (shapely.union_all([ground, *more]) if more else ground), told

    # -- what the user says beside an address ---------------------------------------------------------

    def _with_stated(self, found: Found, *, uncertainty_ft: float, pin: str | None, municipality: str | None) -> Found:
        """Put what the user states beside an address to its site."""
        site = found.site
        if site is None:
            return found
        notes = list(site.notes)
        if uncertainty_ft > site.uncertainty_ft:
            site = replace(site, uncertainty_ft=uncertainty_ft)
        elif uncertainty_ft:
            notes.append(
                f"{feet_words(uncertainty_ft)} of uncertainty were stated; {feet_words(site.uncertainty_ft)} count, "
                "to which such a place is known."
            )
        if pin is not None:
            stated, more = parse_pins(pin, self._directory)
            notes += more
            if site.pins and set(site.pins) != set(map(str, stated)):
                raise SiteError(
                    f"The address was found on the parcel {', '.join(site.pins)}, and --pin names "
                    f"{', '.join(map(str, stated))}. Expected one parcel; correct either."
                )
            site = replace(site, pins=tuple(map(str, stated)), mun_code=stated[0].mun_code, mun_basis="pin")
        if municipality is not None:
            code, more = match_municipality(municipality, self._directory)
            notes += more
            if site.mun_code not in {None, code}:
                raise SiteError(
                    f"The address was found in {self.asker.name(str(site.mun_code))}, and the municipality was stated "
                    f"as {self.asker.name(code)}. Expected one municipality; correct either."
                )
            site = replace(site, mun_code=code, mun_basis=site.mun_basis or "stated")
        return replace(found, site=replace(site, notes=tuple(dict.fromkeys(notes))))

    # -- a place that the user has moved --------------------------------------------------------------

    def _moved(self, text: str, at: str, *, crs: str | None, files: bool, **stated: Any) -> Found:  # noqa: ANN401
        """Return the place to which the user has moved what was typed, with both on record."""
        place = locate(at, directory=self._directory, files=False, **stated)
        if not place.located_by.startswith("coordinates") or place.geometry is None or place.lonlat is None:
            raise SiteError(
                f"--at was read as {at[:80]!r}; expected where the place was moved to, as latitude and longitude: --at "
                "40.7344,-74.1641."
            )
        if not text.strip():
            return Found(at, "coordinates", place, notes=place.notes)
        before: Found | None = None
        try:
            before = self.find(text, crs=crs, files=files)
            words = self._before_words(before, place.geometry)
        except SiteError as error:
            words = f"As typed it was not located: {error}"
        lon, lat = place.lonlat
        site = replace(
            place,
            typed=text,
            located_by=f"coordinates, set by hand at {lat:.6f},{lon:.6f}",
            notes=tuple(dict.fromkeys((*place.notes, words))),
        )
        if before is None:
            return Found(text, "coordinates", site, notes=site.notes)
        return Found(text, before.form, site, notes=site.notes, asked=before.asked)

    def _before_words(self, before: Found, moved_to: shapely.Geometry) -> str:
        """Return where what was typed had been located before it was moved."""
        site = before.site
        if site is None:
            return f"As typed it was not located: {self.words_of(before)}"
        if site.geometry is None or site.lonlat is None:
            return f"As typed only its municipality was known ({site.located_by})."
        away = float(shapely.distance(site.geometry, moved_to)) * FT_PER_FTUS
        lon, lat = site.lonlat
        return (
            f"As typed it was located at {lat:.6f},{lon:.6f} ({site.located_by}); it was moved by hand by "
            f"{feet_words(away)}."
        )


def _shared(site: Site, choices: tuple[Match, ...], notes: tuple[str, ...]) -> Site:
    """Return what holds for every place of a parcel number: the circle around them, or its municipality."""
    from grownj_geo.settling import shared_site  # noqa: PLC0415 - only where there are several

    shared = shared_site(choices, typed=site.typed, uncertainty_ft=site.uncertainty_ft)
    if shared is None:
        return replace(site, notes=notes)
    by = f"{site.located_by}: {shared.located_by.removeprefix('address: ')}"
    return replace(site, geometry=shared.geometry, uncertainty_ft=shared.uncertainty_ft, located_by=by, notes=notes)


def _of_units(store: ParcelStore, pin: str) -> tuple[shapely.Geometry | None, str]:
    """Return the outline of a lot that all of its units have, and words for it; None where there is none such."""
    from grownj_geo.parcelgrounds import outline_of_units, units_words  # noqa: PLC0415 - only where it is used

    code, block, lot, *qualifier = pin.split("_")
    if qualifier:
        return None, ""
    units = tuple(unit for unit in store.by_lot(code, block, lot) if unit.qualifier)
    outline = outline_of_units(units)
    if outline is None:
        return None, ""
    count = len({unit.pin for unit in units})
    words = f"{pin} has no outline of its own; its {count:,} units have one and the same, which is the lot's"
    return outline, f"{words}: {units_words(units)}."


def _not_loaded(store: ParcelStore, pin: str) -> str:
    from grownj_geo.parcelgrounds import units_words  # noqa: PLC0415 - only where it is used

    code, block, lot, *_ = pin.split("_")
    same: tuple[Parcel, ...] = store.by_lot(code, block, lot)
    others = units_words(same)
    if not others and not store.has_parcels_of(code):
        # Of a municipality that is not loaded nothing is known, and so not that there is no such lot.
        return (
            f"No parcels of the municipality of {pin} are loaded ({store.edition.name}); nothing is known of its lots."
        )
    words = f"{pin} is not among the loaded parcels ({store.edition.name})"
    return f"{words}; of the same lot there are {others}." if others else f"{words}."
