"""Test the people of the demo: one reader in each tier, and names that nobody shares."""

from penstock.demo import cast


def test_every_tier_has_one_reader_of_its_initial() -> None:
    assert [reader.tier for reader in cast.READERS] == list(cast.TIERS)
    assert all(reader.tier and reader.name[0] == reader.tier[0] for reader in cast.READERS)


def test_no_two_people_have_one_name() -> None:
    names = [person.name for person in (*cast.EVERYBODY, *cast.NEWCOMERS, cast.REPORTER)]
    assert len(set(names)) == len(names)


def test_two_admins_can_approve_each_others_proposals() -> None:
    assert {cast.ADMIN.role, cast.SECOND.role} == {"admin"}
    assert cast.ADMIN != cast.SECOND


def test_only_readers_have_a_tier() -> None:
    people = (*cast.EVERYBODY, *cast.NEWCOMERS, cast.REPORTER)
    assert all(person.role == "analyst" for person in people if person.tier)
