"""Driving a browser that prints: one that hangs, fails, or prints and does not end; finding it; no date in the file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from grownj_geo.features import LayerFault
from grownj_geo.reportchromium import find_chromium, print_page, undated

if TYPE_CHECKING:
    from pathlib import Path

_FIND = 'for a in "$@"; do case "$a" in --print-to-pdf=*) out="${a#--print-to-pdf=}";; esac; done\n'


def browser(folder: Path, script: str) -> str:
    """Return a program that behaves as some browsers do."""
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{_FIND}{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_one_that_prints_and_does_not_end_is_ended(tmp_path: Path) -> None:
    program = browser(tmp_path, f'printf "%%PDF-1.4 /Title (a) %%%%EOF" > "$out"; echo $$ > {tmp_path}/pid; sleep 600')
    assert print_page("<p>", program, timeout_s=60) == b"%PDF-1.4 /Title (a) %%EOF"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 0)


def test_one_that_hangs_is_refused_in_time(tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match=r"did not print the report within 1 s.*--pdf-engine fpdf2") as error:
        print_page("<p>", browser(tmp_path, "sleep 600"), timeout_s=1)
    assert error.value.fault == "not_printed"


def test_what_one_says_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match="no usable sandbox"):
        print_page("<p>", browser(tmp_path, "echo no usable sandbox >&2; exit 21"), timeout_s=30)


def test_half_a_file_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match="it said nothing"):
        print_page("<p>", browser(tmp_path, 'printf "%%PDF-1.4 half" > "$out"'), timeout_s=30)


def test_the_environment_names_it_or_says_that_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = browser(tmp_path, "")
    monkeypatch.setenv("GROWNJ_CHROMIUM", program)
    assert find_chromium() == program
    monkeypatch.setenv("GROWNJ_CHROMIUM", "")
    assert find_chromium() is None


def test_a_file_without_dates_keeps_its_length() -> None:
    pdf = b"<</CreationDate (D:20261130111412+00'00')\n/ModDate (D:20261130111412+00'00')>>"
    found = undated(pdf)
    assert len(found) == len(pdf)
    assert b"Date" not in found
