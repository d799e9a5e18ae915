"""Write the noise of a forest as bytes and read it back, so that a stream outlives its process.

The format is a line of JSON, then every node's own noise, tier by tier, as little-endian ``int64``.
The bytes are as secret as the noise: callers encrypt them before they store them.
"""

import json
from fractions import Fraction

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.structures.streams.forest import Forest, chain
from penstock.structures.streams.node_noise import Entry, NodeNoise

VERSION = 1


def to_bytes(noise: NodeNoise) -> bytes:
    """Write the whole state except for mechanism and forest, which are public."""
    header = {
        "version": VERSION,
        "step": noise.step,
        "dimension": noise.dimension,
        "levels": [str(level) for level in noise.levels],
        "nodes": [entry.node for entry in noise.way],
    }
    body = b"".join(vector.astype("<i8").tobytes() for entry in noise.way for vector in entry.own)
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + body


def from_bytes(state: bytes, mechanism: Mechanism, forest: Forest) -> NodeNoise:
    """Read the noise that ``to_bytes`` wrote.

    Raises ``InvalidInput`` for bytes that are no such state of this forest; whether they are
    the newest, only the caller who stored them knows.
    """
    try:
        line, body = state.split(b"\n", 1)
        header = json.loads(line)
        version = header["version"]
        step, dimension = int(header["step"]), int(header["dimension"])
        levels = [Fraction(level) for level in header["levels"]]
        nodes = [int(node) for node in header["nodes"]]
        vectors = np.frombuffer(body, dtype="<i8").astype(np.int64)
        own = vectors.reshape(len(nodes), len(levels), dimension)
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
