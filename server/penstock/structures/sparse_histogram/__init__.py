"""Histograms over huge domains, of which tiers see the keys that stand out.

* ``domain``     the keys, and their ranks
* ``plan``       lattice and ladder
* ``threshold``  above which value a key is reported, at every rung
* ``histogram``  the same law with work that does not depend on the domain's size
* ``crossing``   a key of count 0 at a new level, given its silence at others
* ``messages``   what that silence tells
* ``axis``       quadrature, and draws of integers with it
* ``contents``   what is held and handed out
* ``state``      a histogram as bytes, and back
* ``charges``    what the sampler costs
* ``noise``      the mechanism of a histogram, which has these charges
"""

from penstock.structures.sparse_histogram.charges import (
    CEILING_ERROR,
    false_key_failure,
    numerical_charges,
    zero_key_failure,
)
from penstock.structures.sparse_histogram.contents import Report
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
from penstock.structures.sparse_histogram.threshold import Thresholds

__all__ = [
    "CEILING_ERROR",
    "Domain",
    "HistogramNoise",
    "Key",
    "Report",
    "Sha256Prefix",
    "SparseHistogram",
    "Strings",
    "Thresholds",
    "Uint64",
    "false_key_failure",
    "from_bytes",
    "next_crossing",
    "numerical_charges",
    "plan",
    "ranks_of",
    "to_bytes",
    "zero_key_failure",
]
