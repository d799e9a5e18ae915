"""Test the client against servers that change, truncate or fork their log."""

import pytest
from tests.client.servers.hosts import Host, canonical, ed25519, more, session

from penstock_client import Client, LogRefused


def test_a_log_that_grows_is_believed_and_remembered(host: Host, client: Client) -> None:
    assert client.verify().size == 6
    host.leaves += more(*range(4))
    assert client.release("flights_by_carrier").receipt.index == 10
    assert session(host).verify().size == 11
    host.leaves += more("last")
    assert session(host).verify().size == 12


def test_a_receipt_is_held_to_the_log(host: Host, client: Client) -> None:
    first = client.release("flights_by_carrier").receipt
    assert "/api/v1/audit/proof/inclusion" in host.paths
    host.leaves += more(1, 2, 3)
    assert client.release("flights_by_carrier").receipt == first, "an old receipt stays true"
    assert client.stream("hits").receipt.index == 10


@pytest.mark.parametrize("again", [False, True])
def test_a_shorter_log_is_refused(host: Host, client: Client, again: bool) -> None:
    client.verify()
    host.leaves.pop()
    with pytest.raises(LogRefused, match="had 6"):
        (session(host) if again else client).verify()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("grown", [0, 1, 4])
def test_a_forked_history_is_refused(host: Host, client: Client, again: bool, grown: int) -> None:
    """Every checkpoint is signed by the right key; only earlier leaves differ."""
    client.release("flights_by_carrier")
    host.leaves[2] = canonical(v=1, rewritten=True)
    host.leaves += more(*range(grown))
    reader = session(host) if again else client
    with pytest.raises(LogRefused, match=r"does not begin|of more leaves"):
        reader.verify()
    with pytest.raises(LogRefused):
        reader.release("flights_by_carrier")


def test_another_key_is_refused(host: Host, client: Client) -> None:
    client.verify()
    host.key = ed25519(8)
    with pytest.raises(LogRefused, match="another key"):
        session(host).verify()


def test_clients_that_share_a_file_hold_the_log_to_what_any_of_them_saw(
    host: Host, client: Client
) -> None:
    second = session(host)
    assert client.verify().size == 6
    host.leaves += more(1, 2)
    assert second.verify().size == 8
    host.leaves[6:] = [canonical(v=1, rewritten=True)]
    with pytest.raises(LogRefused, match="had 8"):
        client.verify()
    host.leaves += more(3, 4, 5)
    with pytest.raises(LogRefused, match="does not begin"):
        client.verify()
