"""The few exceptions of the package, each a subclass of a built-in one.

Every message says what was found, what was expected, and what to do about it.
"""

from __future__ import annotations

__all__ = [
    "FactError",
    "LayerError",
    "NoPlaceError",
    "OutsideNewJerseyError",
    "RecordError",
    "RulebookError",
    "SettingsError",
    "SiteError",
]


class SiteError(ValueError):
    """What the user typed or sent cannot be read as a site."""


class OutsideNewJerseyError(SiteError):
    """The site was understood, and lies outside New Jersey."""


class NoPlaceError(SiteError):
    """Text that is in none of the forms of a place: words, an address or block and lot perhaps."""


class FactError(ValueError):
    """A stated fact has an unknown name or a value that does not fit it."""


class LayerError(ValueError):
    """A layer or its manifest is missing, damaged, or not what the manifest says."""


class RulebookError(ValueError):
    """A rulebook does not follow the format, or was asked about a date that it does not cover."""


class RecordError(ValueError):
    """A kept record is damaged, was altered, is none, or cannot be written."""


class SettingsError(ValueError):
    """The user's settings cannot be read or written, or one of them is unknown or has a value that does not fit."""
