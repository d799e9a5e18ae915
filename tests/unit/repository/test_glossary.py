"""Test that no name in server and client contains a word that the glossary has retired."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes
from tests.support.places import ROOT

FOLDERS = (ROOT / "server", ROOT / "clients")

RIGHT = {
    "not_found": "the usual name of the error with HTTP status 404",
    "one_writer": "a number: at most one process writes",
    "one_at_a_time": "a number: a request runs alone",
    "of_one_length": "a number: sequences that share one length",
}
"""Compounds in which a retired word is right, each with the reason."""

OF_THE_CONTRACT = {
    "server/penstock/services/schemas/previews.py: asked": "a field of an answer",
    "server/penstock/services/schemas/previews.py: held": "a field of an answer",
    "server/penstock/services/schemas/previews.py: better_held": "a field of an answer",
    "server/penstock/services/previews/alternatives.py: asked": "sets that field",
    "server/penstock/services/releases/releases.py: held": "sets that field",
    "server/penstock/services/releases/releases.py: better_held": "sets that field",
    "server/penstock/services/people/tier_changes.py: held_by": "a member of a problem's JSON",
}
"""Names that other people's programs read, and so stay, each with the reason."""

_DECLARING = {
    *("TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "TypedDict", "NamedTuple", "namedtuple"),
    *("Enum", "IntEnum", "StrEnum", "Flag", "make_dataclass"),
}
"""Functions that take names as strings."""


def retired_words() -> frozenset[str]:
    """Return the words that the glossary in CONTRIBUTING.md retires."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    sentence = re.search(r"Retired as names,[^:]*:((?:\s*`\w+`,?)+)\.", text)
    assert sentence is not None
    return frozenset(re.findall(r"`(\w+)`", sentence[1]))


def words_of(name: str) -> list[str]:
    """Split a name at underscores, other signs, digits and camel case, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def spelled_out(name: str) -> str:
    """Return the words of a name, with an underscore before and after each."""
    return f"_{'_'.join(words_of(name))}_"


def is_retired(name: str) -> bool:
    """Return True if a word of ``name`` is retired, outside the compounds that are right."""
    spelled = spelled_out(name)
    for compound in RIGHT:
        spelled = spelled.replace(f"_{compound}_", "_")
    return not retired_words().isdisjoint(spelled.split("_"))


def identifiers(source: str) -> Iterator[str]:
    """Yield every name that a module defines, imports or passes as a keyword."""
    for node in ast.walk(ast.parse(source)):
        yield from _names(node)


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name) | ast.keyword(arg=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.MatchClass(kwd_attrs=names) | ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.alias(name=path, asname=other):
            yield from path.split(".")
            yield other or ""
        case ast.ImportFrom(module=str(path)):
            yield from path.split(".")
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _DECLARING:
            yield from _texts([*node.args, *(keyword.value for keyword in node.keywords)])
        case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
            yield from _texts([value])
        case ast.AnnAssign(target=ast.Name(id="__slots__"), value=ast.expr() as value):
            yield from _texts([value])
        case object(name=str(name)):
            # Functions, classes, captures of exceptions and patterns, and type parameters.
            yield name


def _texts(expressions: Iterable[ast.expr]) -> Iterator[str]:
    for expression in expressions:
        for node in ast.walk(expression):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(r"\w+", node.value)


def template_names(source: str) -> Iterator[str]:
    """Yield every name that a template defines, imports or passes as a keyword."""
    for node in jinja2.Environment(autoescape=True).parse(source).find_all(nodes.Node):
        match node:
            case nodes.Name(name=name) if node.ctx != "load":
                yield name
            case nodes.Macro(name=name) | nodes.Block(name=name) | nodes.Keyword(key=name):
                yield name
            case nodes.Import(target=name):
                yield name
            case nodes.FromImport(names=names):
                for imported in names:
                    yield from (imported,) if isinstance(imported, str) else imported


DECLARED = {
    ".ts": re.compile(
        r"\b(?:const|let|var|(?:async\s+)?function\*?|class|interface|type)\s+(\w+)"
        r"|[({,]\s*(?:readonly )?#?(\w+)\??:|^\s+(?:readonly |async )*[*#]?(\w+)(?:\(|\??:)",
        re.MULTILINE,
    ),
    ".R": re.compile(r"^\s*([\w.]+)\s*<-|\bfunction\(([^)]*)\)", re.MULTILINE),
}
"""What declares names in languages that nothing here parses: names, and lists of arguments."""


def declared_names(suffix: str, source: str) -> Iterator[str]:
    """Yield the names that a file in TypeScript or R declares, by its lines without comments."""
    code = re.sub(r"(?m)^\s*(?:#(?!\w).*|//.*|/?\*.*)$", "", source)
    for match in DECLARED[suffix].finditer(code):
        yield from re.findall(r"\w+", " ".join(filter(None, match.groups())))


def files() -> Iterator[Path]:
    """Yield the files of server and client, without what other people wrote or tools make."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(ROOT).parts
            made = {"vendor", "node_modules", "__pycache__", "build", "dist"}.intersection(parts)
            made |= {"schema.ts"}.intersection(parts)  # the contract's own names
            if path.is_file() and not made and not any("egg-info" in part for part in parts):
                yield path.relative_to(ROOT)


def named_in(path: Path) -> Iterator[str]:
    """Yield the names of a file: those of its folders, its own, and those that it contains."""
    yield from (*path.parts[:-1], path.name.partition(".")[0])
    if path.suffix == ".py":
        yield from identifiers((ROOT / path).read_text())
    elif path.suffix in DECLARED:
        yield from declared_names(path.suffix, (ROOT / path).read_text())
    elif path.suffix == ".html":
        yield from template_names((ROOT / path).read_text())


def test_no_name_contains_a_retired_word() -> None:
    uses = {
        f"{path}: {name}" for path in files() for name in set(named_in(path)) if is_retired(name)
    }
    assert uses == set(OF_THE_CONTRACT)


def test_every_compound_that_is_allowed_is_used() -> None:
    spelled = {spelled_out(name) for path in files() for name in named_in(path)}
    unused = [word for word in RIGHT if not any(f"_{word}_" in name for name in spelled)]
    assert unused == []


def test_the_files_of_server_and_client_are_read() -> None:
    listed = {str(path) for path in files()}
    assert listed >= {
        "server/penstock/services/budgets.py",
        "server/penstock/web/templates/people/tier.html",
        "clients/python/src/penstock_client/errors.py",
    }


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "_FOUND = 1",
        "rows_found: int = 1",
        "(found_rows := [])",
        "def told(): pass",
        "async def has_told(): pass",
        "def f(_asked): pass",
        "def f(*, asked=1): pass",
        "def f(*held, **kept): pass",
        "lambda held_by: 1",
        "[one for one in x]",
        "for one, other in x: pass",
        "with x as held: pass",
        "try: pass\nexcept E as said: pass",
        "x.held = 1",
        "x.held_by: int = 1",
        "import a as said",
        "import held",
        "import penstock.held.rows",
        "from penstock.held_rows import a",
        "from penstock import held",
        "from . import held",
        "class standing: pass",
        "class _Held: pass",
        "class HTTPFound: pass",
        "class RowsFoundHere: pass",
        "match x:\n case held: pass",
        "match x:\n case int() as held: pass",
        "match x:\n case [first, *held]: pass",
        "match x:\n case {'a': 1, **held}: pass",
        "match x:\n case Row(held=1): pass",
        "f(held=1)",
        "def f():\n global held",
        "def f():\n nonlocal held_rows",
        "class A:\n __slots__ = ('a', '_held')",
        "class A:\n __slots__: tuple[str, ...] = ('held',)",
        "A = namedtuple('A', 'a held')",
        "A = collections.namedtuple('A', ['a', 'held'])",
        "A = NamedTuple('A', [('held', int)])",
        "A = TypedDict('A', {'held': int})",
        "class A(TypedDict):\n held: int",
        "T = TypeVar('Found')",
        "P = ParamSpec('Asked')",
        "Found = TypeVar('Found')",
        "wish = wished = 1",
        "def foresee(): pass",
        "def anticipate(): pass",
    ],
)
def test_a_retired_word_is_found_wherever_it_names_something(source: str) -> None:
    assert any(map(is_retired, identifiers(source)))


@pytest.mark.parametrize(
    "source",
    [
        "{% macro held(rows) %}{% endmacro %}",
        "{% macro table(held) %}{% endmacro %}",
        "{% set held = 1 %}",
        "{% set rows_held %}a{% endset %}",
        "{% for one in rows %}{% endfor %}",
        "{% for name, held in rows %}{% endfor %}",
        "{% block held %}{% endblock %}",
        "{% import 'a.html' as held %}",
        "{% from 'a.html' import held %}",
        "{% from 'a.html' import a as held %}",
        "{{ f(held=1) }}",
        "{% with held = 1 %}{% endwith %}",
    ],
)
def test_a_retired_word_is_found_in_templates(source: str) -> None:
    assert any(map(is_retired, template_names(source)))


@pytest.mark.parametrize(
    ("suffix", "source"),
    [
        (".ts", "const held = 1;"),
        (".ts", "export async function told(): void {}"),
        (".ts", "function rows(found: number): void {}"),
        (".ts", "interface A {\n  readonly held?: string;\n}"),
        (".ts", "class A {\n  async #asked(): Promise<void> {}\n}"),
        (".R", "held <- 1"),
        (".R", "rows_found <- function(query) NULL"),
        (".R", "lapply(rows, function(query, held = NULL) held)"),
    ],
)
def test_a_retired_word_is_found_in_other_languages(suffix: str, source: str) -> None:
    assert any(map(is_retired, declared_names(suffix, source)))


@pytest.mark.parametrize(
    ("suffix", "source"),
    [(".ts", "// held: a comment\n/**\n * one: two\n */"), (".R", "# held <- 1\n#' @param held")],
)
def test_comments_declare_nothing(suffix: str, source: str) -> None:
    assert list(declared_names(suffix, source)) == []


@pytest.mark.parametrize("path", ["server/held/rows.py", "server/a/found_rows.css", "clients/told"])
def test_a_retired_word_is_found_in_names_of_files(path: str) -> None:
    assert any(map(is_retired, (*Path(path).parts[:-1], Path(path).name.partition(".")[0])))


@pytest.mark.parametrize("name", ["NotFound", "NOT_FOUND", "one_writer", "threshold", "someone"])
def test_compounds_and_longer_words_are_allowed(name: str) -> None:
    assert not is_retired(name)


@pytest.mark.parametrize("name", ["not_held", "found_one_writer", "one_writer_told", "NotFoundOne"])
def test_a_compound_excuses_no_other_word(name: str) -> None:
    assert is_retired(name)


def test_the_list_of_retired_words_is_read() -> None:
    assert {"one", "found", "tallies", "wish", "wished", "foresee"} <= retired_words()
