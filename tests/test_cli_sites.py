"""What commands about several sites share: places in several words, and how far the work is, on a terminal only."""

from __future__ import annotations

import pytest

from grownj_geo.cli_sites import places_of, rows_done, steps_done


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["40.7344,", "-74.1641"], ["40.7344, -74.1641"]),
        (["+40.7344", "-74.1641"], ["+40.7344 -74.1641"]),
        (["40.7344,-74.1641"], ["40.7344,-74.1641"]),
        (["40.7344,-74.1641", "39.36,-74.435"], ["40.7344,-74.1641", "39.36,-74.435"]),
        (["12", "sites.csv"], ["12", "sites.csv"]),
        (["12"], ["12"]),
        ([], []),
    ],
)
def test_numbers_in_several_words_are_one_place(words: list[str], places: list[str]) -> None:
    assert places_of(words) == places


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hidden", [True, False])
def test_how_far_it_is_stands_on_a_terminal_only(
    terminal: bool,  # noqa: FBT001 - a parameter
    hidden: bool,  # noqa: FBT001 - a parameter
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    # What rich takes for a terminal, whatever the stream is.
    monkeypatch.setenv("FORCE_COLOR", "1" if terminal else "")
    with rows_done(hidden=hidden) as rows:
        rows(3, 9)
    with steps_done(hidden=hidden) as steps:
        steps(1, 5, "Port District [bold]")
    seen = capsys.readouterr()
    assert seen.out == ""
    if terminal and not hidden:
        assert "3/9" in seen.err
        assert "1/5" in seen.err
        assert "Port District [bold]" in seen.err
    else:
        assert seen.err == ""
