"""The pages of layers, of lists, and of the columns that a batch and an export write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs_text import anchor, bullets, code, table, text

from grownj_geo.atlas import load_atlas
from grownj_geo.batchwork import batch_columns
from grownj_geo.designations import load_lists
from grownj_geo.determine import Engine
from grownj_geo.layers_page import field_words
from grownj_geo.manifest import load_manifests
from grownj_geo.palette import area_classes, area_groups
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.manifest import Manifest

__all__ = ["layer_pages"]

_INTRO = """\
# Layers

Every map and list that a rule may ask for: what it is, who publishes it, how well its lines are known, and how to load
it where it does not ship. `grownj layers list` says which are loaded on your machine, `grownj layers show LAYER` what
is below. Status words are explained in [the data's README](project/data.md).
"""

_COLUMNS = """\
# Columns of a batch

What `grownj batch` writes beside a table's own columns, with the rulebook `grow-nj`. `grownj batch --dictionary` prints
it, also for another rulebook, and `--json` makes it a record. `gj.classify` gives the same columns but `row`.
"""


def layer_pages(no_store: Path) -> dict[str, str]:
    """Return the pages by their place below ``docs``.

    Parameters
    ----------
    no_store
        A folder without layers of the user.
    """
    return {"layers.md": _layers(), "columns.md": _columns(no_store), "map-classes.md": _classes()}


def _layers() -> str:
    manifests = load_manifests()
    rows = [
        [f"[{text(m.title)}](#{m.id})", "ships" if m.ships else "to be loaded", text(m.kind), _accuracy(m)]
        for m in manifests.values()
    ]
    lines = [_INTRO, *table(["Layer", "", "Kind", "Lines known to"], rows)]
    for manifest in manifests.values():
        lines += _layer(manifest)
    lines += ["", f"## Lists of municipalities {anchor('lists')}", "", "The lists of the layer designations:"]
    lists = [
        [code(known.name), text(known.label), "a no" if known.complete else "open", text(known.note)]
        for known in load_lists().values()
    ]
    lines += table(["List", "What", "Absence from it is", "Note"], lists)
    return "\n".join(lines) + "\n"


def _accuracy(manifest: Manifest) -> str:
    return "" if manifest.accuracy_ft is None else f"{manifest.accuracy_ft:,.1f} ft"


def _layer(manifest: Manifest) -> list[str]:
    lines = ["", f"## {text(manifest.title)} {anchor(manifest.id)}", "", text(manifest.description), ""]
    absence = "from it is a no" if manifest.complete else "from it proves nothing: it is not complete"
    known = f"known to {_accuracy(manifest)}. " if manifest.accuracy_ft is not None else "accuracy not known. "
    facts = {
        "Id": code(manifest.id),
        "Publisher": text(manifest.publisher),
        "Source": text(manifest.source),
        "Lines": f"{known}{text(manifest.accuracy_source or '')}",
        "Absence": absence,
        "To load it": f"{code(manifest.load_command)}. {text(manifest.how_to_load)}",
        "Terms": text(manifest.terms),
        "Status": f"{text(manifest.status)}. {text(manifest.status_note or '')}",
    }
    if manifest.ships:
        edition = f"the edition of {manifest.edition}" if manifest.edition else "yes"
        facts = {"Id": facts.pop("Id"), "Ships": edition} | facts
    lines += bullets(f"**{name}**: {words}".rstrip() for name, words in facts.items() if words.strip(". "))
    fields = field_words(manifest)
    if fields:
        lines += ["", "Fields:", "", *bullets(map(text, fields))]
    if manifest.cautions:
        lines += ["", "Cautions:", "", *bullets(map(text, manifest.cautions))]
    return lines


def _columns(no_store: Path) -> str:
    lines = [_COLUMNS]
    atlas = load_atlas(store=no_store)
    for book_id in shipped_rulebooks():
        if book_id != "grow-nj":
            continue
        engine = Engine(atlas, load_rulebook(book_id))
        brief = batch_columns(engine, (), "brief")
        names = {column.name for column in brief}
        more = [column for column in batch_columns(engine, (), "full") if column.name not in names]
        for title, columns in (("Always", brief), ("With `--columns full`", more)):
            rows = [[code(column.name), text(column.type), text(column.meaning)] for column in columns]
            lines += ["", f"## {title}", *table(["Column", "Type", "Meaning"], rows)]
    return "\n".join(lines) + "\n"


def _classes() -> str:
    labels = {group.id: group.label for group in area_groups()}
    rows = [
        [code(look.id), text(labels.get(look.group, look.group)), text(look.pattern), f"`{look.colour}`"]
        for look in area_classes()
    ]
    head = ["Class", "Group", "Pattern", "Colour"]
    intro = (
        "# Classes of a map\n\nWhat `grownj map` can draw, and what `--layer CLASS` takes. Colours and patterns are "
        "the same on the page, in pictures and in the styles of exported files, and told apart by every kind of colour "
        "sight.\n"
    )
    return "\n".join([intro, *table(head, rows)]) + "\n"
