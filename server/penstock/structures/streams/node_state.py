"""Write the noise of a forest as bytes and read it back, so that a stream outlives its process.

The format is that of ``noise_bytes``, with every node's own noise, tier by tier.
"""

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.structures.noise_bytes import joined, parted
from penstock.structures.streams.forest import Forest, chain
from penstock.structures.streams.node_noise import Entry, NodeNoise

VERSION = 1


def to_bytes(noise: NodeNoise) -> bytes:
    """Write the whole state except for mechanism and forest, which are public."""
    vectors = (vector for entry in noise.way for vector in entry.own)
    return joined(noise, vectors, version=VERSION, nodes=[entry.node for entry in noise.way])


def from_bytes(state: bytes, mechanism: Mechanism, forest: Forest) -> NodeNoise:
    """Read the noise that ``to_bytes`` wrote.

    Raises ``InvalidInput`` for bytes that are no such state of this forest; whether they are
    the newest, only the caller who stored them knows.
    """
    try:
        header, levels, integers = parted(state)
        version = header["version"]
        step, dimension = int(header["step"]), int(header["dimension"])
        nodes = [int(node) for node in header["nodes"]]
        own = integers.reshape(len(nodes), len(levels), dimension)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("These bytes are not the state of a stream's noise.") from error
    expected = list(chain(forest, forest.node(step)))[::-1] if step else []
    if version != VERSION or not levels or nodes != expected:
        raise InvalidInput("This state is of another version or another structure.")
    noise = NodeNoise.begin(mechanism, forest, dimension, levels)
    noise.step = step
    total = np.zeros((len(levels), dimension), dtype=np.int64)
    for number, node in enumerate(nodes):
        total = total + own[number]
        noise.way.append(Entry(node, tuple(own[number].copy()), tuple(total)))
    return noise
