"""Ask whether a cluster is there before Spark does, which would wait long for one that is not."""

import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from penstock.connectors.spark.failures import UNREACHABLE
from penstock.errors import Unavailable

PATIENCE: Final = 10
"""The seconds after which a cluster that does not answer is not reachable."""

_HOST = re.compile(r"(?:\w+://)?(?:\[([^\]]+)\]|([^\[\]/;?,:]+)):(\d+)")


def hosts_of(address: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of an address; those that it names wrongly are left out."""
    matches = [_HOST.match(part) for part in address.split(",")]
    return [(match[1] or match[2], int(match[3])) for match in matches if match is not None]


def require_answer(hosts: Sequence[tuple[str, int]]) -> None:
    """Raise ``Unavailable`` unless one of the hosts takes a connection at its port."""
    for host in hosts:
        # A port above 65535, or a name that no host can have, is nobody's.
        with suppress(OSError, OverflowError, UnicodeError):
            socket.create_connection(host, PATIENCE).close()
            return
    raise Unavailable(UNREACHABLE)
