"""Objects are looked up by name, several at a time."""

from tests.unit.connectors.storage.lakes import Memory

from penstock.connectors.storage.stores.objects import looked_up


def test_objects_come_in_the_order_of_their_names_and_none_for_what_is_not_there() -> None:
    store = Memory()
    for name in ("a", "b", "c"):
        store.put(name, name.encode())
    assert [item and item.name for item in looked_up(store, ["c", "x", "a"])] == ["c", None, "a"]
