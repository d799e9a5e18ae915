"""Draw from tables of distribution functions.

* ``table``    one law, its thresholds exact to 2^-193 each
* ``weights``  tables of Poisson and binomial laws of any mean
* ``rows``     many tables side by side, looked up for most draws by one index
* ``sums``     binomial integers of many numbers of trials, as sums of tabulated ones
"""

from penstock.randomness.inversion.table import Table

__all__ = ["Table"]
