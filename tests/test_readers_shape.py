"""Shapefiles: their parts, their text, and what is cut or damaged in them."""

from __future__ import annotations

import shutil
import struct
from typing import TYPE_CHECKING

import pytest
from layer_files import CODES, frame, kinds, refused, shapefile, zipped

from grownj_geo.features import LayerFault
from grownj_geo.readers import read_features

if TYPE_CHECKING:
    from pathlib import Path

    import geopandas as gpd


@pytest.fixture
def areas() -> gpd.GeoDataFrame:
    return frame()


@pytest.mark.parametrize("ending", [".shx", ".dbf"])
def test_a_shapefile_needs_its_sidecars(tmp_path: Path, areas: gpd.GeoDataFrame, ending: str) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    parts[ending].rename(tmp_path / f"AREAS{ending}")
    assert "Rename" in refused(parts[".shp"], "missing_sidecar")
    (tmp_path / f"AREAS{ending}").unlink()
    assert f"areas{ending}" in refused(parts[".shp"], "missing_sidecar")
    refused(zipped(tmp_path / "a.zip", {f"x/{p.name}": p for p in tmp_path.glob("areas.*")}), "missing_sidecar")


def test_a_shapefile_without_prj_declares_no_system(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    parts[".prj"].unlink()
    assert read_features(parts[".shp"]).crs is None


def test_feet_of_two_kinds_are_kept_apart(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    text = parts[".prj"].read_text()
    assert "0.304800609601219" in text
    parts[".prj"].write_text(text.replace("0.304800609601219", "0.3048"))
    crs = read_features(parts[".shp"]).crs
    assert crs is not None
    assert crs != "EPSG:3424"
    assert "0.3048]" in crs


@pytest.mark.parametrize("ending", [".shp", ".shx", ".dbf"])
@pytest.mark.parametrize("part", [0.0, 0.05, 0.5, 0.97])
def test_a_cut_shapefile_is_refused(tmp_path: Path, areas: gpd.GeoDataFrame, ending: str, part: float) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = parts[ending].read_bytes()
    parts[ending].write_bytes(content[: int(len(content) * part)])
    with pytest.raises(LayerFault) as caught:
        read_features(parts[".shp"])
    assert caught.value.fault in {"truncated", "wrong_format"}
    assert parts[ending].name in str(caught.value)


def test_a_shapefile_cut_with_its_header_made_to_fit_is_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".shp"].read_bytes())[:400]
    content[24:28] = struct.pack(">i", 200)
    parts[".shp"].write_bytes(content)
    assert "row" in refused(parts[".shp"], "truncated")


def test_parts_of_different_exports_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    (tmp_path / "other").mkdir()
    other = shapefile(areas.iloc[::-1].iloc[:5], tmp_path / "other/areas.shp")
    for ending in (".dbf", ".shx"):
        kept = parts[ending].read_bytes()
        shutil.copyfile(other[ending], parts[ending])
        refused(parts[".shp"], "truncated")
        parts[ending].write_bytes(kept)
    assert len(read_features(parts[".shp"])) == 6


def test_a_shape_that_gdal_cannot_make_out_is_no_empty_one(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".shp"].read_bytes())
    content[100 + 8 + 36 : 100 + 8 + 40] = struct.pack("<i", 1_000_000)
    parts[".shp"].write_bytes(content)
    with pytest.raises(LayerFault) as caught:
        read_features(parts[".shp"])
    assert caught.value.fault in {"broken_geometry", "unreadable"}


def test_missing_shapes_stay_missing(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    areas.loc[3, "geometry"] = None
    features = read_features(shapefile(areas, tmp_path / "areas.shp")[".shp"])
    assert [g is None for g in features.geometries] == [False, False, False, True, False, False]


def test_deleted_rows_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".dbf"].read_bytes())
    start, width = struct.unpack("<HH", content[8:12])
    content[start + 2 * width] = ord("*")
    parts[".dbf"].write_bytes(content)
    features = read_features(parts[".shp"])
    assert features.columns["CODE"] == [CODES[i] for i in (0, 1, 3, 4, 5)]
    assert next(c.rows for c in features.changes if c.kind == "deleted_rows") == (3,)


def test_cut_names_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas.rename(columns={"CODE": "TENLETTERS"}), tmp_path / "areas.shp")
    told = {c.kind: c for c in read_features(parts[".shp"]).changes}
    assert "TENLETTERS" in told["field_names_cut"].words
    assert "SPDETAIL" not in told["field_names_cut"].words


def recode(parts: dict[str, Path], text: bytes, cpg: str | None, language: int) -> Path:
    """Put other bytes in place of the last class, and declare an encoding."""
    content = bytearray(parts[".dbf"].read_bytes())
    at = content.index("Pe\xf1a".encode())
    content[at : at + 6] = text.ljust(6)
    content[29] = language
    parts[".dbf"].write_bytes(content)
    if cpg is None:
        parts[".cpg"].unlink(missing_ok=True)
    else:
        parts[".shp"].with_suffix(".cpg").write_text(cpg)
    return parts[".shp"]


UTF8, LATIN = "Pe\xf1a".encode(), "Pe\xf1a".encode("cp1252")


@pytest.mark.parametrize(
    ("text", "cpg", "language"),
    [
        (UTF8, "UTF-8", 0), (UTF8, "65001", 0x57), (UTF8, None, 0), (LATIN, None, 0), (LATIN, None, 0x57),
        (LATIN, "1252", 0), (LATIN, "ANSI 1252", 0), (LATIN, "ISO-8859-1", 0), (LATIN, "88591", 0),
        ("Pe\xf1a".encode("cp437"), None, 0x01),
    ],
)  # fmt: skip
def test_text_is_read_as_declared(
    tmp_path: Path, areas: gpd.GeoDataFrame, text: bytes, cpg: str | None, language: int
) -> None:
    features = read_features(recode(shapefile(areas, tmp_path / "areas.shp"), text, cpg, language))
    assert features.columns["SPDETAIL"][-1] == "Pe\xf1a"
    assert ("encoding_taken" in kinds(features)) == (cpg is None and language == 0)


@pytest.mark.parametrize(
    ("text", "cpg", "language", "right"),
    [
        (LATIN, "UTF-8", 0, "cp1252"),
        (UTF8, "1252", 0, "utf-8"),
        (UTF8, None, 0x57, "UTF-8"),
        (UTF8, "X-MAC-9", 0, "utf-8"),
    ],
)
def test_text_that_is_not_as_declared_is_refused_until_named(  # noqa: PLR0917 - one for each column
    tmp_path: Path, areas: gpd.GeoDataFrame, text: bytes, cpg: str | None, language: int, right: str
) -> None:
    path = recode(shapefile(areas, tmp_path / "areas.shp"), text, cpg, language)
    refused(path, "wrong_encoding")
    assert read_features(path, encoding=right).columns["SPDETAIL"][-1] == "Pe\xf1a"
    refused(path, "wrong_encoding", encoding="no-such-encoding")
