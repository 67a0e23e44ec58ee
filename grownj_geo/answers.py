"""What many sites come to, as columns: one row for each site, in the words of the record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from grownj_geo.bulk import evaluate_many
from grownj_geo.bulkmeasure import some
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Cause, Outcome
from grownj_geo.place import PlacementKind
from grownj_geo.sharewords import are_cut, share_words
from grownj_geo.values import ANSWER, LEANING, STRICT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.bulk import Findings
    from grownj_geo.cells import CellIndex
    from grownj_geo.determine import Engine
    from grownj_geo.rulebook import Tier
    from grownj_geo.site import FactValue
    from grownj_geo.sitetable import SiteTable

__all__ = [
    "AnswerColumn",
    "Answers",
    "Coded",
    "ManyAnswers",
    "answer_columns",
    "answers_many",
    "answers_of",
    "atlas_mark",
    "columns_of",
    "rulebook_mark",
]

Detail = Literal["brief", "full"]

MARGIN_LIMIT_FT = 500.0
"""Margins are exact up to here; beyond, only that they are wider is said."""

_WORDS = np.array([Outcome.NO.value, Outcome.UNDETERMINED.value, Outcome.YES.value], dtype=object)
_LEANS = np.array([Outcome.NO.value, None, Outcome.YES.value], dtype=object)


@dataclass(frozen=True, eq=False)
class Answers:
    """The findings of n sites in c categories.

    Attributes
    ----------
    categories
        Their ids, in the rulebook's order; building blocks (kind ``"ground"``) are left out.
    outcomes
        Shape (3, c, n): the answer, the answer if what is near a line fell where it leans, the answer without
        assumptions; 1 is yes, -1 no, 0 undetermined.
    margins_ft
        Shape (c, n): feet by which the deciding line is missed (negative) or cleared; NaN where no line decides.
    causes
        Shape (c, n): flags of `Cause` where the answer is undetermined, else 0.
    floors, ceilings
        Shape (2, n): the position among the lines of the base amount, highest first, of the one surely reached, and of
        the highest not out of reach; with and without assumptions; -1 for none.
    """

    categories: tuple[str, ...]
    outcomes: NDArray[np.int8]
    margins_ft: NDArray[np.float64]
    causes: NDArray[np.int32]
    floors: NDArray[np.int64]
    ceilings: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of sites."""
        return int(self.outcomes.shape[2])


@dataclass(frozen=True)
class AnswerColumn:
    """A column of the answer: its name, what it holds, and what it means."""

    name: str
    type: Literal["text", "integer", "number", "boolean"]
    meaning: str


def answers_of(engine: Engine, leaves: Leaves) -> Answers:
    """Evaluate every category for all sites of a table.

    Parameters
    ----------
    engine
        The rulebook with its day and readings.
    leaves
        Computes the clauses that look at the world, for n sites.
    """
    run = Evaluation(engine.bound, leaves, keep=False)
    categories = tuple(_asked(engine))
    n = leaves.n
    outcomes = np.empty((3, len(categories), n), dtype=np.int8)
    margins = np.full((len(categories), n), np.nan)
    causes = np.zeros((len(categories), n), dtype=np.int32)
    for row, category in enumerate(categories):
        values = run.category(category)
        outcomes[:, row] = values.outcomes
        causes[row] = values.causes
        if values.margin_ft is not None:
            margins[row] = values.margin_ft
    floors, ceilings = _tiers(lambda category: run.category(category).outcomes, _lines(engine), n)
    return Answers(categories, outcomes, margins, causes, floors, ceilings)


class Coded(NamedTuple):
    """A column of n values of which many are equal.

    Attributes
    ----------
    values
        The values, shape (k,).
    codes
        Which of them each row has, shape (n,).
    """

    values: NDArray[np.object_]
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ManyAnswers:
    """The answers of n sites, held once for all that are alike.

    Attributes
    ----------
    engine
        The rulebook with its day and readings.
    sites
        The sites.
    found
        Which sites are alike, and their margins.
    alike
        Columns in full detail, one value for each group of sites that are alike; margins and shares are not in them.
    cut
        Which groups are of parcels that a line may cut, of which each has shares of its own.
    """

    engine: Engine
    sites: SiteTable
    found: Findings
    alike: dict[str, NDArray[np.object_]]
    cut: NDArray[np.bool_]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Which sites lie outside New Jersey: their answers mean nothing. Shape (n,)."""
        return self._outside[self.found.group]

    @property
    def _outside(self) -> NDArray[np.bool_]:
        return np.asarray(self.alike["placement"] == PlacementKind.OUTSIDE.value)

    def columns(self, detail: Detail = "brief") -> dict[str, NDArray[np.object_]]:
        """Return the columns of `answer_columns`, n values each."""
        return {name: column.values[column.codes] for name, column in self.coded(detail).items()}

    def coded(self, detail: Detail = "brief") -> dict[str, Coded]:
        """Return the same columns with each value once for all sites that are alike."""
        group = self.found.group
        every = {column.name: Coded(self.alike[column.name], group) for column in answer_columns(self.engine, detail)}
        if detail == "full":
            for category in _asked(self.engine):
                every[f"{category}_margin_ft"] = _coded_margins(self.found.margin_ft(category))
            every["shares"] = self._coded_shares()
        return every

    def _coded_shares(self) -> Coded:
        """Return the shares of the parcels that are cut, measured for each by itself."""
        rows = np.flatnonzero(self.cut[self.found.group])
        words = share_words(Leaves(self.engine.bound, self.engine.atlas, some(self.sites, rows)))
        codes = np.zeros(len(self.found), dtype=np.int32)
        codes[rows] = 1 + np.arange(len(rows))
        return Coded(np.array([None, *words], dtype=object), codes)

    def tally(self) -> dict[str, Any]:
        """Return how many sites inside New Jersey came out how, in values that JSON has."""
        sites = np.bincount(self.found.group, minlength=len(self._outside))
        sites[self._outside] = 0
        outcomes: dict[str, dict[str, int]] = {}
        causes: Counter[str] = Counter()
        near = np.zeros(len(sites), dtype=bool)
        for category in _asked(self.engine):
            row = self.found.categories.index(category)
            counts = np.bincount(self.found.outcomes[ANSWER, row] + 1, weights=sites, minlength=len(_WORDS)).astype(int)
            outcomes[category] = {word: count for word, count in zip(_WORDS, counts.tolist(), strict=True) if count}
            flags, which = np.unique(self.found.causes[row], return_inverse=True)
            for flag, count in zip(flags.tolist(), np.bincount(which, weights=sites).astype(int).tolist(), strict=True):
                if count:
                    causes.update(dict.fromkeys(Cause(flag).words, count))
            near |= self.found.causes[row] & int(Cause.NEAR_LINE) != 0
        tiers: Counter[str] = Counter()
        if "base_floor" in self.alike:
            pairs = zip(self.alike["base_floor"], self.alike["base_ceiling"], strict=True)
            tiers = _counted(
                np.array([f"{floor or 0}-{ceiling or 0}" for floor, ceiling in pairs], dtype=object), sites
            )
        return {
            "outcomes": outcomes,
            "placements": _counted(self.alike["placement"], sites),
            "near_line": int(sites[near].sum()),
            "causes": causes,
            "tiers": tiers,
        }


def _counted(values: NDArray[np.object_], sites: NDArray[np.int64]) -> Counter[str]:
    """Count values with how many sites have each; nothing is not counted."""
    total: Counter[str] = Counter()
    for value, count in zip(values, sites.tolist(), strict=True):
        if value is not None and count:
            total[value] += count
    return total


def _asked(engine: Engine) -> list[str]:
    return [category.id for category in engine.rulebook.categories if category.kind != "ground"]


def answers_many(
    engine: Engine,
    sites: SiteTable,
    facts: Mapping[str, Sequence[FactValue | None]],
    *,
    index: CellIndex | None = None,
) -> ManyAnswers:
    """Answer for many sites, once for all that are alike: what `columns_of` says of each by itself.

    Parameters
    ----------
    engine
        The rulebook with its day and readings.
    sites
        The sites.
    facts
        Stated facts by name: one value for each site, None where it was not stated.
    index
        A cell index of the same atlas and rulebook.
    """
    found = evaluate_many(engine, sites, facts, index=index, margin_limit_ft=MARGIN_LIMIT_FT)
    alike: dict[str, NDArray[np.object_]] = {
        column.name: np.full(len(found.first), None, dtype=object) for column in answer_columns(engine, "full")
    }
    cut = np.zeros(len(found.first), dtype=bool)
    points = sites.points[found.first]
    groups = [rows for rows in (np.flatnonzero(points), np.flatnonzero(~points)) if len(rows)]
    for rows, leaves in zip(groups, found.leaves, strict=True):
        cut[rows] = are_cut(leaves)
        for name, values in _columns(engine, leaves, _of_groups(engine, found, rows), "full").items():
            alike[name][rows] = values
    return ManyAnswers(engine, sites, found, alike, cut)


def _of_groups(engine: Engine, found: Findings, rows: NDArray[np.int64]) -> Answers:
    """Return the answers of some groups of sites that are alike, without margins."""
    at = {category: number for number, category in enumerate(found.categories)}
    categories = tuple(_asked(engine))
    wanted = [at[category] for category in categories]
    floors, ceilings = _tiers(lambda category: found.outcomes[:, at[category], rows], _lines(engine), len(rows))
    return Answers(
        categories,
        found.outcomes[:, wanted][:, :, rows],
        np.full((len(categories), len(rows)), np.nan),
        found.causes[wanted][:, rows],
        floors,
        ceilings,
    )


def _lines(engine: Engine) -> list[Tier]:
    """Return the lines of the base amount that a place can reach, highest first."""
    return [tier for tier in sorted(engine.rulebook.tiers, key=lambda t: -t.dollars) if not tier.project]


def _tiers(
    outcomes: Callable[[str], NDArray[np.int8]], lines: Sequence[Tier], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = np.full((2, 2, n), -1, dtype=np.int64)
    for side, row in enumerate((ANSWER, STRICT)):
        # From the lowest line up, so that the highest that fits is what stays.
        for position in range(len(lines) - 1, -1, -1):
            answer = outcomes(lines[position].category)[row]
            found[0, side, answer == 1] = position
            found[1, side, answer != -1] = position
    return found[0], found[1]


def answer_columns(engine: Engine, detail: Detail = "brief") -> tuple[AnswerColumn, ...]:
    """Return the columns that `columns_of` gives, with what each means: the data dictionary.

    Parameters
    ----------
    engine
        Its rulebook says which categories and lines there are.
    detail
        ``"brief"``, or ``"full"`` with lean, margin, causes and assumptions of every category.
    """
    found = [
        AnswerColumn("mun_code", "text", "Treasury code of the municipality, or of the likeliest one"),
        AnswerColumn("municipality", "text", "its name; several are separated by semicolons"),
        AnswerColumn("county", "text", "its county"),
        AnswerColumn(
            "placement", "text", f"how the municipality is known: {', '.join(kind.value for kind in PlacementKind)}"
        ),
    ]
    if _lines(engine):
        found += [
            AnswerColumn(
                "base_floor", "integer", "dollars of the base amount that the place surely reaches; empty for none"
            ),
            AnswerColumn(
                "base_ceiling", "integer", "dollars of the highest base amount not out of reach; empty for none"
            ),
            AnswerColumn("base_assumed", "boolean", "whether the bounds rest on an assumption"),
        ]
    for category in (c for c in engine.rulebook.categories if c.kind != "ground"):
        found.append(
            AnswerColumn(category.id, "text", f"{category.label}: yes, no or undetermined ({category.citation})")
        )
        if detail == "full":
            found += [
                AnswerColumn(
                    f"{category.id}_leans", "text", "yes or no where it is undetermined only for being near a line"
                ),
                AnswerColumn(f"{category.id}_margin_ft", "text", _MARGIN_WORDS),
                AnswerColumn(f"{category.id}_causes", "text", "why it is undetermined, separated by semicolons"),
                AnswerColumn(f"{category.id}_assumed", "boolean", "whether the outcome rests on an assumption"),
            ]
    if detail == "full":
        found.append(
            AnswerColumn("shares", "text", "share of a parcel in each area that a line cuts it from; empty for none")
        )
    return (
        *found,
        AnswerColumn("review", "text", "what a person should look at, separated by semicolons; empty for nothing"),
        AnswerColumn("rulebook", "text", "rulebook, version and fingerprint"),
        AnswerColumn("atlas", "text", "fingerprint of the layers, their editions and the day"),
    )


_MARGIN_WORDS = (
    f"feet to the line that decides, negative where it is missed; exact up to {MARGIN_LIMIT_FT:g}, "
    f">{MARGIN_LIMIT_FT:g} or <-{MARGIN_LIMIT_FT:g} beyond; empty where no line decides"
)


def columns_of(
    engine: Engine, leaves: Leaves, answers: Answers, detail: Detail = "brief"
) -> dict[str, NDArray[np.object_]]:
    """Return the answers as columns, in the order and under the names of `answer_columns`.

    Parameters
    ----------
    engine, leaves, answers
        As for `answers_of`, and what it gave.
    detail
        Which columns.

    Returns
    -------
    dict
        By name: n values each; None where there is nothing to say.
    """
    found = _columns(engine, leaves, answers, detail)
    if detail == "full":
        found["shares"] = share_words(leaves)
    return {column.name: found[column.name] for column in answer_columns(engine, detail)}


def _columns(engine: Engine, leaves: Leaves, answers: Answers, detail: Detail) -> dict[str, NDArray[np.object_]]:
    """Return the columns that sites that are alike share, and margins."""
    found = _place_columns(leaves)
    lines = _lines(engine)
    if lines:
        dollars = np.array([line.dollars for line in lines] + [None], dtype=object)  # position -1 is none
        found["base_floor"] = dollars[answers.floors[0]]
        found["base_ceiling"] = dollars[answers.ceilings[0]]
        differs = (answers.floors[0] != answers.floors[1]) | (answers.ceilings[0] != answers.ceilings[1])
        found["base_assumed"] = differs.astype(object)
    for row, category in enumerate(answers.categories):
        outcome = answers.outcomes[ANSWER, row]
        found[category] = _WORDS[outcome + 1]
        if detail == "full":
            leaning = np.where(outcome == 0, answers.outcomes[LEANING, row], 0)
            found[f"{category}_leans"] = _LEANS[leaning + 1]
            found[f"{category}_margin_ft"] = _margin_words(answers.margins_ft[row])
            found[f"{category}_causes"] = _cause_words(answers.causes[row])
            found[f"{category}_assumed"] = (outcome != answers.outcomes[STRICT, row]).astype(object)
    found["review"] = _review(engine, leaves, answers)
    found["rulebook"] = _same(len(answers), rulebook_mark(engine))
    found["atlas"] = _same(len(answers), atlas_mark(engine))
    return found


def _same(n: int, value: str) -> NDArray[np.object_]:
    return np.full(n, value, dtype=object)


def rulebook_mark(engine: Engine) -> str:
    """Return rulebook, version and fingerprint in a word."""
    record = engine.rulebook_record
    return f"{record.id} {record.version} {record.sha256[:12]}"


def atlas_mark(engine: Engine) -> str:
    """Return a fingerprint of the layers, of which editions they are, and of the day."""
    import hashlib  # noqa: PLC0415 - only where it is used

    digest = hashlib.sha256(engine.atlas.as_of.isoformat().encode())
    for record in engine.layer_records:
        digest.update(f"{record.id} {record.status} {record.edition} {record.sha256}\n".encode())
    return digest.hexdigest()[:12]


def _place_columns(leaves: Leaves) -> dict[str, NDArray[np.object_]]:
    """Return the municipality of each site; names are looked up once for each combination."""
    place, membership = leaves.placement, leaves.membership
    first = np.asarray(place.candidates)[place.starts]
    single = np.append(place.starts[1:], len(place.candidates)) - place.starts == 1
    # Positions below zero are no municipality.
    codes = np.array([*place.codes, None], dtype=object)
    names = np.array([*(membership.name(code) for code in place.codes), None], dtype=object)
    counties = np.array([*(membership.county(code) or None for code in place.codes), None], dtype=object)
    at = np.where(first >= 0, first, len(place.codes))
    found = {"mun_code": codes[at], "municipality": names[at], "county": counties[at]}
    for i in np.flatnonzero(~single):
        several = place.codes_of(int(i))
        found["municipality"][i] = "; ".join(membership.name(code) for code in several) or None
        found["county"][i] = "; ".join(dict.fromkeys(c for code in several if (c := membership.county(code)))) or None
    return found | {"placement": np.array([kind.value for kind in place.kinds], dtype=object)}


def _margin_words(margins: NDArray[np.float64]) -> NDArray[np.object_]:
    column = _coded_margins(margins)
    return column.values[column.codes]


def _coded_margins(margins: NDArray[np.float64]) -> Coded:
    """Return margins in words: nothing, wider than the limit on either side, and the near ones each as it is."""
    wide = np.array([None, f">{MARGIN_LIMIT_FT:g}", f"<-{MARGIN_LIMIT_FT:g}"], dtype=object)
    known = np.isfinite(margins)
    codes = np.zeros(len(margins), dtype=np.int32)
    codes[known & (margins >= MARGIN_LIMIT_FT)] = 1
    codes[known & (margins <= -MARGIN_LIMIT_FT)] = 2
    near = np.flatnonzero(known & (np.abs(margins) < MARGIN_LIMIT_FT))
    codes[near] = len(wide) + np.arange(len(near))
    words = np.array([f"{margin:.1f}" for margin in margins[near] + 0.0], dtype=object)
    return Coded(np.concatenate([wide, words]), codes)


def _cause_words(causes: NDArray[np.int32]) -> NDArray[np.object_]:
    flags, position = np.unique(causes, return_inverse=True)
    words = np.array([("; ".join(Cause(int(flag)).words) or None) for flag in flags], dtype=object)
    return words[position]


def _review(engine: Engine, leaves: Leaves, answers: Answers) -> NDArray[np.object_]:
    """Return why a person should look at a site: what is near a line, cut, or not placed."""
    labels = {c.id: c.label for c in engine.rulebook.categories}
    reasons: list[list[str]] = [[] for _ in range(len(answers))]
    for i, kind in enumerate(leaves.placement.kinds):
        if kind is not PlacementKind.CERTAIN:
            reasons[i].append(f"municipality {kind.value}")
    open_still = answers.outcomes[ANSWER] == 0
    for flag, words in ((Cause.NEAR_LINE, "near the line of"), (Cause.PARTIAL, "cut by the line of")):
        for row, i in zip(*np.nonzero(open_still & (answers.causes & int(flag) != 0)), strict=True):
            reasons[i].append(f"{words} {labels[answers.categories[row]]}")
    found = np.full(len(answers), None, dtype=object)
    for i, listed in enumerate(reasons):
        if listed:
            found[i] = "; ".join(listed)
    return found
