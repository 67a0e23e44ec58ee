"""Kept records: sealed, verified, taken back as the same site, and refused by name where anything was altered."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import NEWARK, drawn_book
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.determine import Directory, Engine
from grownj_geo.errors import RecordError, SiteError
from grownj_geo.kept import KEPT_FORMAT, Kept, Refused, holds_records, is_record, keep, read_records, sealed_text
from grownj_geo.locate import locate
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grownj_geo.atlas import Atlas


def newark(**more: Any) -> Site:
    return Site.from_lonlat(*NEWARK, **more)


def text_of(engine: Engine, site: Site) -> str:
    return sealed_text(engine.determine(site), engine, site)


def one(path: Path) -> Kept:
    (found,) = read_records([path])
    assert isinstance(found, Kept), found
    return found


def refused(path: Path) -> str:
    (found,) = read_records([path])
    assert isinstance(found, Refused), found
    assert path.name in found.source
    assert path.name in found.words
    return found.words


@pytest.fixture(scope="module")
def text(engine: Engine) -> str:
    return text_of(engine, newark())


# -- the same comes back ------------------------------------------------------------------------------


def test_a_point_comes_back_exactly(engine: Engine, tmp_path: Path) -> None:
    site = newark(uncertainty_ft=12.5)
    path = tmp_path / "a.json"
    keep(path, text_of(engine, site))
    kept = one(path)
    assert kept.sealed
    assert kept.site == site
    assert kept.determination == engine.determine(site)
    assert kept.rulebook == engine.rulebook


def test_a_polygon_with_facts_and_a_stated_municipality_comes_back_exactly(
    engine: Engine, atlas: Atlas, tmp_path: Path
) -> None:
    shape = shapely.Point(585_207.123456789, 692_615.987654321).buffer(200.0)
    typed = shapely.to_wkt(shape, rounding_precision=12)
    place = locate(typed, crs="EPSG:3424", municipality="0714", directory=Directory(atlas))
    site = Site(**{**vars(place), "facts": {"structure_exists": True, "full_time_jobs": 250.0}})
    keep(tmp_path / "a.json", text_of(engine, site))
    again = one(tmp_path / "a.json").site
    assert again == site
    assert shapely.to_wkb(again.geometry) == shapely.to_wkb(site.geometry)
    assert (again.mun_code, again.mun_basis) == ("0714", "stated")


def test_a_parcel_number_comes_back_as_one(engine: Engine, atlas: Atlas, tmp_path: Path) -> None:
    site = locate("0408_81_1", directory=Directory(atlas))
    keep(tmp_path / "a.json", text_of(engine, site))
    assert one(tmp_path / "a.json").site == site


@pytest.mark.parametrize("name", shipped_rulebooks())
def test_every_shipped_rulebook_comes_back_with_its_checksum(atlas: Atlas, tmp_path: Path, name: str) -> None:
    engine = Engine(atlas, load_rulebook(name))
    keep(tmp_path / "a.json", text_of(engine, newark()))
    assert one(tmp_path / "a.json").rulebook == load_rulebook(name)


def test_chosen_readings_and_editions_are_kept_apart_from_defaults(atlas: Atlas, tmp_path: Path) -> None:
    engine = Engine(atlas, load_rulebook(), {"A11": "strict"})
    site = newark()
    keep(tmp_path / "a.json", sealed_text(engine.determine(site), engine, site, editions=["planning_areas@none"]))
    kept = one(tmp_path / "a.json")
    assert (kept.readings, kept.editions) == ({"A11": "strict"}, ("planning_areas@none",))


def test_a_rulebook_in_the_record_that_is_not_the_one_applied_is_not_taken(atlas: Atlas, tmp_path: Path) -> None:
    engine = Engine(atlas, drawn_book({"in_new_jersey": True}))
    kept = one_of(tmp_path, text_of(engine, newark()))
    other = Kept(**{**vars_of(kept), "rulebook_json": {**dict(kept.rulebook_json or {}), "version": "2"}})
    assert kept.rulebook is not None
    assert other.rulebook is None


def one_of(folder: Path, text: str) -> Kept:
    (folder / "one.json").write_text(text, encoding="utf-8")
    return one(folder / "one.json")


def vars_of(kept: Kept) -> dict[str, Any]:
    return {name: getattr(kept, name) for name in Kept.__dataclass_fields__}


# -- never over another file --------------------------------------------------------------------------


def test_nothing_is_overwritten_unasked_and_nothing_is_left_beside(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(RecordError, match=r"a\.json is there already.*--replace"):
        keep(path, text)
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]
    keep(path, text, replace=True)
    assert one(path).sealed
    assert list(tmp_path.iterdir()) == [path]


def test_what_another_run_left_beside_neither_hinders_nor_is_taken_away(text: str, tmp_path: Path) -> None:
    others = tmp_path / f".a.json.{os.getpid()}.part"
    others.write_text("of another run", encoding="utf-8")
    keep(tmp_path / "a.json", text)
    keep(tmp_path / "a.json", text, replace=True)
    assert one(tmp_path / "a.json").sealed
    assert others.read_text(encoding="utf-8") == "of another run"


def test_a_folder_that_is_not_there_is_said(text: str, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="could not be written"):
        keep(tmp_path / "no" / "a.json", text)


# -- what was altered ---------------------------------------------------------------------------------


def test_laid_out_anew_it_is_the_same_record(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(json.loads(text)), encoding="utf-8")
    assert one(tmp_path / "a.json").sealed


def as_javascript(text: str) -> str:
    """Lay JSON out as JavaScript does, which has one kind of figure: the content of ``JSON.stringify``."""
    return json.dumps(json.loads(text, parse_float=lambda figure: _shortest(float(figure))), ensure_ascii=False)


def _shortest(figure: float) -> float:
    return int(figure) if figure.is_integer() else figure


def as_node(text: str) -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    program = "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(0, 'utf8')), null, 2))"
    done = subprocess.run([node, "-e", program], input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("lay_out", [as_javascript, as_node])
def test_laid_out_by_a_program_with_one_kind_of_figure_it_is_the_same_record(
    text: str, tmp_path: Path, lay_out: Callable[[str], str]
) -> None:
    assert ": 0.0" in text
    anew = lay_out(text)
    assert ": 0.0" not in anew
    (tmp_path / "a.json").write_text(anew, encoding="utf-8")
    (tmp_path / "first.json").write_text(text, encoding="utf-8")
    found, first = one(tmp_path / "a.json"), one(tmp_path / "first.json")
    assert found.sealed
    assert found.determination == first.determination
    assert found.rulebook == first.rulebook is not None
    (tmp_path / "a.json").write_text(anew.replace(": 0", ": 1", 1), encoding="utf-8")
    assert "altered after it was kept" in refused(tmp_path / "a.json")


def test_a_record_of_the_first_format_is_verified_as_it_was_sealed(text: str, tmp_path: Path) -> None:
    record = json.loads(text) | {"format": "grownj-record/1"}
    del record["sha256"]
    plain = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record | {"sha256": hashlib.sha256(plain).hexdigest()}), encoding="utf-8")
    assert one(path).sealed
    assert is_record(path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"format": KEPT_FORMAT}))
    assert "altered after it was kept" in refused(path)


def ends_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all values that hold no others."""
    if not isinstance(value, dict | list) or not value:
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [end for key, below in items for end in ends_of(below, (*path, key))]


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=60, deadline=None)
def test_any_value_changed_anywhere_is_seen(text: str, tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    record = json.loads(text)
    ends = ends_of(record)
    *above, last = ends[int(share * len(ends))]
    here: Any = record
    for key in above:
        here = here[key]
    here[last] = not here[last] if isinstance(here[last], bool) else f"{here[last]}x"
    path = tmp_path_factory.mktemp("altered") / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    (found,) = read_records([path])
    assert isinstance(found, Refused)


def test_every_part_left_out_or_added_is_seen(text: str, tmp_path: Path) -> None:
    for name in json.loads(text):
        record = json.loads(text)
        del record[name]
        (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
        refused(tmp_path / "a.json")
    (tmp_path / "a.json").write_text(json.dumps({**json.loads(text), "more": 1}), encoding="utf-8")
    assert "altered after it was kept" in refused(tmp_path / "a.json")


def test_a_name_given_twice_is_refused_though_a_parser_would_take_the_last(text: str, tmp_path: Path) -> None:
    first = text.index('"determination"')
    (tmp_path / "a.json").write_text(text[:first] + '"determination": {},\n ' + text[first:], encoding="utf-8")
    assert "given twice" in refused(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not readable as JSON"),
        (b"\xff\xfe{}", "not readable as JSON"),
        (b"[" * 100_000, "damaged"),
        (b'{"format": "grownj-record/1", "sha256": 1e999}', "damaged"),
        (b'{"format": NaN}', "damaged"),
        (b"{}", "it names no format"),
        (b'{"type": "FeatureCollection"}', "it names no format"),
        (b'{"format": "grownj-determination/9"}', "grownj-determination/9"),
        (b'{"format": "grownj-determination/1"}', "does not follow its format"),
        (b"3", "it names no format"),
    ],
)
def test_what_is_no_record_is_refused_by_name(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    assert words in refused(tmp_path / "odd.json")


def test_a_record_cut_short_anywhere_is_refused(text: str, tmp_path: Path) -> None:
    for length in (1, 100, len(text) // 2, len(text) - 3):
        (tmp_path / "a.json").write_text(text[:length], encoding="utf-8")
        refused(tmp_path / "a.json")


# -- other forms --------------------------------------------------------------------------------------


def test_json_of_check_is_taken_unsealed(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(engine.determine(newark()).to_json(), encoding="utf-8")
    kept = one(tmp_path / "a.json")
    assert not kept.sealed
    assert kept.determination == engine.determine(newark())
    assert shapely.distance(kept.site.geometry, newark().geometry) < 0.001


def test_lines_of_a_batch_one_of_them_damaged(engine: Engine, tmp_path: Path) -> None:
    record = engine.determine(newark()).model_dump(mode="json")
    lines = [json.dumps({"row": row, **record}) for row in (2, 3)]
    (tmp_path / "e.jsonl").write_text("\n".join([lines[0], lines[1][:500], "", lines[1]]) + "\n", encoding="utf-8")
    first, second, third = read_records([tmp_path / "e.jsonl"])
    assert isinstance(first, Kept)
    assert isinstance(second, Refused)
    assert isinstance(third, Kept)
    assert [one.source.rpartition(", ")[2] for one in (first, second, third)] == ["line 1", "line 2", "line 4"]


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".json"])
@pytest.mark.parametrize("damaged", [0, 1, 2])
@pytest.mark.parametrize("junk", ["", '{"form', "[1, 2]", "\x00\x00"])
def test_one_damaged_line_never_takes_the_others_with_it(
    engine: Engine, tmp_path: Path, damaged: int, ending: str, junk: str
) -> None:
    record = engine.determine(newark()).model_dump(mode="json")
    lines = [json.dumps({"row": row, **record}) for row in range(3)]
    lines[damaged] = junk or lines[damaged][:-40]
    path = tmp_path / f"e{ending}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = list(read_records([path]))
    assert [isinstance(one, Kept) for one in found] == [number != damaged for number in range(3)]
    assert [one.source.rpartition(", ")[2] for one in found] == ["line 1", "line 2", "line 3"]


def test_an_empty_file_of_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b"")
    assert "is empty" in refused(tmp_path / "e.jsonl")


# -- what nothing is written over ---------------------------------------------------------------------


def _escaped(text: str) -> str:
    return text.replace(KEPT_FORMAT, KEPT_FORMAT.replace("-", "\\u002d"))


def test_a_record_is_known_wherever_its_format_stands(text: str, engine: Engine, tmp_path: Path) -> None:
    record = engine.determine(newark()).to_json()
    for number, (content, sealed) in enumerate(
        [
            (text, True),
            (json.dumps(json.loads(text), sort_keys=True, indent=1), True),
            (json.dumps(json.loads(text), sort_keys=True).replace("/", "\\/"), True),
            (_escaped(json.dumps(json.loads(text), sort_keys=True)), True),
            (json.dumps(json.loads(text), sort_keys=True)[:-9], True),
            (json.dumps([json.loads(record)], sort_keys=True), False),
            ("damaged\n" + json.dumps(json.loads(record), sort_keys=True), False),
        ]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(content, encoding="utf-8")
        assert holds_records(path), number
        assert is_record(path) or not sealed, number


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", '{"records": []}'), ("a.csv", f'x,"{KEPT_FORMAT}"'), ("a.json", "")]
)
def test_other_files_are_no_records(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert not holds_records(tmp_path / name)
    assert not is_record(tmp_path / name)
    assert not is_record(tmp_path / "gone.json")


def test_a_list_of_several_rulebooks_and_a_folder(engine: Engine, text: str, tmp_path: Path) -> None:
    record = engine.determine(newark()).model_dump(mode="json")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.json").write_text(json.dumps([record, record], indent=1), encoding="utf-8")
    keep(tmp_path / "a.json", text)
    (tmp_path / "note.txt").write_text("not looked at", encoding="utf-8")
    found = list(read_records([tmp_path]))
    assert [type(each) for each in found] == [Kept, Kept, Kept]
    assert [each.sealed for each in found if isinstance(each, Kept)] == [True, False, False]


def test_what_is_not_there_and_an_empty_folder_are_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    missing, empty = read_records([tmp_path / "gone.json", tmp_path / "empty"])
    assert isinstance(missing, Refused)
    assert "gone.json is not there" in missing.words
    assert isinstance(empty, Refused)
    assert "holds no records" in empty.words


def test_a_geometry_that_cannot_be_read_names_the_record(engine: Engine, tmp_path: Path) -> None:
    record = engine.determine(newark()).model_dump(mode="json")
    record["site"]["geometry_wkt"] = "POINT (1"
    (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(SiteError, match=r"a\.json, line 1: the recorded geometry cannot be read"):
        _ = one(tmp_path / "a.json").site


def test_the_format_says_its_name(text: str) -> None:
    assert json.loads(text)["format"] == KEPT_FORMAT
