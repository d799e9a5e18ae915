"""Read the file of a key ring: the place of each key, without holding any key in memory.

``{"format": "penstock-keyring", "version": 2, "keys": {ID: KEY, ...}, "contexts": {CONTEXT:
[ID, ...], ...}}``, names in hexadecimal, keys in base64, the newest key of a context last.

A key is read from its place in the file when it is used, into a buffer that is overwritten
afterwards, and is copied unchanged when the file is rewritten.  So no server holds a key of the
ring between two uses, and one that was destroyed is in the memory of none; what it unwrapped,
servers keep for a few seconds (``services.kept_keys``).  Every reading checks that the file is
still the one that was scanned.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from penstock.encryption import private
from penstock.encryption.key import SIZE, Key, wipe
from penstock.errors import KeysUnavailable
from penstock.nesting import shallow

FORMAT = "penstock-keyring"
VERSION = 2

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}
_TEXT_SIZE = (SIZE + 2) // 3 * 4
_KEY = re.compile(rb'(?<=")[A-Za-z0-9+/]{%d}=(?=")' % (_TEXT_SIZE - 1))
"""Pattern of a 32-byte key in base64 between quotation marks."""

_PLACE = re.compile(rf"=[0-9]{{{_TEXT_SIZE - 1}}}")


@dataclass(frozen=True)
class RingFile:
    """Hold what a file says: the place of each key, by public name, and each context's keys."""

    path: Path
    identity: tuple[int, ...]
    places: Mapping[str, int]
    contexts: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Scan a file. Raises ``KeysUnavailable``, naming the next step."""
        with private.opened(path) as descriptor:
            identity = private.identity(descriptor)
            content = private.content(path, descriptor)
        try:
            places, contexts = _parsed(path, content)
            for name, place in places.items():
                if _key_at(path, name, content, place).id.hex() != name:
                    raise private.malformed(path, "lists a key under the name of another")
        finally:
            wipe(content)
        return cls(path, identity, places, contexts)

    def stands(self) -> bool:
        """Return True if this is the file that is there now.  Raises ``KeysUnavailable``."""
        return private.present_identity(self.path) == self.identity

    def key(self, name: str) -> Key | None:
        """Return one of its keys, or ``None`` if the file lacks it or has been replaced."""
        with private.opened(self.path) as descriptor:
            if private.identity(descriptor) != self.identity or name not in self.places:
                return None
            text = bytearray(_TEXT_SIZE)
            try:
                os.preadv(descriptor, [text], self.places[name])
                return _key_at(self.path, name, text, 0)
            finally:
                wipe(text)

    def newest(self, context: str) -> str | None:
        """Return the name of the newest key of a context."""
        names = self.contexts.get(context)
        return names[-1] if names else None

    def with_key(self, context: str, key: Key) -> None:
        """Rewrite the file with one more key; the caller holds its lock."""
        name = key.id.hex()
        names = (*self.contexts.get(context, ()), name)
        text = _encoded(key)
        try:
            self._write([*self.places], {**self.contexts, context: names}, {name: text})
        finally:
            wipe(text)

    def without(self, names: Iterable[str]) -> None:
        """Rewrite the file without some keys; the caller holds its lock."""
        gone = set(names)
        kept = {
            context: tuple(name for name in own if name not in gone)
            for context, own in self.contexts.items()
        }
        contexts = {context: own for context, own in kept.items() if own}
        self._write([name for name in self.places if name not in gone], contexts, {})

    def _write(
        self,
        names: Iterable[str],
        contexts: Mapping[str, tuple[str, ...]],
        more: Mapping[str, bytearray],
    ) -> None:
        with private.opened(self.path) as descriptor:
            content = private.content(self.path, descriptor)
        try:
            kept = memoryview(content)
            texts = {name: kept[self.places[name] :][:_TEXT_SIZE] for name in names}
            private.replace(self.path, _pieces({**texts, **more}, contexts))
            kept.release()
            for text in texts.values():
                text.release()
        finally:
            wipe(content)


def create(path: Path) -> RingFile:
    """Return an empty ring in a new file. Raises ``KeysUnavailable`` if the file exists."""
    private.create(path, {"format": FORMAT, "version": VERSION, "keys": {}, "contexts": {}})
    return RingFile.read(path)


def _pieces(
    texts: Mapping[str, bytearray | memoryview], contexts: Mapping[str, tuple[str, ...]]
) -> Iterator[bytes | bytearray | memoryview]:
    """Yield the content of a file, in parts that copy no key."""
    yield f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "keys": {{'.encode()
    for number, (name, text) in enumerate(texts.items()):
        yield f'{"," if number else ""}\n  "{name}": "'.encode()
        yield text
        yield b'"'
    yield b'\n },\n "contexts": '
    yield json.dumps({context: list(names) for context, names in contexts.items()}).encode()
    yield b"\n}\n"


def _parsed(path: Path, content: bytearray) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """Return the places of the keys, and the keys of each context. Raises ``KeysUnavailable``."""
    # Each key is replaced by the number of its place, so that no key is read as JSON.
    places: list[int] = []
    outline = bytearray(content)
    for match in _KEY.finditer(content):
        outline[match.start() : match.end()] = b"=%0*d" % (_TEXT_SIZE - 1, len(places))
        places.append(match.start())
    try:
        document = json.loads(shallow(outline.decode()))
    except ValueError:
        raise private.malformed(path, "is not JSON") from None
    finally:
        wipe(outline)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise private.malformed(path, "is not a key ring of Penstock")
    version = document.get("version")
    if version not in (1, VERSION):
        raise private.malformed(path, f"is a key ring of another version than {VERSION}")
    listed = document.get("keys")
    if not isinstance(listed, dict):
        raise private.malformed(path, "does not list its keys")
    keys = {name: _place(path, name, text, places) for name, text in listed.items()}
    return keys, {} if version == 1 else _contexts(path, document.get("contexts"), keys)


def _place(path: Path, name: str, text: Any, places: list[int]) -> int:
    if not isinstance(text, str) or not _PLACE.fullmatch(text):
        raise _no_key(path, name)
    number = int(text[1:])
    if number >= len(places):
        raise _no_key(path, name)
    return places[number]


def _contexts(path: Path, listed: object, keys: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    if not isinstance(listed, dict) or not all(
        isinstance(names, list) and names and all(name in keys for name in names)
        for names in listed.values()
    ):
        raise private.malformed(path, "does not say to which contexts its keys belong")
    return {context: tuple(names) for context, names in listed.items()}


def _key_at(path: Path, name: str, content: bytearray, place: int) -> Key:
    """Return the key whose base64 (RFC 4648) is at ``place``.  Raises ``KeysUnavailable``."""
    # By hand, since the library's answer is a copy that nothing overwrites.
    buffer = bytearray(_TEXT_SIZE // 4 * 3)
    try:
        for group in range(_TEXT_SIZE // 4):
            word = 0
            for letter in content[place + 4 * group : place + 4 * group + 4]:
                word = word << 6 | _VALUES.get(letter, 0)
            buffer[3 * group] = word >> 16
            buffer[3 * group + 1] = word >> 8 & 255
            buffer[3 * group + 2] = word & 255
        if any(buffer[SIZE:]):
            raise _no_key(path, name)
        with memoryview(buffer) as view:
            return Key(view[:SIZE])
    finally:
        wipe(buffer)


def _encoded(key: Key) -> bytearray:
    """Return a key as it is written in the file."""
    text = bytearray(_TEXT_SIZE)
    with key.exposed() as material:
        for group in range(_TEXT_SIZE // 4):
            word = 0
            for place in range(3 * group, 3 * group + 3):
                word = word << 8 | (material[place] if place < SIZE else 0)
            for place in range(4):
                text[4 * group + place] = _LETTERS[word >> 18 - 6 * place & 63]
    text[-1:] = b"="
    return text


def _no_key(path: Path, name: str) -> KeysUnavailable:
    return private.malformed(path, f"does not hold {SIZE} bytes in base64 under {name[:32]!r}")
