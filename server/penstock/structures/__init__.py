"""Many answers at once, from independent noises and public matrices.

Everything here is ``y = L (R x + z)``: ``R`` says which sums of the data are protected, ``z``
is independent noise for each of these (a node), and ``L`` puts outputs together afterwards.
Tiers are coupled node by node as releases of a vector are, so that a coalition loses what its
most accurate member does.

* ``forest``         running sums over nodes with parents: what the trees have in common
* ``kary``           the k-ary tree with and without subtraction, and the binary mechanism
* ``smooth_binary``  outputs that all have one law
* ``epochs``         streams without an end
* ``choice``         the tree with the least error for a length
* ``comparison``     what each structure costs at one guarantee, side by side
* ``node_noise``     the noise of a forest at every tier, step by step; tiers join midway
* ``node_state``     that noise as bytes, and back
* ``root_matrices``  the square root in integers, for streams
* ``root_noise``     its noise at every tier, step by step; tiers join midway
* ``root_state``     that noise as bytes, and back
* ``spread``         how far off an output may be
* ``factorization``  any public pair of matrices around one vector of noise
* ``square_root``    the factorization of running sums with the least error
* ``honaker``        a baseline that trees are measured against
* ``correlated``     many counts over one population, and its size for free
* ``counts``         the same without matrices, and from a release back to the counts
* ``sparse_histogram`` the keys of a huge domain that stand out, a package of its own
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
