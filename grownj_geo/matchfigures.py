"""Every figure by which typed addresses are compared, ranked and taken or not taken, each with its reason.

None of them is law, and no source gives them: they are a scale of this package. They are no settings either: with other
figures the same text would become another site, so that a record could not be asked again elsewhere. What a score does
never goes beyond ranking and offering: a place is certain only where it agrees in every part and has no rival. How far
places of each kind may be from the truth, and what is taken off for what online services found otherwise, is data with
sources (`locators.yaml`).

Figures said to be measured were tried on the 5,541 rows of a real tax list, as typed and misspelt in seven ways
(``scripts/benchmark_addresses.py`` prints the shares that are found, and how many are certain and wrong, which has to
be none).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grownj_geo.addressplaces import PlaceHow

__all__ = [
    "ABOUT",
    "ACROSS_THE_STREET",
    "BETWEEN_NEIGHBOURS",
    "CLOSE_FT",
    "DIRECTION_MISSING",
    "DIRECTION_OTHER",
    "GOOD_HOUSE",
    "GOOD_SCORE",
    "LIKE",
    "LIKE_STATEWIDE",
    "MOST_HITS",
    "MOST_NAMES",
    "MOST_STREETS",
    "MUNICIPALITY_OTHER",
    "MUNICIPALITY_UNKNOWN",
    "NEAR_STREET",
    "NOT_SURE",
    "NUMBERED_STREET",
    "NUMBER_INSIDE",
    "NUMBER_LETTER",
    "PLACE_OFF",
    "SAME_FT",
    "STREET_ONLY",
    "SUFFIX_MISSING",
    "SUFFIX_OTHER",
    "UNIT_OTHER",
    "UNIT_UNSAID",
    "ZIP_OTHER",
]

# -- what is taken ---------------------------------------------------------------------------------------

GOOD_SCORE = 0.95
"""From here on a match differs from what was asked in nothing that counts. Less is a choice at best. A missing
ending of the street (0.97) or a unit that nobody typed (0.99) do not fall below it, and another ending does (0.90);
what contradicts and would not is held to `NOT_SURE`."""

NOT_SURE = GOOD_SCORE - 0.01
"""The most that is given to a match on this machine that contradicts what was typed, whatever else agrees."""

CLOSE_FT = 2_640.0
"""Places that fit equally well make one uncertain site where a circle of this radius, in feet, holds them all. Half a
mile is the radius of the transit areas: a wider circle leaves nearly everything open, and the places are better asked
about one by one."""

SAME_FT = 1.0
"""Matches within so many feet are one place: services give places in six or seven digits of a degree."""

# -- what is taken off a score of 1 for what differs -------------------------------------------------------

SUFFIX_MISSING, SUFFIX_OTHER = 0.03, 0.10
"""For the ending of a street's name. People leave it out, so that alone it leaves a good score; Park Street for Park
Avenue is another street as often as a slip, and does not."""

DIRECTION_MISSING, DIRECTION_OTHER = 0.06, 0.20
"""For a direction. North and South Main Street have the same numbers: one left out is not settled by itself, and
another one is below whatever is only left out."""

NUMBER_INSIDE, NUMBER_LETTER = 0.04, 0.08
"""For a number inside of a range on its side of the street, which is that lot's; and for another letter (12A for 12),
which may be another house."""

ACROSS_THE_STREET = 0.20
"""For a number inside of a range of the other side (205 in 200-210). Even and odd numbers face each other nearly
always, so that it is weak; but lists give ranges carelessly, so that it is shown. It leaves less
than `GOOD_HOUSE`, so that the place between the neighbours of its own side is shown beside it."""

UNIT_UNSAID, UNIT_OTHER = 0.01, 0.05
"""For a unit that nobody typed, or one of a house of which the file has no units: the lot is the same; and for another
unit than was typed."""

BETWEEN_NEIGHBOURS, STREET_ONLY = 0.25, 0.45
"""For a number that is not there, shown between its neighbours; and for one of which the street alone is known."""

MUNICIPALITY_OTHER, MUNICIPALITY_UNKNOWN, ZIP_OTHER = 0.20, 0.03, 0.05
"""For a place in another municipality than was typed; for an address point whose municipality its file does not say;
and for another ZIP code, which change and are mistyped more than streets are."""

PLACE_OFF: dict[PlaceHow, float] = {
    "named": 0.0,
    "ambiguous": 0.02,
    "postal": 0.02,
    "none": 0.05,
    "guessed": 0.08,
    "conflict": 0.08,
    "unknown": 0.10,
}
"""For how a municipality was typed: the less it says, the more. Whether such a place is taken is not for the score to
say."""

# -- what is looked at, and shown ----------------------------------------------------------------------------

LIKE, LIKE_STATEWIDE = 0.6, 0.7
"""How alike two names of streets have to be to be compared, in one municipality and in the whole State. With one slip
in five letters names are alike to 0.8, with two in six to 0.67. Measured, of the misspelt rows of the tax list
99.91 % are found with 0.5, 99.87 % with 0.6, 99.78 % with 0.7 and 89.80 % with 0.8. Statewide, where many more names
compete, the figure is higher so that streets that nobody meant stay out."""

GOOD_HOUSE = 0.85
"""From here on a house is what was meant or nearly so: where there is one, nothing is looked for in other
municipalities, and no place between neighbours is offered beside it."""

NUMBERED_STREET = 0.9
"""Where a house fits so well, places without a house are no longer shown beside it."""

NEAR_STREET, ABOUT = 0.75, 0.05
"""Streets on which a number's place is offered though the number is not there: alike to so much, and no worse than
the best of them by so much."""

MOST_NAMES, MOST_STREETS = 30, 60
"""Names, and streets with them, that are looked at: beyond these no street fits any more. Searches of a State of 3.4
million addresses stay within 50 ms with them."""

MOST_HITS = 24
"""Places of one address that are shown; how many more there are is said, and none is sure where they fit as well."""
