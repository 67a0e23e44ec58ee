"""The user's settings: which locators are asked, in which order, and how; ``settings.toml`` in the home folder.

Nothing is sent anywhere unless an online locator is named here: by default only the parcels and address points on this
machine are asked. Each setting can be given for one run by an environment variable: ``GROWNJ_LOCATORS=local,census``,
``GROWNJ_NOMINATIM_EMAIL``.
"""

from __future__ import annotations

import os
import re
import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, field_validator

from grownj_geo.errors import SettingsError
from grownj_geo.store import home_folder
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "LOCATOR_NAMES",
    "LocatorName",
    "NominatimSettings",
    "ServiceSettings",
    "Settings",
    "SettingsError",
    "change_setting",
    "load_settings",
    "setting_keys",
    "settings_path",
]

LocatorName = Literal["local", "census", "nj", "nominatim"]
LOCATOR_NAMES: tuple[LocatorName, ...] = get_args(LocatorName)
"""Every locator that can be named."""

_FILE = "settings.toml"
_LARGEST = 100_000
_PREFIX = "GROWNJ_"
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_LIST = re.compile(r"[\s,]+")

Rate = Annotated[float, Field(gt=0, le=100)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class ServiceSettings(Strict):
    """How one online locator is asked, where that is not as the package has it.

    Attributes
    ----------
    url
        Another address of the service, such as an instance of your own.
    rate_per_s
        How many questions a second at most.
    timeout_s
        Longest time for the answer to one question, in seconds.
    allow_private
        Let addresses of inner networks, and plain http, through.
    """

    url: str | None = None
    rate_per_s: Rate | None = None
    timeout_s: Seconds | None = None
    allow_private: bool = False

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, url: str | None) -> str | None:
        from grownj_geo.features import LayerFault  # noqa: PLC0415 - only where one is given
        from grownj_geo.netguard import Guard  # noqa: PLC0415 - same

        if url is None:
            return None
        try:
            Guard(frozenset()).naming(url)
        except LayerFault as error:
            raise ValueError(str(error)) from error
        if "?" in url or "#" in url:
            raise ValueError("it has a query; expected an address that paths are put behind")
        return url.rstrip("/")


class NominatimSettings(ServiceSettings):
    """How Nominatim is asked.

    Attributes
    ----------
    email
        Sent with every question, so that the instance's keepers know whom to write to.
    user_agent
        What the program calls itself there.
    most_at_once
        How many addresses of one table are asked for at most; None for the package's own limit on the public instance,
        and for any number elsewhere.
    """

    email: str | None = None
    user_agent: Annotated[str, Field(min_length=3, max_length=200, pattern=r"^[ -~]+$")] | None = None
    most_at_once: Annotated[int, Field(ge=1)] | None = None

    @field_validator("email")
    @classmethod
    def _is_email(cls, email: str | None) -> str | None:
        if email is not None and not _EMAIL.fullmatch(email):
            raise ValueError("it is no e-mail address; expected one such as name@example.org")
        return email


class Settings(Strict):
    """All settings.

    Attributes
    ----------
    locators
        Who is asked, in this order, until a match is good enough. ``local``, which sends nothing, is asked first
        where it is not named.
    cache_days
        For how long an online answer is kept and not asked for again; 0 keeps nothing.
    census, nj, nominatim
        How each online locator is asked.

    Examples
    --------
    >>> Settings(locators=("census", "nj")).locators
    ('local', 'census', 'nj')
    >>> Settings().online
    ()
    """

    locators: tuple[LocatorName, ...] = ("local",)
    cache_days: Annotated[float, Field(ge=0, le=3650)] = 90.0
    census: ServiceSettings = ServiceSettings()
    nj: ServiceSettings = ServiceSettings()
    nominatim: NominatimSettings = NominatimSettings()

    @field_validator("locators")
    @classmethod
    def _with_local(cls, locators: tuple[LocatorName, ...]) -> tuple[LocatorName, ...]:
        ordered = tuple(dict.fromkeys(locators))
        return ordered if "local" in ordered else ("local", *ordered)

    @property
    def online(self) -> tuple[LocatorName, ...]:
        """The locators that send something, in order."""
        return tuple(name for name in self.locators if name != "local")


def setting_keys() -> tuple[str, ...]:
    """Return the name of every setting, as in ``nominatim.email``.

    Examples
    --------
    >>> setting_keys()[:3]
    ('locators', 'cache_days', 'census.url')
    """
    keys = []
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, ServiceSettings):
            keys += [f"{name}.{inner}" for inner in field.annotation.model_fields]
        else:
            keys.append(name)
    return tuple(keys)


def settings_path(home: Path | None = None) -> Path:
    """Return where the settings lie, whether they are there or not."""
    return (home_folder() if home is None else home) / _FILE


def load_settings(home: Path | None = None, *, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings: the file's, and over them those of environment variables.

    Parameters
    ----------
    home
        The user's folder; `home_folder` by default.
    environment
        Variables; the process's own by default.

    Raises
    ------
    SettingsError
        If the file cannot be read, or a setting is unknown or has a value that does not fit. Nothing is guessed then:
        a misspelled setting could send what was not to be sent.
    """
    path = settings_path(home)
    found = _read(path)
    variables = os.environ if environment is None else environment
    for key in setting_keys():
        name = _PREFIX + key.replace(".", "_").upper()
        value = variables.get(name, "").strip()
        if value:
            _put(found, key, _typed(key, value))
            # Its own word in what is said of it, rather than the file's.
            _checked({key.partition(".")[0]: found[key.partition(".")[0]]}, f"The environment variable {name}")
    return _checked(found, f"The file {path}")


def change_setting(key: str, value: str | None, *, home: Path | None = None) -> Settings:
    """Write one setting into the file, and return what holds then; the rest of the file stays as it was written.

    Parameters
    ----------
    key
        Such as ``"locators"`` or ``"nominatim.email"``.
    value
        As typed; a list with commas. None takes the setting out, so that the package's own holds.
    home
        The user's folder.

    Raises
    ------
    SettingsError
        If the setting is unknown, the value does not fit, or the file cannot be read or written. Nothing is changed
        then.
    """
    import tomlkit  # noqa: PLC0415 - keeps what the user wrote beside; only where something is written

    from grownj_geo.files import written_beside  # noqa: PLC0415 - same

    if key not in setting_keys():
        raise SettingsError(f"There is no setting {key!r}; there are: {', '.join(setting_keys())}. Write one of these.")
    path = settings_path(home)
    found = _read(path)
    if value is not None:
        _put(found, key, _typed(key, value))
        _checked(found, f"{key} = {value}")
    document = tomlkit.parse(_text(path) or "")
    table: Any = document
    *above, name = key.split(".")
    for part in above:
        if part not in table:
            if value is None:
                return load_settings(home)
            table[part] = tomlkit.table()
        table = table[part]
    if value is None:
        table.pop(name, None)
    else:
        table[name] = _typed(key, value)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(path) as beside:
            beside.write_text(tomlkit.dumps(document), encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            f"The file {path} could not be written ({error.strerror}). Check its permissions, or set GROWNJ_HOME to "
            "another folder."
        ) from error
    return load_settings(home)


# -- reading --------------------------------------------------------------------------------------------


def _text(path: Path) -> str | None:
    """Return what the file holds; None where there is none."""
    try:
        if path.stat().st_size > _LARGEST:
            raise SettingsError(
                f"The file {path} has {path.stat().st_size:,} bytes; expected settings of at most {_LARGEST:,}. Look "
                "at what it is."
            )
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The file {path} cannot be read ({error}). Correct or remove it.") from error


def _read(path: Path) -> dict[str, Any]:
    text = _text(path)
    if text is None:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The file {path} is no TOML: {error}. Correct that line, or remove the file.") from error


def _put(found: dict[str, Any], key: str, value: object) -> None:
    table, _, name = key.rpartition(".")
    inner = found.setdefault(table, {}) if table else found
    if isinstance(inner, dict):
        inner[name] = value


def _typed(key: str, value: str) -> bool | float | str | list[str]:
    """Return a typed text as what TOML would hold; whether it fits is looked at afterwards."""
    text = value.strip()
    if key == "locators":
        return [name for name in _LIST.split(text.lower()) if name]
    if key.endswith(".allow_private"):
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(text.lower(), text)
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _checked(found: dict[str, Any], about: str) -> Settings:
    try:
        return Settings.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = f"there is no such setting; there are: {', '.join(setting_keys())}"
        raise SettingsError(f"{about}: {key}: {what}. Correct it; see: grownj settings show.") from error
