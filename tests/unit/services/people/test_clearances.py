"""Test that the clearances that somebody did not set are told from those that they set."""

from tests.unit.worlds import World

from penstock.services.people.clearances import give, newest_not_by
from penstock.services.repository.people import clearance_of, tier_by_name, user_by_name


def test_the_newest_clearance_of_others_is_kept(world: World) -> None:
    with world.server.database.write() as session:
        user, now = user_by_name(session, "pia"), world.clock()
        give(session, user, tier_by_name(session, "internal"), now, "ada")
        give(session, user, None, now, "groups")
        assert clearance_of(session, user.id or 0) is None
        kept = newest_not_by(session, user, "groups")
        assert kept is not None
        assert (kept.by, kept.tier_id) == ("ada", tier_by_name(session, "internal").id)
