"""Answer many questions at once, from independent noises and public matrices.

Everything here is ``y = L (R x + z)``: ``R`` states which sums of the data are protected,
``z`` is independent noise for each of these (a node), and ``L`` combines them to the outputs.
Tiers are coupled node by node as releases of a vector are, so a coalition's privacy loss is
that of its most accurate member.

* ``streams``           running sums over time: trees, epochs, the square root and buffers
* ``factorization``     any public pair of matrices around one vector of noise
* ``bin_tree``          counts of bins, and their running sums with least error
* ``counts``            many counts over one population, and its size without further cost
* ``ellipse``           counts without their size, by the least noise that there is
* ``noise_difference``  how far the noise of one value, less a multiple of another's, reaches
* ``noise_bytes``       the noise of a stream as bytes
* ``shared_nodes``      how far several elements move the nodes of a tree together
* ``marginals``         tables of several sets of columns, which agree with each other
* ``sparse_histogram``  the keys of a huge domain whose noisy count is above a threshold
"""

from penstock.structures.sparse_histogram import SparseHistogram
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import Forest
from penstock.structures.streams.kary import KaryTree, binary_tree
from penstock.structures.streams.node_noise import NodeNoise
from penstock.structures.streams.smooth_binary import SmoothBinary, balanced, smooth_binary

__all__ = [
    "Epochs",
    "Forest",
    "KaryTree",
    "NodeNoise",
    "SmoothBinary",
    "SparseHistogram",
    "balanced",
    "binary_tree",
    "smooth_binary",
]
