"""Test that a release's page computes from its values, of what the reader holds alone."""

import re
from urllib.parse import urlencode

from tests.api.world import World
from tests.web.world import Browser, Open, text_of

from penstock_client import Release
from penstock_client._http.fields import Fields
from penstock_client.derived import ratio, total


def received(world: World, by: str, query: str = "visits", tier: str = "public") -> Release:
    answer = world.answer("POST", f"/api/v1/queries/{query}/releases", {"tier": tier}, by=by)
    return Release.read(Fields(answer, "release"))


def computed(browser: Browser, release: Release, status: int = 200, **choice: object) -> str:
    page = browser.get(f"/releases/{release.id}?{urlencode(choice, doseq=True)}")
    assert page.status_code == status, page.text
    return page.text


def numbers(page: str) -> list[float]:
    table = page[page.index('aria-label="Computed"') :]
    cells = re.findall(r'<td class="right">([^<]*)</td>', table[: table.index("</table>")])
    return [float(cell.replace(",", "").replace("no end", "inf")) for cell in cells]


def test_a_page_shows_what_the_client_computes_and_spends_and_logs_nothing(
    browse: Open, world: World
) -> None:
    release = received(world, "ann")
    first, second = map(str, release.keys[:2])
    before = len(world.answer("GET", "/api/v1/audit/events", by="olga")["items"])
    page = computed(browse("ann"), release, quantity="total")
    exact = total(release)
    for shown, number in zip(numbers(page), (exact.value, exact.lower, exact.upper), strict=True):
        assert abs(shown - number) <= 0.005 * abs(number) + 0.51
    assert "The interval is" in page
    assert "It is about the noise alone." in page
    page = computed(browse("ann"), release, quantity="ratio", first=first, second=second)
    assert "By Fieller’s method." in page
    over = ratio(release, release.keys[0], release.keys[1])
    assert abs(numbers(page)[0] - over.value) <= 0.01 * abs(over.value)
    assert f'<option value="{first}" selected>' in page
    assert len(world.answer("GET", "/api/v1/audit/events", by="olga")["items"]) == before


def test_a_refusal_keeps_the_form_and_says_at_which_field(browse: Open, world: World) -> None:
    release = received(world, "ann")
    first = str(release.keys[0])
    page = computed(browse("ann"), release, 422, quantity="difference", first=first)
    assert "Nothing was done. Choose at least one key." in page
    assert f'<option value="{first}" selected>' in page
    assert '<option value="difference" selected>' in page
    assert 'aria-describedby="second-wrong second-help"' in page


def test_levels_of_one_query_and_releases_of_others_are_not_averaged(
    browse: Open, world: World
) -> None:
    noisy, best = received(world, "ian"), received(world, "ian", tier="internal")
    page = computed(browse("ian"), noisy, 409, **{"with": best.id})
    assert "averaging them only adds noise" in page
    assert f'value="{best.id}"' in page
    # What ann does not hold is to her as if it did not exist.
    own = received(world, "ann")
    page = computed(browse("ann"), own, 422, **{"with": best.id})
    assert "You have no release" in page
    assert computed(browse("ann"), own, 422, **{"with": "absent"}).count("have no release") > 0
    assert browse("ann").get(f"/releases/{best.id}?quantity=total").status_code == 404


def test_a_pages_form_is_there_without_a_script(browse: Open, world: World) -> None:
    page = browse("ann").get(f"/releases/{received(world, 'ann').id}")
    assert "Compute from these numbers" in text_of(page)
    assert '<form method="get"' in page.text
    assert 'aria-label="Computed"' not in page.text
