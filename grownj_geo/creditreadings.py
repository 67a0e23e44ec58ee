"""Where the text of the credit rules is open: the ways to read it, and which one is chosen."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from grownj_geo.errors import RulebookError
from grownj_geo.readings import Reading, nearest_name, read_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["credit_readings", "resolve_credit_readings"]


@lru_cache(maxsize=1)
def credit_readings() -> dict[str, Reading]:
    """Return the open questions of the credit rules by id, with the options that can be chosen."""
    path = resources.files("grownj_geo") / "rules" / "credits" / "readings.yaml"
    return {reading.id: reading for reading in read_entries(path.read_bytes(), Reading, name=path.name)}


def resolve_credit_readings(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the option of each open question of the credit rules: the chosen one, else the default.

    Raises
    ------
    RulebookError
        For a reading or an option that there is not.

    Examples
    --------
    >>> resolve_credit_readings({"A54": "total"})
    {'A13': 'reduction_rounded_down', 'A54': 'total', 'A59': 'person_at_most_one', 'A60': 'alike'}
    """
    readings = credit_readings()
    for name, option in chosen.items():
        if name not in readings:
            raise RulebookError(f"The credit rules have no reading {name!r}. {nearest_name(name, readings)}")
        if option not in readings[name].options:
            known = readings[name].options
            raise RulebookError(
                f"The reading {name} has no option {option!r}; expected one of {', '.join(known)}. "
                f"{nearest_name(option, known)}"
            )
    return {name: chosen.get(name, reading.default) for name, reading in readings.items()}
