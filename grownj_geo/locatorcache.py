"""What online locators answered, kept for a while, and whose turn it is to ask a service: one small SQLite file.

The file lies in the user's home, so that programs that run at the same time share both. It holds addresses that were
asked for, which is why it can be emptied, and why nobody else may read it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from grownj_geo.errors import LayerError
from grownj_geo.locator import Match, figures_mark
from grownj_geo.store import home_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["AnswerCache", "Held"]

_FILE = "locators.sqlite"
# Goes up with whatever changes how an answer is read or scored: older ones are then asked for again.
_FORMAT = 1
_DAY_S = 86_400.0
_BUSY_S = 10.0
_KEYS_AT_ONCE = 500
# Services err, and learn: an address that is not known today is asked for again soon.
_UNKNOWN_DAYS = 1.0
# No service is left alone for longer because of what a clock or a server said.
_LONGEST_REST_S = 86_400.0
_TABLES = (
    "DROP TABLE IF EXISTS answers",
    "DROP TABLE IF EXISTS turns",
    "CREATE TABLE answers (key TEXT PRIMARY KEY, locator TEXT NOT NULL, asked_at REAL NOT NULL, matches TEXT NOT NULL)",
    "CREATE INDEX answers_by_age ON answers (asked_at)",
    "CREATE TABLE turns (service TEXT PRIMARY KEY, next_at REAL NOT NULL, rest_until REAL NOT NULL)",
)

T = TypeVar("T")


class Held(NamedTuple):
    """What the cache holds: how many answers, and the days of the first and the last."""

    answers: int
    first: date | None
    last: date | None


class AnswerCache:
    """Answers of online locators, and their turns.

    Any number of threads and processes may use one file. Where it cannot be used, answers are neither kept nor found,
    and turns are kept within this process; `problem` then says why, and is told with the answers.

    Parameters
    ----------
    home
        The user's folder; `home_folder` by default.
    days
        For how long an answer is taken from here; 0 keeps nothing. That an address is not known is kept for a day at
        most.
    """

    def __init__(self, home: Path | None = None, *, days: float) -> None:
        self.path = (home_folder() if home is None else home) / _FILE
        self.days = days
        self.problem: str | None = None
        self._own_turns: dict[str, _Turn] = {}
        self._lock = threading.Lock()

    # -- answers --

    def get(self, parts: Sequence[str]) -> tuple[Match, ...] | None:
        """Return the answer to a question that was asked before; None where it has to be asked.

        Parameters
        ----------
        parts
            What tells questions apart: the locator, its address, and everything that is sent and compared.
        """
        return self.get_many([parts])[0]

    def get_many(self, questions: Sequence[Sequence[str]]) -> list[tuple[Match, ...] | None]:
        """Return the answers to many questions, in order; see `get`."""
        if self.days <= 0:
            return [None] * len(questions)
        mark = figures_mark()
        keys = [_key(parts, mark) for parts in questions]

        def look(connection: sqlite3.Connection) -> dict[str, tuple[float, str]]:
            found: dict[str, tuple[float, str]] = {}
            for first in range(0, len(keys), _KEYS_AT_ONCE):
                some = keys[first : first + _KEYS_AT_ONCE]
                marks = ", ".join("?" * len(some))
                sql = f"SELECT key, asked_at, matches FROM answers WHERE key IN ({marks})"  # noqa: S608 - marks only
                found |= {key: (asked_at, text) for key, asked_at, text in connection.execute(sql, some)}
            return found

        found = self._run(look) or {}
        now = time.time()
        return [self._kept(*found[key], now) if key in found else None for key in keys]

    def _kept(self, asked_at: float, text: str, now: float) -> tuple[Match, ...] | None:
        """Return a kept answer, with the day of it; None where it is too old."""
        kept = json.loads(text)
        # A clock that was set back makes an answer younger than no time at all.
        if not 0 <= now - asked_at <= _DAY_S * (self.days if kept else min(self.days, _UNKNOWN_DAYS)):
            return None
        answered_on = datetime.fromtimestamp(asked_at, UTC).date()
        return tuple(Match(**{**one, "notes": tuple(one["notes"]), "answered_on": answered_on}) for one in kept)

    def put(self, locator: str, parts: Sequence[str], matches: Sequence[Match]) -> None:
        """Keep an answer, and drop those that are too old."""
        self.put_many(locator, [(parts, matches)])

    def put_many(self, locator: str, answers: Sequence[tuple[Sequence[str], Sequence[Match]]]) -> None:
        """Keep many answers, all of them or none."""
        if self.days <= 0 or not answers:
            return
        now = time.time()
        mark = figures_mark()
        rows = [(_key(parts, mark), locator, now, _written(matches)) for parts, matches in answers]

        def keep(connection: sqlite3.Connection) -> bool:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            connection.execute("DELETE FROM answers WHERE asked_at < ?", (now - _DAY_S * self.days,))
            return True

        self._run(keep)

    def held(self) -> Held:
        """Return what is kept.

        Raises
        ------
        LayerError
            If the file cannot be read.
        """
        if not self.path.exists():
            return Held(0, None, None)
        sql = "SELECT count(*), min(asked_at), max(asked_at) FROM answers"
        row = self._run(lambda connection: connection.execute(sql).fetchone())
        if row is None:
            raise LayerError(str(self.problem))
        days = [None if at is None else datetime.fromtimestamp(at, UTC).date() for at in row[1:]]
        return Held(row[0], days[0], days[1])

    def clear(self) -> int:
        """Forget every answer, and return how many there were; turns are kept, because services still count.

        Raises
        ------
        LayerError
            If the file cannot be changed.
        """
        if not self.path.exists():
            return 0
        count = self._run(lambda connection: connection.execute("DELETE FROM answers").rowcount)
        if count is None:
            raise LayerError(str(self.problem))
        return count

    # -- turns --

    def turn(self, service: str, *, rate_per_s: float, longest_wait_s: float = _LONGEST_REST_S) -> float:
        """Take a turn to ask a service, and return how many seconds to wait for it.

        Parameters
        ----------
        service
            Host and port: what is asked too often counts there, whoever asks.
        rate_per_s
            How many questions a second, of all programs on this machine together.
        longest_wait_s
            No turn is taken that would have to be waited for longer than this; the wait is returned all the same.
        """
        now = time.time()

        def take(turn: _Turn) -> _Turn:
            at = max(now, *turn)
            return turn if at - now > longest_wait_s else _Turn(at + 1.0 / rate_per_s, turn.rest_until)

        return max(now, *self._change(service, now, take)) - now

    def resting_s(self, service: str) -> float:
        """Return for how many more seconds a service asked to be left alone; 0 where it may be asked."""
        now = time.time()
        return max(0.0, self._change(service, now, lambda turn: turn).rest_until - now)

    def rest(self, service: str, seconds: float) -> None:
        """Leave a service alone for some seconds, because it asked for it."""
        now = time.time()
        until = now + min(seconds, _LONGEST_REST_S)
        self._change(service, now, lambda turn: _Turn(turn.next_at, max(turn.rest_until, until)))

    def _change(self, service: str, now: float, change: Callable[[_Turn], _Turn]) -> _Turn:
        """Change a service's turn, and return what it was."""

        def work(connection: sqlite3.Connection) -> _Turn:
            sql = "SELECT next_at, rest_until FROM turns WHERE service = ?"
            row = connection.execute(sql, (service,)).fetchone()
            before = _Turn() if row is None else _Turn(*row).plausible(now)
            after = change(before)
            if after != before:
                connection.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", (service, *after))
            return before

        with self._lock:
            before = self._run(work)
            if before is None:
                before = self._own_turns.get(service, _Turn()).plausible(now)
                self._own_turns[service] = change(before)
        return before

    # -- the file --

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what some work on the file returns, all of it done or none; None where the file cannot be used."""
        try:
            with closing(self._opened()) as connection:
                found = work(connection)
                connection.execute("COMMIT")
                self.problem = None
                return found
        except (OSError, sqlite3.Error) as error:
            self.problem = (
                f"The file {self.path} of kept answers cannot be used ({error}); answers are not kept. Check its "
                "permissions and the free space, or remove it: nothing else is in it."
            )
            return None

    def _opened(self) -> sqlite3.Connection:
        """Return a connection that holds the write lock, with the tables there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Made here rather than by SQLite, so that nobody else can read it from its first moment on.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        try:
            # What was forgotten must not stay readable in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class _Turn(NamedTuple):
    """When a service may be asked next, and until when it wants to be left alone; seconds since 1970."""

    next_at: float = 0.0
    rest_until: float = 0.0

    def plausible(self, now: float) -> _Turn:
        """Return the turn without what only a clock that was set back can explain: nobody waits for days."""
        return _Turn(*(at if at - now <= _LONGEST_REST_S else 0.0 for at in self))


def _written(matches: Sequence[Match]) -> str:
    """Return an answer as it is kept; online matches have no outline."""
    content = [{n: v for n, v in asdict(match).items() if n not in {"geometry", "answered_on"}} for match in matches]
    return json.dumps(content, ensure_ascii=False)


def _key(parts: Sequence[str], mark: str) -> str:
    # Answers are kept as they were scored: by other figures they are other answers.
    return hashlib.sha256(json.dumps([_FORMAT, mark, *parts]).encode()).hexdigest()
