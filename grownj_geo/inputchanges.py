"""What an answer rests on that is other now than in a record, and how to put back the one or take the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from grownj_geo.determination import software
from grownj_geo.manifest import load_manifests
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grownj_geo.determination import Determination, LayerRecord
    from grownj_geo.determine import Engine
    from grownj_geo.kept import Kept
    from grownj_geo.rerun import Setting
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import FactValue, Site

__all__ = [
    "Factor",
    "InputChange",
    "as_of_factor",
    "fact_factors",
    "known_readings",
    "layer_factors",
    "reading_factors",
    "rulebook_factor",
    "software_factor",
    "unnamed",
]


class InputChange(Strict):
    """Something that answers rest on and that is other now than in the record.

    Attributes
    ----------
    id
        What differences name it by: ``layer:planning_areas``, ``rulebook``, ``as_of``, ``reading:A11``,
        ``fact:structure_exists``, ``software``.
    at_hand
        Whether what the record says could be put back: then its effect is known by trying.
    """

    id: str
    kind: Literal["layer", "rulebook", "as_of", "reading", "fact", "software"]
    was: str
    now: str
    words: str
    at_hand: bool


@dataclass(frozen=True)
class Factor:
    """An input change, and how a setting gets what is now, or what was."""

    change: InputChange
    renew: Callable[[Setting], Setting]
    restore: Callable[[Setting], Setting]


def known_readings(readings: Mapping[str, str]) -> dict[str, str]:
    """Return the readings that this version can still choose."""
    known = load_readings()
    return {i: option for i, option in readings.items() if i in known and option in known[i].options}


def layer_factors(
    recorded: Determination,
    engine: Engine,
    new: Setting,
    *,
    stored: Mapping[str, str],
    day_took: Mapping[str, str],
) -> list[Factor]:
    """Return the layers that are other than recorded.

    Parameters
    ----------
    recorded, engine, new
        The record, and what asks its question now.
    stored
        Checksum of every edition in the store, by its name.
    day_took
        Which edition of each layer the recorded day takes today.
    """
    then = {layer.id: layer for layer in recorded.layers}
    sources_now = dict(new.conditions.sources or ())
    factors = []
    for layer in engine.layer_records:
        was = then.get(layer.id)
        before = ("missing", None, None) if was is None else (was.status, was.sha256, was.stored)
        if before == (layer.status, layer.sha256, layer.stored) or layer.id not in sources_now:
            continue
        source = _source_then(was, layer, stored)
        by_day = recorded.as_of != new.conditions.as_of and source is not None and day_took.get(layer.id) == source
        change = InputChange(
            id=f"layer:{layer.id}",
            kind="layer",
            was=_layer_words(was),
            now=_layer_words(layer),
            words=f"{layer.title}: {_layer_words(layer)}, was {_layer_words(was)}"
            + (" (each is what its day takes)" if by_day else ""),
            at_hand=source is not None,
        )
        factors.append(_layer_factor(change, layer.id, source or sources_now[layer.id], sources_now[layer.id]))
    return factors


def _source_then(was: LayerRecord | None, now: LayerRecord, stored: Mapping[str, str]) -> str | None:
    """Return the edition that a record used, where it is still at hand."""
    manifest = load_manifests()[now.id]
    if was is None or was.status == "missing":
        # What ships cannot be left out: a version without it made the record.
        return None if manifest.ships else "none"
    if was.status == "unusable":
        return None
    if was.stored is not None:
        return was.stored if stored.get(was.stored) == was.sha256 else None
    return "shipped" if manifest.ships and manifest.sha256 == was.sha256 else None


def rulebook_factor(kept: Kept, now: Rulebook, now_book: str, then_book: str | None) -> list[Factor]:
    """Return the rulebook, where it is other than recorded.

    Parameters
    ----------
    kept
        The record.
    now, now_book
        The rulebook that is applied now, and its checksum.
    then_book
        Checksum of the recorded one, where it is at hand.
    """
    recorded = kept.determination.rulebook
    if now_book == recorded.sha256:
        return []
    what = "" if kept.rulebook is None else _rulebook_changes(kept.rulebook, now)
    change = InputChange(
        id="rulebook",
        kind="rulebook",
        was=f"{recorded.id} {recorded.version} ({recorded.sha256[:12]})",
        now=f"{now.id} {now.version} ({now_book[:12]})",
        words=f"Rulebook {now.id}: version {now.version} ({now_book[:12]}), was {recorded.version} "
        f"({recorded.sha256[:12]}){what}",
        at_hand=then_book is not None,
    )
    then = then_book or now_book
    return [
        Factor(
            change,
            lambda s: replace(s, conditions=replace(s.conditions, book=now_book)),
            lambda s: replace(s, conditions=replace(s.conditions, book=then)),
        )
    ]


def _layer_words(layer: LayerRecord | None) -> str:
    if layer is None or layer.status == "missing":
        return "not loaded"
    if layer.status == "unusable":
        return "not usable"
    edition = "undated" if layer.edition is None else str(layer.edition)
    name = layer.stored.partition("@")[2] if layer.stored else f"what ships, edition {edition}"
    return f"{name} ({(layer.sha256 or '')[:12]})"


def _layer_factor(change: InputChange, layer_id: str, then: str, now: str) -> Factor:
    return Factor(
        change,
        lambda s: replace(s, conditions=s.conditions.source(layer_id, now)),
        lambda s: replace(s, conditions=s.conditions.source(layer_id, then)),
    )


def as_of_factor(recorded: Determination, new: Setting) -> list[Factor]:
    """Return the day, where it is other than recorded."""
    was, now = recorded.as_of, new.conditions.as_of
    if was == now:
        return []
    change = InputChange(
        id="as_of", kind="as_of", was=str(was), now=str(now), words=f"As of {now}, was {was}", at_hand=True
    )
    return [
        Factor(
            change,
            lambda s: replace(s, conditions=replace(s.conditions, as_of=now)),
            lambda s: replace(s, conditions=replace(s.conditions, as_of=was)),
        )
    ]


def reading_factors(kept: Kept, new: Setting) -> list[Factor]:
    """Return the readings that are other than recorded, chosen or by default."""
    now = resolve_readings(dict(new.conditions.readings))
    then = kept.determination.readings
    factors = []
    known = load_readings()
    # A record may name a reading that this version does not know, whatever it is called.
    names = [name for name in known if name in then or (name in now and known[name].kind == "option")]
    for name in [*names, *sorted(then.keys() - known.keys())]:
        was, option = then.get(name), now.get(name)
        if was == option:
            continue
        at_hand = bool(known_readings({name: was})) if was is not None else False
        words = f"Reading {name}: {option or 'no longer known'}, was {was or 'not yet known'}"
        change = InputChange(
            id=f"reading:{name}",
            kind="reading",
            was=was or "",
            now=option or "",
            words=words,
            at_hand=at_hand,
        )
        factors.append(_reading_factor(change, name, was if at_hand else option, option))
    return factors


def _reading_factor(change: InputChange, name: str, was: str | None, now: str | None) -> Factor:
    return Factor(
        change,
        lambda s: replace(s, conditions=s.conditions.reading(name, now)),
        lambda s: replace(s, conditions=s.conditions.reading(name, was)),
    )


def fact_factors(site: Site, new: Setting) -> list[Factor]:
    """Return the facts that are stated now and were not, or otherwise."""
    now = dict(new.facts)
    factors = []
    for name in sorted(now):
        was = site.facts.get(name)
        if name in site.facts and was == now[name]:
            continue
        words = f"Fact {name}: {_fact_words(now[name])}, was {_fact_words(was)}"
        change = InputChange(
            id=f"fact:{name}",
            kind="fact",
            was=_fact_words(was),
            now=_fact_words(now[name]),
            words=words,
            at_hand=True,
        )
        factors.append(_fact_factor(change, name, was, now[name]))
    return factors


def _fact_factor(change: InputChange, name: str, was: FactValue | None, now: FactValue) -> Factor:
    def stated(setting: Setting, value: FactValue | None) -> Setting:
        kept = {n: v for n, v in setting.facts if n != name} | ({} if value is None else {name: value})
        return replace(setting, facts=tuple(sorted(kept.items())))

    return Factor(change, lambda s: stated(s, now), lambda s: stated(s, was))


def _fact_words(value: FactValue | None) -> str:
    if value is None:
        return "not stated"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value}"


def software_factor(recorded: Determination) -> list[Factor]:
    """Return the version of this package, where another made the record."""
    if recorded.software == software():
        return []
    words = f"Software: {software()}, was {recorded.software}"
    change = InputChange(
        id="software", kind="software", was=recorded.software, now=software(), words=words, at_hand=False
    )
    return [Factor(change, lambda s: s, lambda s: s)]


def unnamed(*, sealed: bool) -> InputChange:
    """Return the cause of what nothing named explains."""
    words = "the code or the definitions of this package, though its version is the same"
    if not sealed:
        words += ", or the record was edited by hand (it has no checksum)"
    return InputChange(id="software", kind="software", was=software(), now=software(), words=words, at_hand=False)


def _rulebook_changes(old: Rulebook, new: Rulebook) -> str:
    """Return which figures and categories differ, in words."""
    parts = []
    for name in sorted({*old.parameters, *new.parameters}):
        was, now = old.parameters.get(name), new.parameters.get(name)
        if was is None or now is None:
            parts.append(f"figure {name} {'added' if was is None else 'removed'}")
        elif was != now:
            values = [", ".join(str(v.value) for v in p.values) for p in (was, now)]
            parts.append(f"figure {name}" + (f" {values[1]}, was {values[0]}" if values[0] != values[1] else ""))
    before, after = ({c.id: c for c in book.categories} for book in (old, new))
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            verb = "added" if name not in before else "removed" if name not in after else "changed"
            parts.append(f"category {name} {verb}")
    return f" ({'; '.join(parts)})" if parts else ""
