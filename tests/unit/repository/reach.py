"""Find what programs can reach in a package, name by name.

A package's ``__init__`` that imports a name only to offer it reaches nothing by that: whoever
takes the name from there does.  Imports for annotations alone reach nothing either.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


class Package:
    """Hold the modules below a folder, each by its dotted name."""

    def __init__(self, folder: Path) -> None:
        self.paths = {_name(folder, path): path for path in sorted(folder.rglob("*.py"))}

    def is_folder(self, module: str) -> bool:
        """Return whether a module is a folder's ``__init__``."""
        return module in self.paths and self.paths[module].stem == "__init__"

    def reached(self, entrances: Iterable[str]) -> set[str]:
        """Return the modules that run, or lend a name, when programs begin at ``entrances``."""
        begun = set(entrances)
        found = {target for name in begun for target in self._taken(name, offered=True)} | begun
        new = found
        while new:
            new = {target for name in new for target in self._taken(name)} - found
            found |= new
        return found

    def _taken(self, module: str, *, offered: bool = False) -> set[str]:
        """Return what a module takes from others; with ``offered``, also what it only offers."""
        tree = self._parsed(module)
        is_facade = self.is_folder(module) and not offered
        loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found = set(self._above(module))
        for bound, source, name in _imports(tree):
            if is_facade and bound not in loaded:
                continue
            found |= self._lent(source, name)
            whole = f"{source}.{name}" if name else source
            if self.is_folder(whole):
                for attribute in _attributes(tree, bound):
                    found |= self._lent(whole, attribute)
        return found

    def _above(self, module: str) -> Iterator[str]:
        while "." in module:
            module = module.rpartition(".")[0]
            if module in self.paths:
                yield module

    def _lent(self, source: str, name: str) -> set[str]:
        """Return the modules that a name of a module comes through."""
        whole = f"{source}.{name}" if name else source
        if whole in self.paths:
            return {whole}
        if not self.is_folder(source):
            return {source} & set(self.paths)
        found = {source}
        for bound, inner, original in _imports(self._parsed(source)):
            if bound == name:
                found |= self._lent(inner, original)
        return found

    def _parsed(self, module: str) -> ast.Module:
        return _parsed(self.paths[module], module if self.is_folder(module) else _above(module))


def _above(module: str) -> str:
    return module.rpartition(".")[0]


def _name(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _parsed(path: Path, package: str) -> ast.Module:
    """Return a module of a package, its relative imports by their whole names."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = package.split(".")[: package.count(".") + 2 - node.level]
            node.module = ".".join([*start, *filter(None, [node.module])])
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    return tree


def _imports(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Yield each import: the name that it binds, the module, and the name there (or none)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name, ""


def _attributes(tree: ast.Module, bound: str) -> set[str]:
    """Return the attributes that are read of a name."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == bound
    }
