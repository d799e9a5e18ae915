"""Define what every process would do first, done once in the one that they are forked from.

Nothing is opened here and no entropy is read; what is kept is code, and tables that
depend on nothing.
"""

from fractions import Fraction

import alembic.command
import croniter
import duckdb
import pandas
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.special
import scipy.stats
from sqlalchemy.orm import configure_mappers
from tests.faults.forks import prefork
from tests.faults.kills import tasks
from tests.faults.kills.structures import histogram_tasks, stream_tasks
from tests.faults.postgresql import diaries
from tests.faults.races import deciding, racing, registering
from tests.faults.requests import requesting

from penstock.connectors.duckdb import conformance, connector
from penstock.persistence import migrate
from penstock.privacy import Ladder

# The modules that hold what the processes do.
__all__ = [
    "alembic",
    "conformance",
    "connector",
    "croniter",
    "deciding",
    "diaries",
    "duckdb",
    "histogram_tasks",
    "pandas",
    "prefork",
    "pyarrow",
    "pytest",
    "racing",
    "registering",
    "requesting",
    "scipy",
    "stream_tasks",
    "tasks",
]

configure_mappers()
migrate.revisions()
Ladder(finest=1, unit=Fraction(1), last=1000).rung_at_or_above(Fraction(2))
