"""The base of the records and files that this package reads and writes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Strict"]


class Strict(BaseModel):
    """A model that refuses what it does not know and is never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
