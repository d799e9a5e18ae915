"""Test that a cluster is asked whether it is there, and that one that is not is unavailable."""

import socket

import pytest

from penstock.connectors.spark.hosts import hosts_of, require_answer
from penstock.errors import Unavailable


def test_an_address_names_its_hosts() -> None:
    assert hosts_of("spark://a:7077,b:7078") == [("a", 7077), ("b", 7078)]
    assert hosts_of("[::1]:15002") == [("::1", 15002)]
    assert hosts_of("spark://a") == []


def test_one_host_that_answers_is_enough() -> None:
    with socket.socket() as silent, socket.create_server(("127.0.0.1", 0)) as server:
        silent.bind(("127.0.0.1", 0))
        hosts = [("127.0.0.1", each.getsockname()[1]) for each in (silent, server)]
        require_answer(hosts)
        with pytest.raises(Unavailable, match="cannot be reached"):
            require_answer(hosts[:1])


@pytest.mark.parametrize("host", [("127.0.0.1", 99_999), ("a" * 70, 1), ("", 0)])
def test_what_is_no_host_is_unavailable(host: tuple[str, int]) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        require_answer([host])
