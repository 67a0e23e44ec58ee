"""For tests and for the examples in the package's documentation alike."""

from __future__ import annotations

import os
from pathlib import Path

# Nobody's own store of layers is seen, whoever runs this.
os.environ["GROWNJ_HOME"] = str(Path(__file__).parent / "no-store-here")
