"""Write the JSON Schemas of the records into the package.

Run from anywhere: ``python scripts/write_schema.py``. With ``--check`` nothing is written; the exit code is 1
if a committed schema is not the one that the code gives.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.areas import AREAS_FORMAT, Areas
from grownj_geo.credits import CREDITS_FORMAT, Estimate
from grownj_geo.determination import FORMAT, Determination

if TYPE_CHECKING:
    from pydantic import BaseModel

SCHEMAS = Path(__file__).resolve().parents[1] / "grownj_geo" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
RECORDS: dict[str, tuple[type[BaseModel], str, str]] = {
    "determination.schema.json": (Determination, FORMAT, "Grow New Jersey area determination"),
    "areas.schema.json": (Areas, AREAS_FORMAT, "Areas as the credit rules take them"),
    "credits.schema.json": (Estimate, CREDITS_FORMAT, "What credit a project may have"),
}
"""By file: the record, its format, its title."""


def schema_text(record: type[BaseModel], form: str, title: str) -> str:
    """Return a record's schema as text: keys in order, two spaces, a line end.

    The schema describes what is written. A record always has all of its fields, null or empty where there is
    nothing to say, so all of them are required.
    """
    body = record.model_json_schema(mode="serialization")
    for part in (body, *body["$defs"].values()):
        if "properties" in part:
            part["required"] = sorted(part["properties"])
    body |= {"$schema": DIALECT, "$id": f"urn:{form.replace('/', ':')}", "title": title}
    return json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Write the JSON Schemas of the records.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    options = parser.parse_args()
    stale = False
    for name, (record, form, title) in RECORDS.items():
        path, text = SCHEMAS / name, schema_text(record, form, title)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            print(f"{name}: up to date")
        elif options.check:
            print(f"failed: {name} is not what the code gives; run scripts/write_schema.py", file=sys.stderr)
            stale = True
        else:
            SCHEMAS.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{name}: written")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
