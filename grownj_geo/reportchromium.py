"""A page printed by a headless Chromium: a PDF with tags, that is with headings and tables that readers announce."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from grownj_geo.features import LayerFault
from grownj_geo.ownmarks import PDF_MARK

__all__ = ["find_chromium", "print_page", "undated"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_BY_ENVIRONMENT = "GROWNJ_CHROMIUM"
_POLL_S = 0.1
_SETTLED_S = 3.0
_END = b"%%EOF"
_DATES = re.compile(rb"/(CreationDate|ModDate) \(D:[^)]{8,}\)")
_NODES = re.compile(rb"\(node([0-9]{8})\)")
_WRITER = PDF_MARK.encode()
_OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    # Nothing is to be fetched; should anything be, no name leads anywhere.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
    "--export-tagged-pdf",
    "--generate-pdf-document-outline",
)


def find_chromium() -> str | None:
    """Return the Chromium or Chrome that prints; None where there is none.

    The one that the environment variable ``GROWNJ_CHROMIUM`` names comes first; where that is empty, none is used.
    """
    named = os.environ.get(_BY_ENVIRONMENT)
    if named is not None:
        return shutil.which(named) if named else None
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or next((path for path in _MAC if Path(path).is_file()), None)


def print_page(page: str, browser: str, *, timeout_s: float) -> bytes:
    """Return a page printed as a tagged PDF, without a date.

    Parameters
    ----------
    page
        HTML that needs nothing else.
    browser
        The program, as `find_chromium` gives it.
    timeout_s
        Seconds after which it is ended.

    Raises
    ------
    LayerFault
        ``not_printed`` where the browser ends without a whole PDF, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="grownj-report-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        command = [browser, *_OPTIONS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri()]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Its sandbox does not start for root. The page has no script, and its policy lets nothing be fetched.
            command.insert(1, "--no-sandbox")
        said = _run(command, target, Path(folder, "said"), timeout_s)
        content = target.read_bytes() if target.is_file() else b""
    if not content.startswith(b"%PDF-") or not content.rstrip().endswith(_END):
        raise LayerFault(
            "not_printed",
            f"{browser} did not print the report within {timeout_s:,.0f} s, or ended without it: "
            f"{said or 'it said nothing'}. Expected a PDF; use --pdf-engine fpdf2, or -o report.html and print that.",
        )
    return undated(content)


def undated(pdf: bytes) -> bytes:
    """Return a PDF that says by what it was written and not when, so that equal reports are equal bytes.

    A browser counts the parts of a page as it makes them, and sometimes one more; here they are counted from 1.

    Examples
    --------
    >>> undated(b"<< /CreationDate (D:20170417) /Title (a) >>")
    b'<< /WrittenBy (grownj-geo)    /Title (a) >>'
    >>> undated(b"/ID (node00000023) /Headers [(node00000023)] /ID (node00000026)")
    b'/ID (node00000001) /Headers [(node00000001)] /ID (node00000002)'
    """
    # As long as before: every other part stays where the file's own table says that it is.
    told = _DATES.sub(lambda found: _WRITER.ljust(len(found.group()))[: len(found.group())], pdf, count=1)
    told = _DATES.sub(lambda found: b" " * len(found.group()), told)
    # In their order, by which readers look them up.
    numbers = {node: b"(node%08d)" % rank for rank, node in enumerate(sorted(set(_NODES.findall(told))), start=1)}
    return _NODES.sub(lambda found: numbers[found.group(1)], told)


def _run(command: list[str], target: Path, log: Path, timeout_s: float) -> str:
    """Run a browser until it ends, or until its PDF has been whole for a while; return the last that it said."""
    with log.open("wb") as said:
        process = subprocess.Popen(  # noqa: S603 - the browser that was found, on a page of ours
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        try:
            _wait(process, target, timeout_s)
        finally:
            _end(process)
    lines = log.read_bytes().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


def _wait(process: subprocess.Popen[bytes], target: Path, timeout_s: float) -> None:
    stop = time.monotonic() + timeout_s
    whole_since = 0.0
    while time.monotonic() < stop and process.poll() is None:
        # Some browsers write the PDF and do not end.
        if not _is_whole(target):
            whole_since = 0.0
        elif not whole_since:
            whole_since = time.monotonic()
        elif time.monotonic() - whole_since > _SETTLED_S:
            return
        time.sleep(_POLL_S)


def _is_whole(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - 32, 0))
        return file.read().rstrip().endswith(_END)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a browser with all the processes that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
