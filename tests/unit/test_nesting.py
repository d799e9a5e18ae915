"""Test that documents' nesting is counted, and limited to a depth that finalizers survive."""

import gc
import hashlib
import io
import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey

import penstock.nesting
import penstock_client._log.nesting
from penstock import setting_sources
from penstock.cli.specs import content_of
from penstock.encryption import private
from penstock.errors import PenstockError
from penstock.mechanisms.serialization import MAGIC, VERSION, decode
from penstock.openid.issuer import Issuer, Refused
from penstock.transparency_log.witness import FILE, FileWitness
from penstock_client import offline, preview
from penstock_client._http import transport
from penstock_client._log import leaves
from penstock_client.errors import InvalidArgument, ProtocolError

MODULES = pytest.mark.parametrize(
    "nesting", [penstock.nesting, penstock_client._log.nesting], ids=["server", "client"]
)
JSON = st.recursive(
    st.none() | st.integers() | st.text("[]{}\"'\\#\n,:a", max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("[{\"'#"), inner),
    max_leaves=40,
)


def _depth_of(value: object) -> int:
    """Return how deep a value nests, found by taking it apart."""
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth_of, inner), default=0)


@MODULES
@given(JSON)
def test_json_nests_as_deep_as_what_it_holds(nesting: ModuleType, value: object) -> None:
    assert nesting.depth(json.dumps(value)) == _depth_of(value)
    assert nesting.depth(json.dumps(value, indent=1, ensure_ascii=False)) == _depth_of(value)


@MODULES
@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("a = [[1], {b = [2]}]", 3),
        ("a = '[[['", 0),
        ("a = 'it'\nb = [1] # don't [[[[\nc = [[1]]", 2),
        ('a = """[[[ " ""\\""" [[["""\nb = [[[1]]]', 3),
        ('a = """[ two quotes at the end"""""\nb = [[[1]]]', 3),
        ("a = '''[ don't, ''do'''''\nb = [[[1]]]", 3),
        ('a = ""\nb = \'\'\nc = [""]', 1),
        ("a = '\\'\nb = [['\\']]", 2),
    ],
)
def test_strings_and_comments_of_toml_are_not_counted(
    nesting: ModuleType, text: str, depth: int
) -> None:
    held = tomllib.loads(text)
    assert nesting.depth(text) == depth == max(map(_depth_of, held.values()))


@MODULES
def test_what_is_never_closed_is_counted_in_one_pass(nesting: ModuleType) -> None:
    """Each alternative that failed at its end and started over would take hours for these."""
    for piece in ('\\"', '"', "'", "'''", '"""', "[", "#", "\\"):
        nesting.depth('"' + piece * 1_000_000)
        nesting.depth(piece * 1_000_000)
    assert nesting.depth("[" * 1_000_000) == 1_000_000


@MODULES
@pytest.mark.parametrize("core", ["", "1", "{}"])
def test_a_hundred_are_read_and_one_more_is_refused(nesting: ModuleType, core: str) -> None:
    levels = 99 if core == "{}" else 100
    deep = "[" * levels + core + "]" * levels
    held = json.loads(deep)
    assert nesting.shallow(deep) is deep
    assert nesting.flat(held) is held
    for refuse, what in ((nesting.shallow, f"[{deep}]"), (nesting.flat, [held])):
        with pytest.raises(ValueError, match="more than 100 deep"):
            refuse(what)
    side_by_side = json.dumps([[1]] * 1000)
    assert nesting.shallow(side_by_side) is side_by_side


@MODULES
@pytest.mark.parametrize("dotted", ["{} = 1", "[{}]", "a = [{{{} = 1}}]"])
def test_toml_that_nests_without_brackets_is_refused_too(nesting: ModuleType, dotted: str) -> None:
    held = tomllib.loads(nesting.shallow(dotted.format(".".join("a" * 1500))))
    with pytest.raises(ValueError, match="more than 100 deep"):
        nesting.flat(held)


@pytest.fixture
def lost() -> Iterator[list[object]]:
    """Yield what the collector of garbage called and could not end for want of stack.

    It is made to collect at almost every list that is made, and calls something that needs
    a quarter of the stack, as finalizers of libraries do in small.
    """
    found: list[object] = []

    def finalize(_phase: str, _info: object) -> None:
        _calls(sys.getrecursionlimit() // 4)

    before, hook = gc.get_threshold(), sys.unraisablehook
    sys.unraisablehook = lambda problem: found.append(problem.exc_type)
    gc.callbacks.append(finalize)
    gc.set_threshold(50)
    try:
        yield found
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(finalize)
        sys.unraisablehook = hook


def _calls(left: int) -> int:
    return left and _calls(left - 1)


ISSUER = "https://issuer.test"
DEEP = "[" * 100_000


KEY = ECKey.generate_key("P-256", {"kid": "own", "use": "sig"})
SAID = {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys", "keys": [KEY.as_dict(private=False)]}


def _identified(claims: bytes, document: str | None = None) -> object:
    """Return whom a signed token of such claims names.

    Its issuer answers with ``document``.
    """
    issuer = Issuer(ISSUER, "penstock", "sub", lambda _: (document or json.dumps(SAID)).encode())
    token = jws.serialize_compact({"alg": "ES256", "kid": "own"}, claims, KEY)
    return issuer.identify(token, datetime(2026, 1, 1, tzinfo=UTC))


def _toml(file: Path) -> str:
    return str(file.rename(file.with_suffix(".toml")))


def _state(header: bytes) -> bytes:
    """Return a mechanism's state with that header, and the digest that it should have."""
    content = MAGIC + VERSION.to_bytes(2, "little") + len(header).to_bytes(4, "little") + header
    return content + hashlib.sha256(content).digest()


READERS: dict[str, Callable[[Path], Any]] = {
    "a spec": lambda file: content_of(str(file), 10**6),
    "a spec as TOML": lambda file: content_of(_toml(file), 10**6),
    "dots in TOML": lambda file: content_of(_toml(file), 10**6),
    "settings": lambda file: setting_sources.load({}, file),
    "dots in settings": lambda file: setting_sources.load({}, file),
    "a private file": private.read,
    "the witness": lambda file: FileWitness(file.parent, 1.0, lambda: [b"k" * 32]).seen(),
    "an issuer's document": lambda _: _identified(b"{}", DEEP),
    "a token's claims": lambda _: _identified(b"[" * 6000),
    "an answer": lambda _: transport.parsed(DEEP.encode()),
    "a leaf": lambda _: leaves.stated(DEEP.encode()),
    "an export": lambda _: next(offline.hashes([DEEP])),
    "a spec of the client": lambda file: preview.spec_in(str(file), io.StringIO()),
    "dots for the client": lambda file: preview.as_json(
        preview.spec_in(_toml(file), io.StringIO())
    ),
    "a state": lambda _: decode(_state(DEEP.encode())),
}


DOTTED = ".".join("a" * 1500) + " = 1"
HELD = {
    "a spec as TOML": f"a = {DEEP}",
    "dots in TOML": DOTTED,
    "settings": f"a = {DEEP}",
    "dots in settings": DOTTED,
    "dots for the client": DOTTED,
}
REFUSALS = (PenstockError, Refused, ValueError, InvalidArgument, ProtocolError)


@pytest.mark.parametrize("reader", READERS)
def test_nothing_is_finalized_where_the_stack_ends(
    lost: list[object], tmp_path: Path, reader: str
) -> None:
    file = tmp_path / FILE
    file.write_text(HELD.get(reader, DEEP))
    file.chmod(0o600)
    with pytest.raises(REFUSALS):
        READERS[reader](file)
    assert lost == []


def test_what_is_lost_at_the_end_of_the_stack_is_found(lost: list[object]) -> None:
    with pytest.raises(RecursionError):
        json.loads(DEEP)
    assert RecursionError in lost


def test_a_mark_of_utf_8_before_json_of_others_is_passed_over() -> None:
    assert transport.parsed(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    with pytest.raises(Refused):  # and not IdentityUnavailable: the issuer's keys were read
        _identified(b"{}", "\ufeff" + json.dumps(SAID))
