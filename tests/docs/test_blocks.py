"""Test that every block of code in the documentation runs, or is marked as an illustration."""

from pathlib import Path

import pytest
from tests.docs.blocks import PAGES, README, Block, blocks_of, pages, shape_of
from tests.docs.terminal import terminal
from tests.support.places import ROOT

ILLUSTRATIONS = {"README.md": 2, "guides/run-a-server.md": 1, "tutorial.md": 1}
"""By page, how many blocks only illustrate; each says why in a comment above it."""

ELSEWHERE = {
    "guides/library.md": "tests/unit/repository/test_readme.py",
    "guides/run-a-server.md": "tests/contracts/test_readme_server.py",
}
"""Pages whose blocks run in another test."""

BY_NIGHT = {"admin", "analyst", "auditor", "operator"}
"""Guides whose commands have tests of their own by day."""

VISITS = "person,area\n" + "".join(f"r{number},rural\nu{number},urban\n" for number in range(99))
"""The file of its own that the README's reader has."""


def name_of(page: Path) -> str:
    return page.name if page == README else page.relative_to(PAGES).as_posix()


RUN = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.nightly] if page.stem in BY_NIGHT else [])
    for page in pages()
    if blocks_of(page) and name_of(page) not in ELSEWHERE
]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_what_a_page_shows_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if page == README:
        (folder / "visits.csv").write_text(VISITS)
    with terminal(folder, capfd, monkeypatch) as typed:
        for block in blocks_of(page):
            typed.run(block)


def test_illustrations_are_few_and_say_why() -> None:
    shown = {
        name_of(page): [each for each in blocks_of(page) if each.kind == "illustration"]
        for page in pages()
    }
    assert {page: len(blocks) for page, blocks in shown.items() if blocks} == ILLUSTRATIONS
    assert all(block.detail for blocks in shown.values() for block in blocks)


def test_blocks_that_run_elsewhere_are_read_there() -> None:
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text()


def test_every_block_is_of_a_known_kind() -> None:
    kinds = {"", "file", "output", "serve", "illustration"}
    for page in pages():
        assert page.read_text().count("\n```") == 2 * len(blocks_of(page)), page
        assert {block.kind for block in blocks_of(page)} <= kinds, page


def test_an_output_is_compared() -> None:
    shown = "key  1,234  -0.5\nid 2 of 2026-11-27 21:41:41Z\n"
    assert shape_of(shown) == shape_of("key  9  77,000.25\nid 12 of 2027-01-02 03:04:05Z")
    assert shape_of(shown) != shape_of("name  9  77,000.25\nid 12 of 2027-01-02 03:04:05Z")


def test_a_block_that_nothing_runs_is_noticed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(tmp_path, capfd, monkeypatch) as typed:
        with pytest.raises(AssertionError, match="who runs this"):
            typed.run(Block("", "", "python", "print(1)\n"))
        with pytest.raises(AssertionError, match="exit 1"):
            typed.run(Block("", "", "sh", "false\n"))
        typed.run(Block("", "", "sh", "echo 1\n"))
        with pytest.raises(AssertionError):
            typed.run(Block("output", "", "text", "2\n"))
