"""List what a dataset may be registered from: the columns of a file, and the connections.

No cell is read, so what is shown of a file does not depend on its rows; the admin declares what a
column may hold.
"""

from penstock.connectors.specs import guess
from penstock.connectors.specs.models import ColumnType, Engine
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.data_folder import allowed_path, files_of_data

MOST_FILES = 20
"""So many files are offered; any other can be named."""


def columns(server: Server, principal: Principal, uri: str) -> dict[str, ColumnType]:
    """Return the columns of a file that could be registered, in its order.

    Raises ``Forbidden``, and ``InvalidInput`` for a file that cannot be read here.
    """
    principal.require("admin")
    if not uri or not uri.isprintable() or "://" in uri:
        raise InvalidInput(
            "This must be the path of a file on the server's machine, such as"
            " /data/visits.parquet.",
            pointer="/source/uri",
        )
    return guess.guess_schema(allowed_path(server, uri))


def files(server: Server, principal: Principal) -> list[str]:
    """Return the names of files that lie in the data folder, the first ``MOST_FILES`` by name.

    Raises ``Forbidden``.
    """
    principal.require("admin")
    return files_of_data(server.settings, MOST_FILES)


def connections(server: Server, principal: Principal) -> dict[str, Engine]:
    """Return the engine of each connection that a dataset may name; never what it connects to.

    Raises ``Forbidden``.
    """
    principal.require("admin")
    known = server.connections
    engines = {name: known.engine_of(name) for name in sorted(known.names)}
    return {name: engine for name, engine in engines.items() if engine is not None}
