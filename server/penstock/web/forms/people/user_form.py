"""Read what an admin typed of a person: who they will be, as a user or by an invitation."""

from werkzeug.datastructures import MultiDict


def person(given: MultiDict[str, str]) -> dict[str, object]:
    """Return the name, the roles and the clearance of a form, for a model to check."""
    return {
        "name": given.get("name", "").strip(),
        "roles": given.getlist("roles"),
        "clearance": given.get("clearance") or None,
    }
