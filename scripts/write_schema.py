"""Write the JSON Schema of a determination into the package.

Run from anywhere: ``python scripts/write_schema.py``. With ``--check`` nothing is written; the exit code is 1
if the committed schema is not the one that the code gives.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from grownj_geo.determination import FORMAT, Determination

SCHEMA = Path(__file__).resolve().parents[1] / "grownj_geo" / "schemas" / "determination.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text() -> str:
    """Return the schema as text: keys in order, two spaces, a line end.

    The schema describes what is written. A record always has all of its fields, null or empty where there is
    nothing to say, so all of them are required.
    """
    body = Determination.model_json_schema(mode="serialization")
    for part in (body, *body["$defs"].values()):
        if "properties" in part:
            part["required"] = sorted(part["properties"])
    body |= {
        "$schema": DIALECT,
        "$id": f"urn:{FORMAT.replace('/', ':')}",
        "title": "Grow New Jersey area determination",
    }
    return json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Write the JSON Schema of a determination.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is not up to date")
    options = parser.parse_args()
    text = schema_text()
    found = SCHEMA.read_text(encoding="utf-8") if SCHEMA.is_file() else None
    if found == text:
        print(f"{SCHEMA.name}: up to date")
        return 0
    if options.check:
        print(f"failed: {SCHEMA.name} is not what the code gives; run scripts/write_schema.py", file=sys.stderr)
        return 1
    SCHEMA.parent.mkdir(exist_ok=True)
    SCHEMA.write_text(text, encoding="utf-8", newline="\n")
    print(f"{SCHEMA.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
