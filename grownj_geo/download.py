"""One file from a web server: streamed beside its place, resumed, checked, then put there at once."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from typing import TYPE_CHECKING, Any

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grownj_geo.netclient import Incoming, Session
    from grownj_geo.netguard import Guard

__all__ = ["download", "sha256_of"]

_PARTIAL = 206
_NOT_SATISFIABLE = 416
_RANGE = re.compile(r"bytes (?P<first>[0-9]+)-(?P<last>[0-9]+)/(?P<whole>[0-9]+|\*)")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BEGINNINGS = {
    ".zip": _ZIP,
    ".kmz": _ZIP,
    ".gpkg": (b"SQLite format 3\x00",),
    ".parquet": (b"PAR1",),
    ".json": (b"{", b"["),
    ".geojson": (b"{", b"["),
    ".kml": (b"<",),
}
"""How files of a kind begin, by the end of the name; byte order marks and blanks before text left out."""
_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BLANKS = b"\xef\xbb\xbf \t\r\n"
_START = 512


def sha256_of(path: Path) -> str:
    """Return a file's checksum, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(
    url: str,
    target: Path,
    *,
    guard: Guard,
    sha256: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Path:
    """Download one file and put it at `target` once it is whole.

    What has come is kept in ``NAME.part`` beside it, and taken by a later call where the server says that the file
    is still the same.

    Parameters
    ----------
    url
        Of the file.
    target
        Where it goes; its folder has to be there. The end of the name says what kind of file is expected. A file
        that is there is replaced, unless it has the checksum already.
    guard
        What may be reached, and the limits.
    sha256
        The checksum that the file must have, in hexadecimal.
    progress
        Called with how many bytes have come, and of how many, None where the server does not say.

    Returns
    -------
    Path
        `target`.

    Raises
    ------
    LayerFault
        ``wrong_content`` for something else than the file, such as a page for people; ``checksum_mismatch``;
        ``cut_short``; ``work_folder`` where it cannot be written; and what `grownj_geo.netclient.Session.read`
        raises.
    """
    from grownj_geo.netclient import Session  # noqa: PLC0415 - httpx is slow to import

    try:
        if sha256 is not None and target.is_file() and sha256_of(target) == sha256.lower():
            return target
        part = _Part(url, target, sha256, progress or _silent)
        with Session(guard) as session:
            session.retried(lambda: part.more(session))
        return part.finish()
    except OSError as error:
        raise LayerFault(
            "work_folder",
            f"{target}: the file cannot be written there ({error}); expected a folder with room. Name another place.",
        ) from error


def _silent(_have: int, _of: int | None) -> None:
    """Tell nobody."""


class _Part:
    """What has come of a file, and a note of which state of it."""

    def __init__(self, url: str, target: Path, sha256: str | None, progress: Callable[[int, int | None], None]) -> None:
        self._url = url
        self._target = target
        self._sha256 = sha256
        self._progress = progress
        self._path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    def more(self, session: Session) -> None:
        """Ask for what is missing, and take up what comes."""
        have, etag = self._kept()
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": etag}
        with session.stream(self._url, headers=headers, whole_time=True) as incoming:
            if incoming.status == _NOT_SATISFIABLE:
                # What is here cannot be the beginning of what is there.
                from grownj_geo.netclient import TransientError  # noqa: PLC0415 - httpx is slow to import

                self._forget()
                raise TransientError(
                    "cut_short", f"{self._about()}: the server has no more of the file than came; begun anew."
                )
            if incoming.status != _PARTIAL:
                have = 0
            whole = self._whole(incoming, have)
            if not have:
                self._check_type(incoming)
                self._remember(incoming)
            self._write(incoming, have, whole)

    def _kept(self) -> tuple[int, str]:
        """Return how many bytes can be taken as they are, and the mark of the state of the file that they are of."""
        try:
            note: dict[str, Any] = json.loads(self._note.read_bytes())
            have = self._path.stat().st_size
            etag = str(note["etag"])
            same = note["url"] == self._url
        except FileNotFoundError:
            return 0, ""
        except (ValueError, KeyError, TypeError):
            return 0, ""  # a note that was cut short: the file is begun anew, which loses time only
        return (have, etag) if same and have else (0, "")

    def _forget(self) -> None:
        self._note.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)

    def _remember(self, incoming: Incoming) -> None:
        self._forget()
        etag = incoming.headers.get("etag", "")
        # A weak mark says that two states are alike, not that they have the same bytes. And bytes that were unpacked
        # on the way cannot be counted on from.
        plain = incoming.headers.get("content-encoding", "identity").lower() == "identity"
        if etag.startswith('"') and plain:
            self._note.write_text(json.dumps({"url": self._url, "etag": etag}), encoding="utf-8")

    def _whole(self, incoming: Incoming, have: int) -> int | None:
        """Return how long the whole file is, None where the server does not say."""
        if incoming.status == _PARTIAL:
            said = incoming.headers.get("content-range", "")
            found = _RANGE.fullmatch(said)
            if found is None or int(found["first"]) != have:
                self._forget()
                raise LayerFault(
                    "bad_reply",
                    f"{self._about()}: asked for the file from byte {have:,} on, the server gave {said!r}; expected "
                    "that. Fetch again, it is begun anew.",
                )
            return None if found["whole"] == "*" else int(found["whole"])
        length = incoming.headers.get("content-length", "")
        packed = incoming.headers.get("content-encoding", "identity").lower() != "identity"
        return int(length) if length.isdigit() and not packed else None

    def _check_type(self, incoming: Incoming) -> None:
        kind = incoming.headers.get("content-type", "").partition(";")[0].strip().lower()
        # Where the content itself can tell, it does later: some servers call every file a page.
        if kind in {"text/html", "application/xhtml+xml"} and self._target.suffix.lower() not in _BEGINNINGS:
            raise self._wrong(f"a page for people ({kind})")

    def _write(self, incoming: Incoming, have: int, whole: int | None) -> None:
        from grownj_geo.netclient import TransientError  # noqa: PLC0415 - httpx is slow to import

        with self._path.open("ab" if have else "wb") as file:
            size = have
            for piece in incoming.chunks(already=have):
                file.write(piece)
                size += len(piece)
                self._progress(size, whole)
            file.flush()
            os.fsync(file.fileno())
        if whole is not None and size != whole:
            if size > whole:
                self._forget()
            raise TransientError(
                "cut_short", f"{self._about()}: {size:,} bytes came; expected {whole:,}. Try again later."
            )

    def finish(self) -> Path:
        """Check the whole file and put it in its place."""
        self._check_content()
        if self._sha256 is not None:
            found = sha256_of(self._path)
            if found != self._sha256.lower():
                self._forget()
                raise LayerFault(
                    "checksum_mismatch",
                    f"{self._about()}: the file has the checksum {found}; expected {self._sha256.lower()}. It was "
                    "changed by the publisher or on the way; look at the publisher's page.",
                )
        self._path.replace(self._target)
        self._note.unlink(missing_ok=True)
        return self._target

    def _check_content(self) -> None:
        """See that the file is of the kind that its name promises."""
        with self._path.open("rb") as file:
            start = file.read(_START).lstrip(_BLANKS)
        suffix = self._target.suffix.lower()
        if suffix not in {".html", ".htm"} and _PAGE.match(start):
            raise self._wrong("a page for people")
        expected = _BEGINNINGS.get(suffix)
        if expected is not None and not start.startswith(expected):
            raise self._wrong(f"a file that begins {start[:20]!r}")
        if expected is _ZIP and not zipfile.is_zipfile(self._path):
            self._forget()
            raise LayerFault(
                "cut_short",
                f"{self._about()}: the zip has no table of contents at its end, so a part is missing; expected a whole "
                "one. Fetch again.",
            )

    def _wrong(self, what: str) -> LayerFault:
        self._forget()
        return LayerFault(
            "wrong_content",
            f"{self._about()}: the server gave {what}; expected {self._target.suffix or 'a file'}. The publisher may "
            "have moved it, or wants a click in a browser first: download it by hand and import it.",
        )

    def _about(self) -> str:
        return self._url.partition("?")[0][:300]
