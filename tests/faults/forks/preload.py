"""Define what every process would do first, done once in the one that they are forked from.

Nothing is opened here and no entropy is read; what is kept is code, and tables that
depend on nothing.
"""

from fractions import Fraction

import alembic.command
import pytest
import scipy.special
import scipy.stats
from sqlalchemy.orm import configure_mappers
from tests.faults.forks import prefork
from tests.faults.kills import tasks, test_histogram, test_stream
from tests.faults.postgresql import test_stops
from tests.faults.races import racing, test_approvals

from penstock.persistence import migrate
from penstock.privacy import Ladder

# The tests' own modules hold what their processes do.
__all__ = [
    "alembic",
    "prefork",
    "pytest",
    "racing",
    "scipy",
    "tasks",
    "test_approvals",
    "test_histogram",
    "test_stops",
    "test_stream",
]

configure_mappers()
migrate.revisions()
Ladder(finest=1, unit=Fraction(1), last=1000).rung_at_or_above(Fraction(2))
