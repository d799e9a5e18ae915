"""Test figures of the client by themselves: that they are the pages', tests/web shows."""

import ast
import dataclasses
import sys
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path

import pytest
from tests.support.places import ROOT

from penstock_client import Client, NotDrawable, Release
from penstock_client._show import charts
from penstock_client._show.figures import STYLESHEET

FOLDER = ROOT / "server/penstock/web/charts"
SHARED = {("errors", "NotDrawable"), ("figures", "")}
"""What the folder takes from the package that it is in, a name or a module; both have it."""


def borrowed(path: Path, folder: Path) -> list[str]:
    """Return what a module imports that is neither of Python, nor in the folder, nor in SHARED."""
    depth = len(path.relative_to(folder).parts)
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if not is_pythons(each.name)]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [] if is_pythons(node.module or "") else [node.module or ""]
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            names = {(node.module or "", each.name) for each in node.names}
            own = node.level == depth + 2 and (names <= SHARED or (node.module, "") in SHARED)
            found += [] if own else [f"{'.' * node.level}{node.module}"]
    return found


def is_pythons(module: str) -> bool:
    """Return whether a module is one of the standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def test_what_draws_needs_python_alone_and_what_both_packages_have() -> None:
    paths = sorted(FOLDER.rglob("*.py"))
    assert len(paths) > 20
    assert {str(path): names for path in paths if (names := borrowed(path, FOLDER))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np",
        "from penstock.figures import percent",
        "from ...http import edge",
        "from ...errors import NotFound",
        "from ..figure import Picture",
    ],
)
def test_what_the_client_would_not_have_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "chart.py").write_text(f"{line}\n")
    assert len(borrowed(tmp_path / "chart.py", tmp_path)) == 1
    (tmp_path / "chart.py").write_text("import math\nfrom ...errors import NotDrawable\n")
    assert borrowed(tmp_path / "chart.py", tmp_path) == []


def test_the_client_draws_with_the_servers_files() -> None:
    assert charts.__file__ is not None
    assert (FOLDER / "__init__.py").samefile(charts.__file__)
    assert (ROOT / "server/penstock/web/static/charts.css").samefile(STYLESHEET)


def test_a_figure_is_readable_on_light_and_on_dark_notebooks(release: Release) -> None:
    """A notebook may show a document as an image, which does not know the notebook's colors."""
    figure = release.figure()
    alone, inline = ET.fromstring(figure.svg), figure.html()  # noqa: S314 - drawn here
    grounds = [each.get("fill") for each in alone if each.tag.endswith("}rect")]
    assert grounds == ["#fff"]
    assert alone.get("color") == "#1b1f24"
    assert 'fill="currentColor"' in inline
    assert "<style" not in inline + figure.svg
    assert "<rect" not in inline.partition("<g")[0]
    assert (figure._repr_svg_(), figure._repr_html_()) == (figure.svg, inline)
    assert figure.message in alone.itertext()


def test_a_figure_is_written_to_a_file(release: Release, tmp_path: Path) -> None:
    release.figure().save(tmp_path / "visits.svg")
    assert (tmp_path / "visits.svg").read_text("utf-8") == release.figure().svg


def test_figures_on_one_page_have_ids_of_their_own(release: Release) -> None:
    other = dataclasses.replace(release, id="other")
    assert f"penstock-{release.id}-title" in release.figure().html()
    assert f"penstock-{release.id}-title" not in other.figure().html()


def test_numbers_that_no_chart_can_show_are_refused_and_a_notebook_goes_on(
    release: Release,
) -> None:
    huge = dataclasses.replace(release, values=(1e305, 0.0))
    with pytest.raises(NotDrawable):
        huge.figure()
    assert "<table" in huge._repr_html_()
    assert "<svg" not in huge._repr_html_()


def test_running_totals_show_themselves_in_a_notebook(client: Client) -> None:
    totals = client.stream("hits")
    html = totals._repr_html_()
    assert "hits, total after step 2: " in html
    assert html.count("<svg") == 1
    items = (*totals.items[:-1], dataclasses.replace(totals.items[-1], values=(1e305,)))
    assert "<svg" not in dataclasses.replace(totals, items=items)._repr_html_()


def test_values_of_steps_are_drawn_where_their_noise_is_known(client: Client) -> None:
    totals, (stream,) = client.stream("hits"), client.streams()
    assert ">Value by step" in totals.figure(stream).svg
    assert ">Value by step" not in totals.figure().svg
    others = {**stream.answer, "structure": {"kind": "of a later version"}}
    later = dataclasses.replace(stream, answer=others)
    assert totals.figure(later).svg == totals.figure().svg


def test_days_of_steps_are_those_of_the_answer(client: Client) -> None:
    totals, (stream,) = client.stream("hits"), client.streams()
    days = tuple(date(2026, 2, 27 + place) for place in range(len(totals)))
    figure = dataclasses.replace(totals, days=days).figure(stream)
    assert figure.message.startswith(f"hits, total after {days[-1]} (step {len(totals)}): ")
    assert figure.svg.count(">day (UTC), 2026<") == 2
    assert ">day (UTC)" not in totals.figure(stream).svg
