"""Provide files with columns that tests choose."""

from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
from tests.unit.services.datasets.stays import ROWS


def written(folder: Path) -> tuple[Path, Path]:
    """Return the same table as CSV and as Parquet."""
    plain, packed = folder / "stays.csv", folder / "stays.parquet"
    plain.write_text(ROWS)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(plain), packed)
    return plain, packed
