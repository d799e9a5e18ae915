"""Test compared losses: the one that counts is filled, the others have dashed frames."""

import pytest
from tests.web.charts.pictures import SVG, parsed, sentences, texts

from penstock.web.charts.compared import Losses, compared, rows
from penstock.web.charts.losses import Loss

OWN, TWICE, NONE = Loss("together", 1.0), Loss("drawn apart", 2.0), Loss("without a bound", None)


def test_every_loss_is_written_and_told_in_order() -> None:
    content = Losses("What three readers know", OWN, (TWICE, NONE))
    svg = compared(content, "a")
    names = [loss.name for loss in content.all]
    assert names == ["together", "drawn apart", "without a bound"]
    assert [text for text in texts(svg) if text in names] == names
    described = [sentence for sentence in sentences(svg) if "drawn apart: " in sentence]
    assert any("together: " in sentence for sentence in described)
    assert rows(content).rows == tuple((loss.name, loss.written) for loss in content.all)


@pytest.mark.parametrize("others", [(), (TWICE,), (TWICE, NONE)])
def test_the_picture_grows_with_the_number_of_losses(others: tuple[Loss, ...]) -> None:
    def height(content: Losses) -> float:
        return float((parsed(compared(content, "a")).get("viewBox") or "").split()[3])

    alone = height(Losses("t", OWN, ()))
    assert height(Losses("t", OWN, others)) == alone * (1 + len(others))


def test_a_loss_twice_as_large_has_a_bar_twice_as_long() -> None:
    svg = compared(Losses("t", OWN, (TWICE,)), "a")
    widths = [float(bar.get("width", "0")) for bar in parsed(svg).iter(f"{SVG}rect")]
    assert max(widths) == pytest.approx(2 * min(width for width in widths if width), rel=0.01)
