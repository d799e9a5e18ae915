"""Measure the statistics: errors of streams, errors on real data, and speed."""

from collections.abc import Sequence

from tests.benchmarks.figures import Figure, Print
from tests.benchmarks.running_sums import buffers
from tests.benchmarks.utility import compared, speed


def measure(say: Print = print) -> Sequence[Figure]:
    """Print tables of errors on real data; return the figures of streams and of speed."""
    compared.report(say=say)
    return [*buffers.measure(say=say), *speed.measure(say=say)]
