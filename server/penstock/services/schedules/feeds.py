"""Feed streams with the answers of an occurrence's version, and say before whether that will go.

Nothing is charged for an element, since the stream was charged when it was opened.  Each version
feeds a stream once (``streams.fed_elements``): an occurrence that is begun again adds none twice.
"""

from sqlmodel import Session

from penstock.connectors.planning.refusals import within
from penstock.errors import Conflict
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import spec_text
from penstock.services.jobs.runner import Run
from penstock.services.ledger.version_chains import last_version
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules.templates import Requests
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.streams import fed_elements
from penstock.services.streams.fed_elements import Fed


def require_feeds(session: Session, declared: DatasetRequest, requests: Requests) -> None:
    """Raise what feeding the streams from the version that is coming would raise.

    ``declared`` is the declaration that it will have.  Nothing but specs is read.
    """
    newest = dataset_by_name(session, declared.name)
    changed = {
        "version": last_version(session, newest) + 1,
        "spec": spec_text(declared),
        "disjoint_units": requests.version.disjoint_units,
    }
    coming = Dataset(**{**newest.model_dump(exclude={"id"}), **changed})
    for number, feed in enumerate(requests.feeds):
        with within("streams", number, "query"):
            fed_elements.checked(session, coming, feed)


def feed_all(
    server: Server,
    principal: Principal,
    requests: Requests,
    dataset: str,
    version: int,
    run: Run,
    also: Fed,
) -> None:
    """Add one element of a version to each stream that it has not fed yet.

    Raises as ``fed_elements.feed`` does, and ``Conflict`` if the version is not the newest.
    """
    if not requests.feeds:
        return
    with server.database.read() as session:
        newest = dataset_by_name(session, dataset)
    if newest.version != version:
        raise Conflict(
            f"Version {newest.version} of dataset {newest.name!r} was registered since version"
            f" {version}, whose answers were to be added to streams. They were not."
        )
    for feed in requests.feeds:
        run(f"feeding stream {feed.stream}", None)
        fed_elements.feed(server, principal, newest, feed, run, also)
