"""Read what is stored of the long query of a world."""

from pathlib import Path

from sqlmodel import Session, col, select
from tests.unit.worlds import World

from penstock.persistence.chunks.folder import FolderStore
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.sealed_state import stored_state


def rows(session: Session, name: str = "long") -> tuple[Dataset, Query, list[Release]]:
    """Return a query's rows; its releases from the most accurate on."""
    query = session.exec(select(Query).where(col(Query.folded) == name)).one()
    releases = session.exec(
        select(Release).where(col(Release.query_id) == query.id).order_by(col(Release.rung))
    ).all()
    return session.get_one(Dataset, query.dataset_id), query, list(releases)


def vectors(world: World, name: str = "long") -> dict[int, LongVector]:
    """Return a query's stored vectors by rung."""
    found = {}
    with world.server.database.read() as session:
        dataset, query, releases = rows(session, name)
        for release in releases:
            vector = stored_state(world.server, dataset, query, release)
            assert isinstance(vector, LongVector)
            found[release.rung] = vector
    return found


def store(world: World) -> FolderStore:
    """Return the folder of the chunks."""
    chunks = world.server.chunks
    assert isinstance(chunks, FolderStore)
    return chunks


def files(world: World, rung: int) -> list[Path]:
    """Return the files of a stored vector's chunks."""
    attempt = vectors(world)[rung].manifest.attempt
    return [store(world).folder / attempt / f"{index:08d}" for index in range(3)]
