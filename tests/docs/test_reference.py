"""Test that the reference is whole: operations, commands, settings, the client's methods."""

import ast
import re

import click
from tests.docs.site import Site

from docs.reference import client, command_line, notebooks, settings_by_subject
from docs.reference.markdown import code
from penstock.api import OPERATIONS
from penstock.api.openapi import document
from penstock.cli.program import commands as server_program
from penstock.settings import PREFIX, Settings
from penstock_client.command import commands as client_program


def test_every_operation_has_its_words_an_example_and_a_form(site: Site) -> None:
    for operation in OPERATIONS:
        page = site.pages[f"reference/api/{operation.subject}/"]
        section = re.search(rf'<h2 id="{operation.name}">(.*?)(?=<h2|</main>)', page, re.DOTALL)
        assert section is not None, operation.name
        for part in (">curl -X", f'<form data-verb="{operation.verb}"', "Refusals:"):
            assert part in section[1], operation.name
        assert f"{operation.verb} {operation.path}" in re.sub("&#?\\w+;", "_", section[1])


def test_every_schema_has_its_place(site: Site) -> None:
    page = site.pages["reference/api/schemas/"]
    for name in document()["components"]["schemas"]:
        assert f'<h2 id="{name}">' in page


def commands_of(program: click.Command, name: str) -> list[str]:
    if not isinstance(program, click.Group):
        return [name]
    context = click.Context(program)
    names = program.list_commands(context)
    children = [(program.get_command(context, each), each) for each in names]
    return [
        name,
        *(
            line
            for command, each in children
            if command is not None
            for line in commands_of(command, f"{name} {each}")
        ),
    ]


def test_every_command_is_described() -> None:
    page = command_line.page()
    for program, name in ((server_program, "penstock"), (client_program, "penstock-client")):
        names = commands_of(program, name)
        assert len(names) > 10
        for command in names[1:]:
            assert f"### {command} {{" in page


def test_every_setting_is_listed_once() -> None:
    page = settings_by_subject.page()
    for name in Settings.model_fields:
        if name != "connections":
            assert page.count(f"| {code(PREFIX + name.upper())} ") == 1


def test_every_method_of_the_client_is_described() -> None:
    page = client.page()
    source = ast.parse((client.SOURCE / "client.py").read_text())
    (described,) = [
        node for node in source.body if isinstance(node, ast.ClassDef) and node.name == "Client"
    ]
    methods = [node.name for node in described.body if isinstance(node, ast.FunctionDef)]
    public = [name for name in methods if not name.startswith("_")]
    assert len(public) > 15
    for name in public:
        assert f"### Client.{name} {{" in page


def test_every_notebook_has_its_page(site: Site) -> None:
    for path in notebooks.FOLDER.glob("*.ipynb"):
        assert f"notebooks/{path.stem}/" in site.pages
        assert f"notebooks/{path.name}" in site.pages[f"notebooks/{path.stem}/"]


def test_pages_of_notebooks_show_what_the_cells_showed(site: Site) -> None:
    tour, streams = (site.pages[f"notebooks/{name}/"] for name in ("tour", "streams"))
    assert "<svg" in tour
    assert "<svg" in streams
    assert "internal within 16 at 95%" in tour
    for path in notebooks.FOLDER.glob("*.ipynb"):
        # The policy of the pages refuses both.
        main = site.pages[f"notebooks/{path.stem}/"].partition("<main")[2]
        assert main
        assert 'style="' not in main
        assert "<style" not in main
