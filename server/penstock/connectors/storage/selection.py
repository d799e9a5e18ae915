"""Find the objects that a dataset consists of: one, those of a pattern, or those of a manifest.

In a pattern ``*`` stands for any characters but a slash, and ``**`` as a whole part of the path for
any number of folders.  A manifest is a JSON object whose ``entries`` are names of objects, relative
to its own folder, or objects with a ``url`` (as UNLOAD of Redshift and Athena writes them)::

    {"entries": ["2025/a.parquet", {"url": "s3://bucket/visits/2026/b.parquet"}]}

The objects are sorted by their names' bytes.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from penstock.connectors.storage.address import Address
from penstock.connectors.storage.failures import Missing, Replaced, changed, missing
from penstock.connectors.storage.stores.objects import Store, StoredObject, looked_up
from penstock.nesting import shallow

MOST_OBJECTS: Final = 10_000
"""The most objects of a dataset: the footer of each is read when it is registered."""

LONGEST_MANIFEST: Final = 8 << 20

MOST_LISTED: Final = 1_000_000
"""The most objects that are looked at for a pattern."""

_SUFFIX: Final = ".parquet"


def selected(store: Store, address: Address) -> tuple[list[StoredObject], StoredObject | None]:
    """Return the objects of an address, sorted by name, and its manifest if it has one.

    Raises ``InvalidInput`` if there are none or too many.
    """
    try:
        if address.path.lower().endswith(".json"):
            manifest = store.head(address.path)
            return _listed(store, address, manifest), manifest
        if "*" in address.path:
            return _matched(store, address), None
        return [store.head(address.path)], None
    except Missing:
        raise missing(
            "There is no such object, or no such bucket, that the connection may see; check the"
            " spelling, also upper and lower case."
        ) from None


def _matched(store: Store, address: Address) -> list[StoredObject]:
    head, _, _ = address.path.partition("*")
    folder = head.rpartition("/")[0]
    pattern = address.path.split("/")
    items: list[StoredObject] = []
    for place, item in enumerate(store.under(folder)):
        if "_delta_log" in item.name.split("/"):
            raise missing(
                "There is a Delta table in this folder (it has a _delta_log); name the table as"
                " delta+ADDRESS, so that only the files of one version are read."
            )
        if _matches(pattern, item.name.split("/")):
            items.append(item)
        if place >= MOST_LISTED or len(items) > MOST_OBJECTS:
            raise _too_many()
    if not items:
        raise missing("No object matches this pattern; check the bucket, the folder and the case.")
    return _sorted(items)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return True if the parts of a name are matched, in time of the product of the two lengths.

    A regular expression would take far longer for patterns with many stars.
    """
    reached = {0}  # how many parts may be used up by the pattern so far
    for place, each in enumerate(pattern):
        if each == "**" and place < len(pattern) - 1:
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {n + 1 for n in reached if n < len(parts) and _matches_part(each, parts[n])}
    return len(parts) in reached


def _matches_part(pattern: str, part: str) -> bool:
    first, *middle = pattern.split("*")
    if not middle:
        return part == first
    last = middle.pop()
    if len(part) < len(first) + len(last) or not (part.startswith(first) and part.endswith(last)):
        return False
    at, end = len(first), len(part) - len(last)
    for each in middle:
        begin = part.find(each, at, end)
        if begin < 0:
            return False
        at = begin + len(each)
    return True


def _listed(store: Store, address: Address, manifest: StoredObject) -> list[StoredObject]:
    if manifest.size > LONGEST_MANIFEST or manifest.size == 0:
        raise missing(f"A manifest has 1 to {LONGEST_MANIFEST} bytes; this has {manifest.size}.")
    try:
        content = store.read(manifest, 0, manifest.size)
    except Replaced:
        raise changed("The manifest was replaced while it was read.") from None
    names = _names(content, address)
    items = looked_up(store, names)
    if None in items:
        raise missing(
            f"Entry {items.index(None)} of the manifest names an object that is not there."
        )
    return _sorted(item for item in items if item is not None)


def _names(content: bytes, address: Address) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
        parsed: Any = json.loads(shallow(text))
    except ValueError:
        parsed = None
    entries = parsed.get("entries") if isinstance(parsed, dict) else None
    if not isinstance(entries, list) or not entries:
        raise missing(
            'A manifest is a JSON object with a list of names: {"entries": ["a.parquet", ...]}.'
        )
    if len(entries) > MOST_OBJECTS:
        raise _too_many()
    folder = address.path.rpartition("/")[0]
    names = [_name(entry, place, folder, address.root) for place, entry in enumerate(entries)]
    if len(set(names)) < len(names):
        raise missing("The manifest names an object twice, so that its rows would count twice.")
    return names


def _name(entry: object, place: int, folder: str, root: str) -> str:
    url = entry.get("url") if isinstance(entry, dict) else entry
    name = url if isinstance(url, str) else ""
    if "://" in name:
        name = name.removeprefix(root) if name.startswith(root) else ""
    elif name and folder:
        name = f"{folder}/{name}"
    parts = name.split("/")
    is_path = name.isprintable() and not any(part in {"", ".", ".."} for part in parts)
    if not name.endswith(_SUFFIX) or not is_path:
        raise missing(
            f"Entry {place} of the manifest is no name of a Parquet object in the same bucket."
        )
    return name


def _sorted(items: Iterable[StoredObject]) -> list[StoredObject]:
    return sorted(items, key=lambda item: item.name.encode())


def _too_many() -> Exception:
    return missing(
        f"A dataset has at most {MOST_OBJECTS} objects; write fewer, larger files, or name a table"
        " of Delta or Iceberg."
    )
