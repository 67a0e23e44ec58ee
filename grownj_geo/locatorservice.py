"""What the online locators have in common: turns, retries, kept answers, failures in words, and places made matches.

Addresses go to one host only, over connections under a `Guard`. httpx is brought in when something is sent, not before.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from grownj_geo.addressline import split_line
from grownj_geo.crs import LAT_RANGE, LON_RANGE
from grownj_geo.features import LayerFault
from grownj_geo.locator import AddressQuery, Answer, Failure, LocatorError, Match, best_first, uncertainty_ft
from grownj_geo.locatoragree import agreement
from grownj_geo.netguard import Guard
from grownj_geo.units import FT_PER_FTUS, to_working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grownj_geo.locator import Kind
    from grownj_geo.locatorcache import AnswerCache
    from grownj_geo.netclient import Reply, Session, Upload

__all__ = ["Found", "OnlineLocator", "ServiceOptions", "half_diagonal_ft", "number_of", "text_of"]

T = TypeVar("T")

_MEBIBYTE = 2**20
_LONGEST_LINE = 300
_MOST_FOUND = 50
_LONGEST_TEXT = 300
# How long a service is left alone that is asked too often and does not say for how long.
_REST_S = 60.0
_TOO_MANY = 429
_SIGN_IN = frozenset({401, 403, 407, 451})
# After so many failures in a row, the last of this kind, the rest of many addresses is not asked for. A question that
# is refused may be an odd address; several of them are a service that wants nothing of us.
_MOST_FAILURES: Mapping[Failure, int] = {"down": 3, "slow": 3, "nonsense": 3, "refused": 10, "rate_limited": 1}
_KINDS: Mapping[str, Failure] = {
    **dict.fromkeys(("offline", "tls_error", "proxy_refused", "cut_short", "service_error"), "down"),
    "too_slow": "slow",
    **dict.fromkeys(("bad_reply", "response_too_large"), "nonsense"),
    **dict.fromkeys(("address_refused", "redirect_refused"), "refused"),
}
_WORDS: Mapping[str, str] = {
    "offline": "could not be reached. Expected an answer; check the network, or HTTPS_PROXY behind an office proxy",
    "tls_error": (
        "did not prove who it is. If your office reads encrypted traffic along, set SSL_CERT_FILE to its certificate; "
        "otherwise do not go on"
    ),
    "proxy_refused": "could not be asked through the proxy. Set HTTPS_PROXY to one such as http://proxy.example:8080",
    "cut_short": "broke off its answer. Expected a whole one; try again later",
    "too_slow": "gave no whole answer in the time allowed. Try again later, or raise its timeout_s in the settings",
    "bad_reply": "gave something that is no answer of such a service. Look at its address in the settings",
    "response_too_large": "gave more than an answer of such a service can be. Look at its address in the settings",
    "address_refused": (
        "is not at an address that can be asked. Expected https and a public host; for a server of your own, switch "
        "allow_private on in the settings"
    ),
    "redirect_refused": "sends the question on to another place, which is not asked. Look at its address in a browser",
}


# Where no connection was made, nothing was sent over it.
_NOT_SENT = frozenset({"offline", "tls_error", "address_refused"})


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How a service is asked.

    Parameters
    ----------
    title
        What people call it.
    url
        Where it is, without the last part of the path.
    sends
        What asking sends, and to whom.
    rate_per_s
        How many questions a second at most, of all programs of this user together.
    timeout_s
        Longest time for the answer to one question.
    allow_private
        Let addresses of inner networks, and plain http, through.
    batch
        How many addresses go into one question, where the service takes many.
    batch_timeout_s
        Longest time for the answer to such a question.
    most_at_once
        How many addresses of tables a locator asks for in its life; more are refused before anything is sent. None
        where any number may be asked.
    email
        Sent along where the service wants to know whom to write to.
    user_agent
        What the program calls itself; the package's name by default.
    attribution
        What has to be said with every answer.
    parameters
        What else is sent with every question.
    """

    title: str
    url: str
    sends: str
    rate_per_s: float
    timeout_s: float
    allow_private: bool = False
    batch: int = 1
    batch_timeout_s: float = 0.0
    most_at_once: int | None = None
    email: str | None = None
    user_agent: str | None = None
    attribution: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()


class Found(NamedTuple):
    """A place as a service gave it, in degrees; the score is the service's own, from 0 to 1."""

    matched: str
    street: str
    city: str | None
    zip_code: str | None
    kind: Kind
    lon: float
    lat: float
    score: float = 1.0
    half_extent_ft: float | None = None
    notes: tuple[str, ...] = ()


class OnlineLocator(ABC):
    """A locator that asks a service; `_ask` says how.

    Parameters
    ----------
    options
        How the service is asked.
    cache
        Where answers are kept and turns are taken.
    """

    name: str
    online = True

    def __init__(self, options: ServiceOptions, cache: AnswerCache) -> None:
        self.options = options
        self.cache = cache
        self._host = urlsplit(options.url).netloc.lower()
        self._asked_in_tables = 0
        self._out = _Out()

    @property
    def sends(self) -> str:
        """What asking sends, and to whom."""
        return self.options.sends

    def find(self, query: AddressQuery) -> tuple[Match, ...]:
        """Return the places that the service has for an address, best first.

        Raises
        ------
        LocatorError
            Where it gave no answer.
        """
        self._out.sent = set()
        self._check(query)
        kept = self.cache.get(self._parts(query))
        if kept is not None:
            return self._told(kept)
        with self._session(1) as session:
            return self._told(self._fresh(session, query))

    def find_many(
        self, queries: Sequence[AddressQuery], *, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Answer, ...]:
        """Return an answer for each query, in order; what is known already or was asked twice is not sent again."""
        self._out.sent = set()
        parts = [self._parts(query) for query in queries]
        answers: dict[tuple[str, ...], Answer] = {}
        waiting: dict[tuple[str, ...], AddressQuery] = {}
        for key, kept, query in zip(parts, self.cache.get_many(parts), queries, strict=True):
            if key in answers or key in waiting:
                continue
            try:
                self._check(query)
            except LocatorError as error:
                answers[key] = error
                continue
            if kept is None:
                waiting[key] = query
            else:
                answers[key] = self._told(kept)
        most = self.options.most_at_once
        # A table that comes in blocks is one table.
        wanted = self._asked_in_tables + len(waiting)
        if most is not None and wanted > most:
            refused = self._error(
                "refused",
                f"takes no large tables: {wanted:,} addresses of them are to be asked for; expected at "
                f"most {most:,}. Use another locator for tables, or an instance of your own",
            )
            answers.update(dict.fromkeys(waiting, refused))
            waiting = {}
        self._asked_in_tables += len(waiting)
        if waiting:

            def count(done: int) -> None:
                if progress is not None:
                    progress(len(queries) - len(waiting) + done, len(queries))

            with self._session(len(waiting)) as session:
                found = self._ask_many(session, list(waiting.values()), count)
            answers.update(zip(waiting, found, strict=True))
        return tuple(answers[key] for key in parts)

    def was_sent(self, query: AddressQuery) -> bool:
        """Whether this thread's last `find` or `find_many` sent this address away, or may have."""
        return self._parts(query) in self._out.sent

    # -- what each service says --

    @abstractmethod
    def _ask(self, session: Session, query: AddressQuery) -> Sequence[Found]:
        """Return what the service has for one address, asking it once."""

    def _ask_many(
        self, session: Session, queries: Sequence[AddressQuery], count: Callable[[int], None]
    ) -> list[Answer]:
        """Return an answer for each query, asking one by one, and no more of a service that fails and fails."""
        answers: list[Answer] = []
        failures = 0
        for query in queries:
            try:
                answers.append(self._told(self._fresh(session, query)))
                failures = 0
            except LocatorError as error:
                answers.append(error)
                failures += 1
                if failures >= _MOST_FAILURES[error.kind]:
                    answers += [self._unasked(error)] * (len(queries) - len(answers))
                    break
            count(len(answers))
        return answers

    def _check(self, query: AddressQuery) -> None:
        """Refuse what the service could do nothing with."""
        if not query.line.strip():
            raise self._error(
                "refused", "was not asked: the address is empty. Expected number, street and municipality"
            )
        if len(query.line) > _LONGEST_LINE:
            raise self._error(
                "refused",
                f"was not asked: the address has {len(query.line):,} signs; expected {_LONGEST_LINE} at most",
            )

    # -- asking --

    def _parts(self, query: AddressQuery) -> tuple[str, ...]:
        """Return what tells questions apart."""
        asked = (query.line, query.street or "", query.city or "", query.zip_code or "")
        return (self.name, self.options.url, *(f"{key}={value}" for key, value in self.options.parameters), *asked)

    @contextmanager
    def _session(self, questions: int) -> Iterator[Session]:
        from grownj_geo.netclient import Session  # noqa: PLC0415 - brings in httpx

        options = self.options
        slowest = max(options.timeout_s, options.batch_timeout_s if questions > 1 else 0.0)
        guard = Guard(
            frozenset(),
            allow_private=options.allow_private,
            max_bytes=2 * _MEBIBYTE if questions == 1 else 32 * _MEBIBYTE,
            connect_s=min(10.0, options.timeout_s),
            idle_s=slowest,
            reply_s=slowest,
            total_s=2 * slowest + questions * (options.timeout_s + 1.0 / options.rate_per_s),
            tries=3,
            longest_wait_s=5.0 if questions == 1 else _REST_S,
        )
        try:
            # The address is the package's own, or the user wrote it into the settings.
            guard = guard.naming(options.url)
        except LayerFault as error:
            raise self._error_of(error) from error
        with Session(guard) as session:
            yield session

    def _fresh(self, session: Session, query: AddressQuery) -> tuple[Match, ...]:
        """Ask for one address, and keep the answer."""
        with self._asking([query]):
            found = self._ask(session, query)
        matches = self._matches(query, found)
        self._keep([(query, matches)])
        return matches

    @contextmanager
    def _asking(self, queries: Sequence[AddressQuery]) -> Iterator[None]:
        """Say which addresses are in the questions that go out here."""
        self._out.now = queries
        try:
            yield
        finally:
            self._out.now = ()

    def _keep(self, answers: Sequence[tuple[AddressQuery, tuple[Match, ...]]]) -> None:
        self.cache.put_many(self.name, [(self._parts(query), matches) for query, matches in answers])

    def _read(
        self,
        session: Session,
        url: str,
        parse: Callable[[Reply], T],
        *,
        form: Mapping[str, str] | None = None,
        files: Mapping[str, Upload] | None = None,
    ) -> T:
        """Return what `parse` makes of a reply; every single request waits for its turn, retries too."""
        from grownj_geo.netclient import Reply, TransientError  # noqa: PLC0415 - brings in httpx

        agent = self.options.user_agent
        headers = {} if agent is None else {"User-Agent": agent}

        def went_out() -> None:
            self._out.sent.update(map(self._parts, self._out.now))

        def once() -> T:
            self._wait_for_turn(session.guard)
            try:
                with session.stream(url, form=form, files=files, headers=headers) as incoming:
                    went_out()
                    content = b"".join(incoming.chunks())
                return parse(Reply(incoming.url, incoming.headers, content))
            except (TransientError, LayerFault) as error:
                if error.fault not in _NOT_SENT:
                    went_out()
                if isinstance(error, LayerFault):
                    raise
                if error.status == _TOO_MANY:
                    self.cache.rest(self._host, _REST_S if error.wait_s is None else error.wait_s)
                # Whoever asks too often and is not told for how long to wait does not try again, nor does one who has
                # waited as long as the settings let.
                if error.fault == "too_slow" or (error.status == _TOO_MANY and error.wait_s is None):
                    error.tries = 1
                raise

        try:
            return session.retried(once)
        except LayerFault as error:
            raise self._error_of(error) from error

    def _wait_for_turn(self, guard: Guard) -> None:
        # A service that asked to be left alone is waited for shortly, programs that ask it too as long as it itself.
        wait, most = self.cache.resting_s(self._host), guard.longest_wait_s
        if wait <= most:
            most = max(most, self.options.timeout_s)
            wait = self.cache.turn(self._host, rate_per_s=self.options.rate_per_s, longest_wait_s=most)
        if wait > most:
            raise self._error(
                "rate_limited",
                f"was not asked: it may be asked again in {wait:,.0f} seconds only. Wait, or choose another locator",
                retry_after_s=wait,
            )
        time.sleep(wait)

    # -- what came --

    def _matches(self, query: AddressQuery, found: Sequence[Found]) -> tuple[Match, ...]:
        """Return places as matches; those outside New Jersey's box are none of this query's."""
        usual = [place for place in found[:_MOST_FOUND] if _in_box(place)]
        return best_first(self._match(query, place) for place in _without_estimates(usual))

    def _match(self, query: AddressQuery, place: Found) -> Match:
        compared = agreement(query, street=place.street, city=place.city, zip_code=place.zip_code)
        notes = [*compared.notes, *place.notes]
        if self.options.attribution is not None:
            notes.append(self.options.attribution)
        x, y = to_working(place.lon, place.lat)
        return Match(
            locator=self.name,
            matched=place.matched,
            score=min(compared.score, place.score),
            kind=place.kind,
            x_ft=float(x),
            y_ft=float(y),
            uncertainty_ft=uncertainty_ft(place.kind, half_extent_ft=place.half_extent_ft),
            city=place.city,
            zip_code=place.zip_code,
            notes=tuple(notes),
        )

    def _told(self, matches: tuple[Match, ...]) -> tuple[Match, ...]:
        """Return matches with what is wrong with the cache, where something is."""
        problem = self.cache.problem
        if problem is None:
            return matches
        return tuple(replace(match, notes=(*match.notes, problem)) for match in matches)

    # -- failures --

    def _error(self, kind: Failure, words: str, *, retry_after_s: float | None = None) -> LocatorError:
        return LocatorError(self.name, kind, f"{self.options.title} {words}.", retry_after_s=retry_after_s)

    def _error_of(self, fault: LayerFault) -> LocatorError:
        """Return what went wrong on the way in the words of locators; the cause has the details."""
        from grownj_geo.netclient import StatusFault  # noqa: PLC0415 - brings in httpx

        if not isinstance(fault, StatusFault):
            words = _WORDS.get(fault.fault, f"failed: {str(fault).rstrip('.')}")
            return self._error(_KINDS.get(fault.fault, "down"), words)
        if fault.status == _TOO_MANY:
            wait = _REST_S if fault.wait_s is None else fault.wait_s
            return self._error(
                "rate_limited",
                f"says that it is asked too often; it may be asked again in {wait:,.0f} seconds. Wait, or choose "
                "another locator",
                retry_after_s=wait,
            )
        answered = f"answered HTTP {fault.status}; expected 200"
        if fault.status in _SIGN_IN:
            return self._error("refused", f"{answered}. It does not let this program ask; read its terms of use")
        if fault.status < 500:  # noqa: PLR2004 - the statuses that blame the question
            return self._error(
                "refused", f"{answered}. It does not take the question; look at its address in the settings"
            )
        return self._error("down", f"{answered}. Try again later", retry_after_s=fault.wait_s)

    def _unasked(self, error: LocatorError) -> LocatorError:
        words = f"was not asked, because it failed before ({str(error).rstrip('.')})"
        return self._error(error.kind, words, retry_after_s=error.retry_after_s)

    def _nonsense(self, what: str) -> Exception:
        """Return what is raised by whoever reads a reply that makes no sense; it is asked for once more."""
        from grownj_geo.netclient import TransientError  # noqa: PLC0415 - brings in httpx

        return TransientError("bad_reply", f"{self.options.title}: {what}", tries=2)


class _Out(threading.local):
    """Which addresses are being asked for, and which went out; each thread's own."""

    def __init__(self) -> None:
        self.now: Sequence[AddressQuery] = ()
        self.sent: set[tuple[str, ...]] = set()


def number_of(value: Any) -> float | None:  # noqa: ANN401 - JSON is anything
    """Return a finite number from JSON, where some services write them as text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def text_of(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    """Return text from JSON on one line, cut, without signs that a terminal obeys; empty for anything else."""
    if not isinstance(value, str):
        return ""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in value).split())
    return line[:_LONGEST_TEXT]


def _without_estimates(places: Sequence[Found]) -> list[Found]:
    """Leave out a house that was reckoned between others where the same house is there as it stands."""
    houses = {_house(place) for place in places if place.kind in {"rooftop", "parcel"}}
    return [place for place in places if place.kind != "range" or _house(place) not in houses]


def _house(place: Found) -> tuple[str, str, str]:
    line = split_line(place.street)
    return (line.number, str(line.street), (place.city or "").upper())


def _in_box(place: Found) -> bool:
    return LON_RANGE[0] <= place.lon <= LON_RANGE[1] and LAT_RANGE[0] <= place.lat <= LAT_RANGE[1]


def half_diagonal_ft(west: float, south: float, east: float, north: float) -> float:
    """Return half of the diagonal of a box in degrees, in feet."""
    x, y = to_working([west, east], [south, north])
    return float((((x[1] - x[0]) ** 2 + (y[1] - y[0]) ** 2) ** 0.5) / 2 * FT_PER_FTUS)
