"""Release histograms over huge domains: the keys whose noisy count is above a threshold.

* ``domain``     the sets of keys, and the rank of a key
* ``plan``       the lattice and the ladder of a histogram
* ``threshold``  the threshold of every rung
* ``histogram``  the histogram, at a cost that does not depend on the domain's size
* ``crossing``   the law of a key of count 0 that is first reported at a new level
* ``exact_crossing``  such keys with Laplace noise, drawn exactly
* ``messages``   what a key's silence at some levels reveals about its noise
* ``axis``       quadrature, and draws of integers with it
* ``contents``   the support, and the report of a level
* ``state``      a histogram as bytes, and back
* ``charges``    the privacy cost of the sampler
* ``noise``      the mechanism of a histogram, which has these charges
"""

from penstock.structures.sparse_histogram.charges import (
    CEILING_ERROR,
    false_key_failure,
    numerical_charges,
    zero_key_failure,
)
from penstock.structures.sparse_histogram.contents import Report, joined, parted
from penstock.structures.sparse_histogram.domain import (
    Domain,
    Key,
    Sha256Prefix,
    Strings,
    Uint64,
    ranks_of,
)
from penstock.structures.sparse_histogram.histogram import SparseHistogram, next_crossing
from penstock.structures.sparse_histogram.noise import HistogramNoise
from penstock.structures.sparse_histogram.plan import plan
from penstock.structures.sparse_histogram.state import from_bytes, to_bytes
from penstock.structures.sparse_histogram.threshold import LaplaceThresholds, Thresholds

__all__ = [
    "CEILING_ERROR",
    "Domain",
    "HistogramNoise",
    "Key",
    "LaplaceThresholds",
    "Report",
    "Sha256Prefix",
    "SparseHistogram",
    "Strings",
    "Thresholds",
    "Uint64",
    "false_key_failure",
    "from_bytes",
    "joined",
    "next_crossing",
    "numerical_charges",
    "parted",
    "plan",
    "ranks_of",
    "to_bytes",
    "zero_key_failure",
]
