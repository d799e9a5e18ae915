"""Say what an occurrence may register from a source whose name is the same every time.

Such a source is refilled between occurrences, and no occurrence is recognized by what it registers:
its version is stored with it, in one transaction.

* **recognized** by its bytes or its version: an occurrence whose data are registered already is
  skipped, says since which version they are the same, and charges nothing.
* **not recognized** (``Snapshot.NONE``): nobody can say whether the rows are new, so every
  occurrence is charged as if they were.  That is on the safe side where versions are added up, and
  nowhere else: neither ``disjoint_units`` nor streams may rely on the people of two occurrences
  being others.
"""

from penstock.connectors.choice import snapshot_of
from penstock.connectors.connector import Snapshot
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput, RegisteredAlready
from penstock.services.schemas.schedules import ScheduleSpec
from penstock.spec_fields import folded


def require_added_up(spec: ScheduleSpec, declared: DatasetSpec) -> None:
    """Raise ``InvalidInput`` if the same rows, registered twice, would count once.

    ``declared`` is the declaration of the version that is coming.
    """
    if not is_unrecognized(spec, declared):
        return
    source = declared.source
    same = (
        f"{source.table} has the same name every time, and {source.engine} does not say whether its"
        " rows are new: if it is not refilled, the same people are in two versions. "
    )
    if spec.version.get("disjoint_units"):
        raise InvalidInput(
            same + "Leave disjoint_units out, or name a view for each occurrence, with {date} in"
            " its name.",
            pointer="/version/disjoint_units",
        )
    if spec.streams:
        raise InvalidInput(
            same + "A stream would count them twice, and is not charged for that: name a view for"
            " each occurrence, with {date} in its name.",
            pointer="/streams",
        )


def is_unrecognized(spec: ScheduleSpec, declared: DatasetSpec) -> bool:
    """Return True if all occurrences read one name, and nothing shows which rows they read."""
    return not spec.is_dated and snapshot_of(declared) is Snapshot.NONE


def unchanged(spec: ScheduleSpec, problem: RegisteredAlready) -> str | None:
    """Return the sentence of an occurrence whose data are those of an earlier version.

    None if they are another dataset's, which is no earlier occurrence.
    """
    dataset, version = problem.data["dataset"], problem.data["version"]
    if folded(str(dataset)) != folded(spec.dataset):
        return None
    return (
        f"The data have not changed: they are those of version {version}, which was registered"
        " before. Nothing was registered or charged."
    )
