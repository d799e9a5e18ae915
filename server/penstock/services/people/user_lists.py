"""Create the users of a list together: all of them, or none."""

from collections.abc import Iterator, Sequence

from sqlmodel import Session

from penstock.connectors.planning.refusals import pointer, refusal
from penstock.errors import InvalidInput, NameTaken
from penstock.services.access.principals import ROLES, Principal
from penstock.services.access.two_person_rule import require_operator
from penstock.services.context import Server
from penstock.services.people import users
from penstock.services.schemas.people.user_files import Names, read_users
from penstock.services.schemas.people.users import UserList, UserSpec
from penstock.services.schemas.people.views import ListedUserView, NewUsersView
from penstock.spec_fields import folded

Place = tuple[int, str, str]
"""The position of a user in the list, the field that is wrong, and a sentence."""


def create(server: Server, principal: Principal, spec: UserList) -> NewUsersView:
    """Add the users of a list in one transaction, or in a dry run only look at them.

    Raises ``InvalidInput`` with every name that is taken or occurs twice and every clearance that
    is unknown, and ``Forbidden`` for a new admin under the two-person rule, unless the operator
    creates them.
    """
    principal.require("admin")
    database = server.database
    with database.read() if spec.dry_run else database.write() as session:
        if any("admin" in user.roles for user in spec.users):
            require_operator(server, principal, "makes admins")
        places = list(_wrong(session, [(user.name, user.clearance) for user in spec.users]))
        if places:
            raise refusal([(pointer("users", at, field), words) for at, field, words in places])
        if not spec.dry_run:
            for user in spec.users:
                tier = users.tier_for(session, user.clearance)
                users.add(session, server, principal, user, tier=tier)
    return NewUsersView(spec.dry_run, [_view(user) for user in spec.users])


def read_file(server: Server, principal: Principal, raw: bytes) -> list[UserSpec]:
    """Return the users of a CSV file, whose names are free and whose tiers there are.

    Raises ``InvalidInput`` with every wrong line and column, and as ``read_users`` does.  Names and
    tiers are looked up on every line where they are valid, whatever else is wrong there.
    """
    principal.require("admin")
    file = read_users(raw)
    with server.database.read() as session:
        known = [(file.lines[at], field, words) for at, field, words in _wrong(session, file.names)]
    lines = [
        f"line {line}, {field}: {words}" if field else f"line {line}: {words}"
        for line, field, words in sorted([*file.wrong, *known])
    ]
    if lines:
        detail = "\n".join(["The file creates nobody until it is corrected:", *lines])
        raise InvalidInput(detail, errors=[("/csv", line) for line in lines])
    return file.users


def _wrong(session: Session, listed: Sequence[Names]) -> Iterator[Place]:
    """Yield the names that are taken or occur twice, and the tiers that there are not."""
    names: set[str] = set()
    for at, (name, clearance) in enumerate(listed):
        if name is not None:
            if folded(name) in names:
                yield at, "name", "The list has this name twice, without regard to case; keep one."
            names.add(folded(name))
            try:
                users.require_free(session, name)
            except NameTaken as problem:
                yield at, "name", problem.detail
        try:
            users.tier_for(session, clearance)
        except InvalidInput as problem:
            yield at, "clearance", problem.detail


def _view(spec: UserSpec) -> ListedUserView:
    roles: list[str] = [role for role in ROLES if role in spec.roles]
    return ListedUserView(spec.name, roles, spec.clearance)
