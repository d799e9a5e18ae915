"""Test PNG files: pictures with letters, twice as large as the chart."""

import struct
import sys

import pytest
from tests.web.browser.screens import missing
from tests.web.service_views import release

from penstock.errors import InvalidInput
from penstock.web.presenters.chart_files import MEDIA_TYPES, chart_file, writer_of
from penstock.web.presenters.release_charts import release_picture

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_png_is_twice_as_large_as_the_chart() -> None:
    picture = release_picture(release("a", "public", 1.0, [7.0, 3.0]), "visits")
    try:
        written = chart_file(picture, "png")
    except InvalidInput as problem:
        missing(problem.detail)
    assert written.startswith(PNG)
    width, height = struct.unpack(">II", written[16:24])
    svg = chart_file(picture, "svg").decode()
    assert f'width="{width // 2}" height="{height // 2}' in svg


def test_other_formats_are_refused_by_name() -> None:
    picture = release_picture(release("a", "public", 1.0, [7.0]), "visits")
    with pytest.raises(InvalidInput, match=", ".join(MEDIA_TYPES)):
        chart_file(picture, "jpeg")


def test_a_server_without_the_extra_says_so_before_anything_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert writer_of("svg")("<svg/>") == b"<svg/>"
    with pytest.raises(InvalidInput, match="its extra png is not installed"):
        writer_of("png")
