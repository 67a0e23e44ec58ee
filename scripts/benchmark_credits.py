"""Print how long a table of projects takes: the rules alone, and from file to file.

Run from anywhere: ``python scripts/benchmark_credits.py [--rows 100000]``. Asserts nothing.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import tempfile
import time
from pathlib import Path

from grownj_geo.areanames import area_names, area_pairs
from grownj_geo.creditbatch import CreditQuestion, credit_block, run_credit_batch
from grownj_geo.rows_columns import TableOptions
from grownj_geo.rows_text import TextRows

_INDUSTRIES = ("manufacturing", "finance", "logistics", "other", "health", "technology")
_PREMISES = ("industrial", "other", "warehousing")


def write_projects(path: Path, rows: int, seed: int = 8) -> None:
    """Write a table of projects of all kinds, with areas of all three answers."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret is drawn
    areas = [name for name, area in area_names().items() if area.rulebook == "grow-nj"]
    numbers = [
        "new_jobs",
        "retained_jobs",
        "capital_investment",
        "average_salary",
        "median_salary",
        "eligibility_years",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        what = ["project", "industry", "premises", "construction", "gross_leasable_sqft", "similar_use_percent"]
        writer.writerow([*what, *numbers, "application_date", *areas])
        for row in range(rows):
            writer.writerow(
                [
                    f"P{row}",
                    chance.choice(_INDUSTRIES),
                    chance.choice(_PREMISES),
                    chance.choice(("new", "rehabilitation")),
                    chance.randrange(1_000, 400_000),
                    chance.choice((40, 51, 100)),
                    chance.randrange(1_200),
                    chance.choice((0, 0, chance.randrange(600))),
                    chance.randrange(50_000, 90_000_000),
                    chance.randrange(30_000, 150_000),
                    60_000,
                    chance.choice((5, 7, 10)),
                    f"201{chance.choice((4, 5, 6, 7))}-0{chance.randrange(1, 10)}-11",
                    *consistent({name: chance.choice(("yes", "no", "no", "undetermined")) for name in areas}).values(),
                ]
            )


def consistent(answers: dict[str, str]) -> dict[str, str]:
    """Return answers by area of which none contradicts another by its definition."""
    found = dict(answers)
    for name, other, apart in reversed(area_pairs()):
        if found.get(name) == "yes" and found.get(other) == ("yes" if apart else "no"):
            found[name] = "no"
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Time a table of projects.")
    parser.add_argument("--rows", type=int, default=100_000, help="how many projects")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "projects.csv", Path(folder) / "credits.csv"
        write_projects(source, options.rows)
        raws = list(TextRows(source, TableOptions()).raw_blocks(0, 20_000))
        start, worked = time.perf_counter(), time.process_time()
        for raw in raws:
            credit_block(raw, CreditQuestion())
        alone, alone_worked = time.perf_counter() - start, time.process_time() - worked
        start, worked = time.perf_counter(), time.process_time()
        summary = run_credit_batch(source, target)
        whole, whole_worked = time.perf_counter() - start, time.process_time() - worked
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{summary.rows:,} rows, {summary.answered:,} answered, eligible: {summary.eligible}")
        print(f"rules alone {alone:.2f} s ({alone_worked:.2f} s of one processor)")
        print(f"file to file {whole:.2f} s ({whole_worked:.2f} s of one processor)")
        print(f"{summary.rows / whole:,.0f} rows a second")
        print(f"at most {memory:,.0f} MB")


if __name__ == "__main__":
    main()
