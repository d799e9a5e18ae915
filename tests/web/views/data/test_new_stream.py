"""Test a stream opened by form.

Previewed without being opened, opened once, refused beside a field.
"""

import pytest
from tests.api.world import World
from tests.web.world import Browser, Open, text_of

FIELDS = {
    "name": "departures",
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "binary",
    "length": "32",
    "max_steps_per_unit": "1",
    "wish": "epsilon",
    "level public": "0.1",
    "level internal": "0.2",
}


@pytest.mark.usefixtures("unchanged")
def test_a_preview_opens_nothing(root: Browser) -> None:
    page = root.submit("/new/stream/preview", **FIELDS)
    assert page.status_code == 200, text_of(page)
    assert 'value="departures"' in page.text
    assert page.text.partition("<main")[2].count("<svg") == 4


def test_a_stream_is_opened_once_however_often_its_form_is_sent(
    root: Browser, world: World
) -> None:
    first = root.submit("/new/stream", **FIELDS, once="s" * 32)
    assert (first.status_code, first.location) == (303, "/streams/departures?added=1")
    assert root.submit("/new/stream", **FIELDS, once="s" * 32).location == first.location
    streams = world.answer("GET", "/api/v1/streams", by="root")["items"]
    assert [stream["name"] for stream in streams].count("departures") == 1


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"dataset": "absent"}, "over"),
        ({"name": ""}, "name"),
        ({"length": "many"}, "length"),
        ({"level public": "x"}, "level-2"),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_a_refusal_stands_beside_its_field(
    root: Browser, fields: dict[str, str], place: str
) -> None:
    for path in ("/new/stream/preview", "/new/stream"):
        page = root.submit(path, **{**FIELDS, **fields}, once="t" * 32)
        assert page.status_code == 422, text_of(page)
        assert f'id="{place}-wrong"' in page.text, text_of(page)


def test_only_admins_see_the_form(browse: Open) -> None:
    for name in ("ann", "olga"):
        assert browse(name).get("/new/stream").status_code == 403
