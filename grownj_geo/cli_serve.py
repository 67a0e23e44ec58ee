"""The command `grownj serve`: the page in the browser and the HTTP API, on this machine."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo.cli_site import Texts, fail, option, refusals, say

if TYPE_CHECKING:
    from grownj_geo.serveguard import GuardOptions

__all__ = ["serve"]

INSTALL_SERVE = "pip install 'grownj-geo[serve]'"

_NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "js_lib_leaflet")
_LEAST_TOKEN = 16
_MOST_HOURS = 366 * 24
_MB = 1_000_000


def serve(
    *,
    host: Annotated[
        str, option("--host", metavar="ADDRESS", words="Where to listen (default: 127.0.0.1, this machine alone).")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes any that is free.")
    ] = 8337,
    open_page: Annotated[bool, option("--open", words="Open the page in the browser.")] = False,
    token_file: Annotated[
        Path | None, option("--token-file", metavar="FILE", words="Ask callers for the token in this file.")
    ] = None,
    allow_host: Annotated[
        Texts, option("--allow-host", metavar="NAME", words="A name to be asked under; repeatable.")
    ] = None,
    allow_origin: Annotated[
        Texts, option("--allow-origin", metavar="URL", words="Another page that may use the API; repeatable.")
    ] = None,
    max_upload_mb: Annotated[int, option("--max-upload-mb", metavar="N", least=1, words="Longest upload.")] = 200,
    job_hours: Annotated[float, option("--job-hours", metavar="N", words="How long tables are kept.")] = 24.0,
    log_addresses: Annotated[
        bool, option("--log-addresses", words="Write down what is asked about too, and who asks.")
    ] = False,
) -> None:
    """Serve a page with a map, and an HTTP API, until Ctrl+C.

    The page finds addresses, parcel numbers, blocks and lots, and coordinates, shows the findings beside the map with
    every reason, and takes tables. It needs no network. Only this machine can ask unless --host says otherwise; then
    set a token, and put a server with TLS before it. For example:

    grownj serve --open

    grownj serve --host 0.0.0.0 --allow-host gis.example.gov --token-file token.txt
    """
    _check_installed()
    from grownj_geo.serveapp import create_app  # noqa: PLC0415 - only where it is used
    from grownj_geo.serveguard import is_local  # noqa: PLC0415 - same
    from grownj_geo.servelog import RequestLog  # noqa: PLC0415 - same
    from grownj_geo.serverun import address_of, listening, run_app  # noqa: PLC0415 - same

    if not 0 < job_hours <= _MOST_HOURS:
        fail(
            f"--job-hours was read as {job_hours:g}; expected hours, more than 0 and at most {_MOST_HOURS:g} (a year)."
        )
    guard = _guard(host, token_file, allow_host or (), allow_origin or (), max_upload_mb)
    if not is_local(host) and guard.token is None:
        say(f"Whoever reaches {host} can ask, and nobody is asked for a token: --token-file FILE changes that.")
    with refusals():
        app = create_app(guard, log=RequestLog(addresses=log_addresses), job_hours=job_hours, warm=True)
        sock = listening(host, port)
    address = address_of(sock)
    written = "is written down here, with who asks" if log_addresses else "is not written down"
    say(f"Serving {address} until Ctrl+C. What is asked about {written}. {_sent_words()}")
    if open_page:
        import webbrowser  # noqa: PLC0415 - only where it is used

        webbrowser.open(f"{address}#token={guard.token}" if guard.token else address)
    run_app(app, sock)


def _sent_words() -> str:
    """Return what leaves this machine, by the settings as they are now."""
    from grownj_geo.errors import SettingsError  # noqa: PLC0415 - only where it is used
    from grownj_geo.settings import load_settings  # noqa: PLC0415 - same

    try:
        online = load_settings().online
    except SettingsError as error:
        return f"No address is looked up, and nothing is sent anywhere, as the settings cannot be read: {error}"
    if not online:
        return "Nothing is sent anywhere."
    return f"Addresses that are not surely known here are sent to {', '.join(online)} (see grownj settings show)."


def _check_installed() -> None:
    """Refuse to begin where a package is missing."""
    from importlib.util import find_spec  # noqa: PLC0415 - only where it is used

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        fail(f"Serving needs {', '.join(missing)}, which is not installed. Install it: {INSTALL_SERVE}.")


def _guard(
    host: str, token_file: Path | None, hosts: Texts | tuple[()], origins: Texts | tuple[()], upload_mb: int
) -> GuardOptions:
    from urllib.parse import urlsplit  # noqa: PLC0415 - only where it is used

    from grownj_geo.serveguard import GuardOptions, host_of  # noqa: PLC0415 - same

    names = {host.lower()}
    for typed in hosts or ():
        name = host_of(typed)
        if name is None:
            fail(f"--allow-host was read as {typed!r}; expected a name such as gis.example.gov.")
        names.add(name)
    for origin in origins or ():
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query:
            fail(f"--allow-origin was read as {origin!r}; expected an origin such as https://gis.example.gov.")
    token = None if token_file is None else _token(token_file)
    return GuardOptions(frozenset(names), frozenset(origins or ()), token, upload_bytes=upload_mb * _MB)


def _token(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"--token-file {path} could not be read: {getattr(error, 'strerror', None) or error}.")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        fail(
            f"--token-file {path} holds no token: expected at least {_LEAST_TOKEN} letters and digits on one line, as "
            'made by: python -c "import secrets; print(secrets.token_urlsafe())".'
        )
    return token
