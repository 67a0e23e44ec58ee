"""The commands `grownj settings show`, `set`, `unset` and `forget`: which locators are asked, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo.cli_site import EPILOG, Json, Texts, fail, print_json, print_text, refusals, say, utf8

if TYPE_CHECKING:
    from grownj_geo.locatorcache import AnswerCache
    from grownj_geo.settings import Settings

__all__ = ["settings_app"]

settings_app = typer.Typer(
    name="settings",
    help=(
        "Which locators are asked where an address is, and how. Nothing is sent anywhere unless an online one is named "
        "here."
    ),
    epilog=EPILOG,
    no_args_is_help=True,
)

_KEY = "Such as locators, nominatim.email: see grownj settings show."


@settings_app.command(epilog=EPILOG)
def show(*, json: Json = False) -> None:
    """Show every setting, where they lie, what online locators send and to whom, and how many answers are kept."""
    from grownj_geo.settings import load_settings, setting_keys, settings_path  # noqa: PLC0415 - only where it is used

    with refusals():
        settings = load_settings()
        held = _cache(settings).held()
    values = {key: _value(settings, key) for key in setting_keys()}
    path = settings_path()
    if json:
        kept = {"answers": held.answers, "first": _day(held.first), "last": _day(held.last)}
        print_json({"file": str(path), "settings": values, "sends": _sends(settings), "kept": kept})
        return
    lines = [f"File: {path}{'' if path.exists() else ' (not there: the package has its own values)'}", ""]
    lines += [f"{key} = {_shown(value, _own(settings, key))}" for key, value in values.items()]
    lines += ["", *(f"{name}: {words}" for name, words in _sends(settings).items())]
    if not settings.online:
        lines.append("No online locator is switched on: nothing is sent anywhere.")
    period = f", of {held.first} to {held.last}" if held.answers else ""
    lines.append(f"Kept answers of online locators: {held.answers:,}{period} (grownj settings forget).")
    print_text("\n".join(lines) + "\n")


# A value may be a number below 0, which the settings refuse with a reason; it is no option.
@settings_app.command("set", epilog=EPILOG, context_settings={"ignore_unknown_options": True})
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY", help=_KEY)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A number, a text, or names with commas.")],
) -> None:
    """Change one setting, as in: grownj settings set locators census,nj."""
    from grownj_geo.settings import change_setting  # noqa: PLC0415 - only where it is used

    utf8(key, value)
    with refusals():
        settings = change_setting(key, value)
    say(f"{key} = {_shown(_value(settings, key), _own(settings, key))}")
    if key == "locators":
        _tell(settings)


@settings_app.command(epilog=EPILOG)
def unset(keys: Annotated[Texts, typer.Argument(metavar="KEY...", help=_KEY)] = None) -> None:
    """Take settings out of the file, so that the package's own hold again."""
    from grownj_geo.settings import change_setting  # noqa: PLC0415 - only where it is used

    if not keys:
        fail("Expected the name of a setting, as in: grownj settings unset locators.")
    utf8(*keys)
    with refusals():
        for key in keys:
            settings = change_setting(key, None)
            say(f"{key} = {_shown(_value(settings, key), _own(settings, key))}")


@settings_app.command(epilog=EPILOG)
def forget() -> None:
    """Forget every kept answer of online locators, and with them the addresses that were asked for."""
    from grownj_geo.settings import load_settings  # noqa: PLC0415 - only where it is used

    with refusals():
        count = _cache(load_settings()).clear()
    say(f"Forgot {count:,} kept answer{'' if count == 1 else 's'}.")


def _cache(settings: Settings) -> AnswerCache:
    from grownj_geo.locatorcache import AnswerCache  # noqa: PLC0415 - only where it is used

    return AnswerCache(days=settings.cache_days)


def _sends(settings: Settings) -> dict[str, str]:
    from grownj_geo.locators import online_locators  # noqa: PLC0415 - only where it is used

    return {locator.name: locator.sends for locator in online_locators(settings)}


def _tell(settings: Settings) -> None:
    """Say what is sent from now on, and to whom."""
    for name, words in _sends(settings).items():
        say(f"{name}: {words}")
    if not settings.online:
        say("No online locator is switched on: nothing is sent anywhere.")


def _value(settings: Settings, key: str) -> object:
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    return list(value) if isinstance(value, tuple) else value


def _own(settings: Settings, key: str) -> object:
    """Return what the package has for a setting that the user left to it; None where it has nothing."""
    from grownj_geo.locators import service_options  # noqa: PLC0415 - only where it is used
    from grownj_geo.settings import LOCATOR_NAMES  # noqa: PLC0415 - same

    service, _, name = key.rpartition(".")
    known = next((one for one in LOCATOR_NAMES if one == service), None)
    return None if known is None else getattr(service_options(settings, known), name, None)


def _shown(value: object, own: object = None) -> str:
    if value is None:
        return "(not set)" if own is None else f"{own} (the package's own)"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _day(day: object) -> str | None:
    return None if day is None else str(day)
