"""Run the command line: ``python -m grownj_geo``."""

from __future__ import annotations

from grownj_geo.cli import main

if __name__ == "__main__":
    main()
