"""Test what is sent about datasets, queries, streams and schedules."""

from collections.abc import Callable

import pytest
from tests.client.admin.conftest import SCHEDULE, Desk
from tests.client.servers.answers import STREAM

from penstock_client import Admin, InvalidArgument


def test_datasets_and_queries(at: Callable[[Desk], Admin]) -> None:
    desk = Desk({"name": "a b", "dataset": "a b"})
    admin = at(desk)
    admin.set_budgets("a b", {"public": {"epsilon": 1}})
    admin.add_version("a b", {"source": {}})
    admin.withdraw_dataset("a b")
    admin.change_levels("a b", {"public": {"epsilon": 1}}, values=(1.0, 2.0))
    admin.change_levels("a b", {"public": {"epsilon": 1}})
    admin.reword_query("a b", {"title": "A"})
    admin.retire_query("a b")
    levels = {"levels": {"public": {"epsilon": 1}}}
    assert desk.sent == [
        ("PATCH", "/datasets/a%20b", {"budgets": {"public": {"epsilon": 1}}}),
        ("POST", "/datasets/a%20b/versions", {"source": {}}),
        ("DELETE", "/datasets/a%20b", None),
        ("PATCH", "/queries/a%20b", {**levels, "values": [1.0, 2.0]}),
        ("PATCH", "/queries/a%20b", levels),
        ("PATCH", "/queries/a%20b", {"title": "A"}),
        ("POST", "/queries/a%20b/retire", {}),
    ]


def test_streams(at: Callable[[Desk], Admin]) -> None:
    desk = Desk(STREAM)
    admin = at(desk)
    admin.open_stream({"name": "hits"})
    admin.change_stream("hits", {})
    admin.reword_stream("hits", {"title": "Hits"})
    admin.retire_stream("hits")
    assert [sent[:2] for sent in desk.sent] == [
        ("POST", "/streams"), ("PATCH", "/streams/hits"), ("PATCH", "/streams/hits"),
        ("POST", "/streams/hits/retire"),
    ]  # fmt: skip


def test_schedules(at: Callable[[Desk], Admin]) -> None:
    desk = Desk(SCHEDULE)
    admin = at(desk)
    assert admin.create_schedule({"name": "a b"}).spec["cron"] == "@daily"
    admin.preview_schedule({"name": "a b"}, days=9)
    admin.switch_schedule("a b", on=False)
    admin.schedule("a b")
    admin.remove_schedule("a b")
    assert [sent[:2] for sent in desk.sent] == [
        *(("POST", "/schedules"), ("POST", "/schedules/preview?days=9")),
        *((verb, "/schedules/a%20b") for verb in ("PATCH", "GET", "DELETE")),
    ]
    assert desk.sent[2][2] == {"on": False}


def test_what_json_cannot_say_is_not_sent(at: Callable[[Desk], Admin]) -> None:
    desk = Desk({})
    with pytest.raises(InvalidArgument):
        at(desk).register_dataset({"delta": float("nan")})
    assert desk.sent == []
