"""Describe the Python client from its docstrings, which are read and not run."""

import ast
from collections.abc import Iterator
from pathlib import Path

from docs.reference.markdown import block, plain, table

SOURCE = Path(__file__).parents[3] / "clients" / "python" / "src" / "penstock_client"

SHOWN = (
    "Client",
    "Release",
    "Preview",
    "Query",
    "Stream",
    "RunningTotals",
    "Budget",
    "Exposure",
    "Table",
    "Question",
    "Cost",
    "Result",
    "Derived",
)
"""The classes that are described with their methods, in this order; others follow by name."""


def page() -> str:
    """Return the page of the client's classes, functions and errors."""
    definitions = dict(_offered())
    classes = {name: node for name, node in definitions.items() if isinstance(node, ast.ClassDef)}
    first = [name for name in SHOWN if name in classes]
    text = [
        "# Python client\n",
        (
            "What `penstock_client` offers. [The client's guide](../guides/python.md) says how to"
            " use it.\n"
        ),
    ]
    for name in first:
        text += _class(name, classes[name])
    text.append("## More names\n")
    rest = sorted(set(definitions) - set(first), key=str.lower)
    text.append(
        table(
            ("Name", "Kind", "What it is"),
            [(f"`{name}`", _kind(definitions[name]), _first(definitions[name])) for name in rest],
        )
    )
    return "\n".join(text)


def _offered() -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Yield the names that the package offers, each with its definition."""
    package = ast.parse((SOURCE / "__init__.py").read_text())
    for node in package.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            place = SOURCE.parent.joinpath(*node.module.split("."))
            file = place.with_suffix(".py") if not place.is_dir() else place / "__init__.py"
            tree = ast.parse(file.read_text())
            names = {alias.name for alias in node.names}
            for part in tree.body:
                if isinstance(part, ast.ClassDef | ast.FunctionDef) and part.name in names:
                    yield part.name, part


def _class(name: str, node: ast.ClassDef) -> Iterator[str]:
    yield f"## {name} {{ #{name} }}\n"
    yield from _paragraphs(node)
    for part in node.body:
        if not isinstance(part, ast.FunctionDef) or part.name.startswith("_"):
            continue
        is_property = any(ast.unparse(mark) == "property" for mark in part.decorator_list)
        yield f"### {name}.{part.name} {{ #{name}.{part.name} }}\n"
        yield block("text", _signature(part, is_property=is_property))
        yield from _paragraphs(part)


def _signature(node: ast.FunctionDef, *, is_property: bool) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if is_property:
        return f"{node.name}{returned}"
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    return f"{node.name}({arguments}){returned}"


def _paragraphs(node: ast.ClassDef | ast.FunctionDef) -> Iterator[str]:
    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield block("text", paragraph)
        elif paragraph:
            yield plain(paragraph) + "\n"


def _kind(node: ast.ClassDef | ast.FunctionDef) -> str:
    return "class" if isinstance(node, ast.ClassDef) else "function"


def _first(node: ast.ClassDef | ast.FunctionDef) -> str:
    return plain((ast.get_docstring(node) or "").split("\n\n")[0])
