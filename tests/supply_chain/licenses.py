"""Read the licences of what the product runs with, and list those that it may have."""

from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOOLS: Final = {"development", "benchmarks"}
"""Extras of those who work on the product; the others are for those who run it."""

PERMISSIVE: Final = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "NCSA",
    "PSF-2.0",
    "Zlib",
}
"""Licences, by their SPDX names, that ask for no more than a notice."""

EARLIER: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""What metadata call a licence that have no SPDX expression."""

EXCEPTIONS: Final = {
    "certifi": ("MPL-2.0", "a list of certificates, used unchanged: its files stay under MPL"),
    "orjson": ("MPL-2.0", "used unchanged as a library: its own files stay under MPL"),
    "psycopg": ("LGPL-3.0-only", "an extra, imported unchanged; whoever runs it may replace it"),
    "psycopg-binary": ("LGPL-3.0-only", "as psycopg, whose compiled part it is"),
    "psycopg-pool": ("LGPL-3.0-only", "as psycopg, whose pool it is"),
    "resvg-py": ("", "an extra, whose metadata name none; its file LICENSE has the text of MIT"),
}
"""Distributions with a licence that asks for more than a notice, or none by name, and why they
may be used."""


def distributions(names: Iterable[str]) -> dict[str, Distribution]:
    """Return what is installed of the named projects, their extras and all that these need."""
    reached: dict[tuple[str, frozenset[str]], Distribution] = {}
    due = [(name, frozenset(_extras(name))) for name in names]
    while due:
        name, extras = due.pop()
        key = canonicalize_name(name), extras
        if key in reached:
            continue
        try:
            reached[key] = distribution(name)
        except PackageNotFoundError:  # an extra that this environment goes without
            continue
        due += [(need.name, frozenset(need.extras)) for need in _needs(reached[key], extras)]
    return {
        name: content for (name, _), content in sorted(reached.items(), key=lambda it: it[0][0])
    }


def licenses(content: Distribution) -> set[str]:
    """Return the licences that are in force at once, by their SPDX names where known.

    Of alternatives (``OR``) a permissive one is chosen, if there is one.
    """
    metadata = content.metadata
    for expression in metadata.get_all("License-Expression") or ():
        return {_chosen(part) for part in expression.split(" AND ")}
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    texts = classified or metadata.get_all("License") or [""]
    return {EARLIER.get(text, text) for text in texts}


def excess(names: Iterable[str]) -> dict[str, set[str]]:
    """Return each distribution with licences that neither the list nor an exception has."""
    over = {
        name: licenses(content) - PERMISSIVE - set(EXCEPTIONS.get(name, ())[:1])
        for name, content in distributions(names).items()
    }
    return {name: others for name, others in over.items() if others}


def _chosen(part: str) -> str:
    alternatives = part.strip(" ()").split(" OR ")
    return next((name for name in alternatives if name in PERMISSIVE), alternatives[0])


def _extras(name: str) -> set[str]:
    return set(distribution(name).metadata.get_all("Provides-Extra") or ()) - TOOLS


def _needs(content: Distribution, extras: Iterable[str]) -> Iterator[Requirement]:
    for line in content.requires or ():
        need = Requirement(line)
        if need.marker is None or any(
            need.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield need
