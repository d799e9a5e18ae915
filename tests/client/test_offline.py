"""Test that an export is verified without its server, and an altered one is refused."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.client.servers.hosts import Host, canonical, ed25519

from penstock_client import offline

Lines = list[str]
SIZE = 6
MODULES = (
    *(f"_log/{name}.py" for name in ("__init__", "tree", "notes", "leaves", "nesting", "ed25519")),
    "offline.py",
)


class Export:
    """Write files of an export and its checkpoint, and run the program on them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.host, self.folder, self._capsys = Host({}, SIZE), folder, capsys
        self.checkpoint = json.dumps({"note": self.host.note(SIZE)})
        self.key = self.host.public.hex()
        self.lines = [line(number, leaf) for number, leaf in enumerate(self.host.leaves)]

    def run(self, lines: Lines | bytes) -> tuple[int, str, str]:
        content = lines if isinstance(lines, bytes) else "".join(f"{x}\n" for x in lines).encode()
        export, checkpoint = self.folder / "export", self.folder / "checkpoint"
        export.write_bytes(content)
        checkpoint.write_text(self.checkpoint)
        code = offline.main([str(export), str(checkpoint), "--key", self.key])
        return code, *self._capsys.readouterr()

    def refuses(self, lines: Lines | bytes) -> None:
        code, out, error = self.run(lines)
        assert (code, out) == (1, "")
        assert error.startswith("Not verified: ")


def line(index: object, leaf: bytes) -> str:
    return json.dumps({"index": index, "leaf": base64.b64encode(leaf).decode()})


@pytest.fixture
def export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Export:
    return Export(tmp_path, capsys)


def test_an_export_is_verified(export: Export) -> None:
    code, out, error = export.run(export.lines)
    assert (code, error) == (0, "")
    assert out == f"verified {SIZE} leaves, root {export.host.root(SIZE).hex()}\n"


def test_what_is_newer_than_the_checkpoint_is_not_called_verified(export: Export) -> None:
    export.checkpoint = json.dumps({"note": export.host.note(4)})
    code, out, _ = export.run(export.lines)
    assert code == 0
    assert out.startswith("verified 4 leaves")
    assert "NOT verified: 2 leaves" in out


def replaced(lines: Lines, place: int, *others: str) -> Lines:
    return [*lines[:place], *others, *lines[place + 1 :]]


def entry(index: str, leaf: str) -> str:
    return f'{{"index": {index}, "leaf": {leaf}}}'


def with_more(lines: Lines, more: str) -> Lines:
    return replaced(lines, 1, lines[1].removesuffix("}") + more)


ALTERED: dict[str, Callable[[Lines], Lines]] = {
    "a leaf changed": lambda lines: replaced(lines, 2, line(2, canonical(v=1, number=7))),
    "a leaf dropped": lambda lines: replaced(lines, 2),
    "the first dropped": lambda lines: lines[1:],
    "the last dropped": lambda lines: lines[:-1],
    "all dropped": lambda _: [],
    "a leaf doubled": lambda lines: replaced(lines, 2, lines[2], lines[2]),
    "a leaf doubled and renamed": lambda lines: replaced(
        lines, 3, line(3, canonical(v=1, number=2))
    ),
    "two exchanged": lambda lines: [lines[1], lines[0], *lines[2:]],
    "two exchanged and renamed": lambda lines: [
        lines[0].replace('"index": 0', '"index": 1'),
        *lines[2:],
    ],
    "leaves of two places exchanged": lambda lines: [
        line(0, canonical(v=1, number=1)),
        line(1, canonical(v=1, number=0)),
        *lines[2:],
    ],
    "counted from 1": lambda lines: [
        x.replace(f'"index": {n}', f'"index": {n + 1}') for n, x in enumerate(lines)
    ],
    "an empty line": lambda lines: [lines[0], "", *lines[1:]],
    "an empty line behind": lambda lines: [*lines, ""],
    "garbage behind": lambda lines: [*lines, "garbage"],
    "an older leaf behind": lambda lines: [*lines, lines[-1]],
    "no object behind": lambda lines: [*lines, "[6]"],
    "garbage in a line": lambda lines: replaced(lines, 1, lines[1] + "garbage"),
    "two objects in a line": lambda lines: replaced(lines, 1, lines[1] + lines[1]),
    "a list": lambda lines: replaced(lines, 1, "[]"),
    "a list of pairs": lambda lines: replaced(lines, 1, '[["index", 1], ["leaf", ""]]'),
    "null": lambda lines: replaced(lines, 1, "null"),
    "a deep line": lambda lines: replaced(lines, 1, "[" * 100_000),
    "a deep leaf": lambda lines: replaced(lines, 1, line(1, b"[" * 100_000)),
    "index as a truth": lambda lines: replaced(lines, 1, lines[1].replace("1", "true", 1)),
    "index as a fraction": lambda lines: replaced(lines, 1, lines[1].replace("1", "1.0", 1)),
    "index as a text": lambda lines: replaced(lines, 1, lines[1].replace("1", '"1"', 1)),
    "no index": lambda lines: replaced(lines, 1, lines[1].replace("index", "place")),
    "index twice": lambda lines: replaced(lines, 1, '{"index": 9, ' + lines[1][1:]),
    "leaf twice": lambda lines: replaced(lines, 1, '{"leaf": "", ' + lines[1][1:]),
    "index twice, the true one first": lambda lines: with_more(lines, ', "index": 9}'),
    "leaf twice, the true one first": lambda lines: with_more(lines, ', "leaf": ""}'),
    "no leaf": lambda lines: replaced(lines, 1, '{"index": 1}'),
    "leaf as null": lambda lines: replaced(lines, 1, entry("1", "null")),
    "leaf as a number": lambda lines: replaced(lines, 1, entry("1", "1234")),
    "leaf as a list": lambda lines: replaced(lines, 1, entry("1", '["e30="]')),
    "leaf cut off": lambda lines: replaced(lines, 1, lines[1].replace('9"}', '"}')),
    "leaf with a space": lambda lines: replaced(lines, 1, lines[1].replace('"ey', '" ey')),
    "leaf in other letters": lambda lines: replaced(lines, 1, entry("1", '"\\u00e9"')),
}  # fmt: skip


@pytest.mark.parametrize("altered", ALTERED)
def test_no_altered_export_is_verified(export: Export, altered: str) -> None:
    changed = ALTERED[altered](export.lines)
    assert changed != export.lines
    export.refuses(changed)


def test_bytes_that_are_no_text_are_refused(export: Export) -> None:
    export.refuses(b"\xff\xfe")
    export.refuses(b"\x00" * 100)


def test_a_line_that_is_longer_than_any_leaf_is_not_read(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offline, "LONGEST_LINE", 1000)
    assert export.run(export.lines)[0] == 0
    export.refuses([*export.lines, " " * 1000])


@pytest.mark.parametrize(
    "leaf",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        b'{"a":1}\n',
        b'{"a":NaN}',
        b'{"a":1e400}',
        b'{"a":"\\u00e9"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b'\xef\xbb\xbf{"a":1}',
        '{"a":1}'.encode("utf-16"),
        b"[]",
        b"7",
        b"",
    ],
)
def test_a_leaf_that_could_be_read_in_two_ways_is_refused_whoever_signed_it(
    export: Export, leaf: bytes
) -> None:
    export.host.leaves[3] = leaf
    export.checkpoint = json.dumps({"note": export.host.note(SIZE)})
    export.refuses([line(number, content) for number, content in enumerate(export.host.leaves)])


@pytest.mark.parametrize(
    "checkpoint",
    ["", "{", "[]", "null", '"note"', "{}", '{"note": null}', '{"note": ["a"]}', "[" * 100_000],
)
def test_a_checkpoint_that_is_none_is_refused(export: Export, checkpoint: str) -> None:
    export.checkpoint = checkpoint
    export.refuses(export.lines)


def test_a_checkpoint_that_another_key_signed_is_refused(export: Export) -> None:
    other = Host({}, SIZE)
    other.key = ed25519(9)
    own, key = export.checkpoint, export.key
    export.checkpoint = json.dumps({"note": other.note(SIZE)})
    export.refuses(export.lines)
    export.checkpoint, export.key = own, other.public.hex()
    export.refuses(export.lines)
    for wrong in (key[:-2], key + "00", "", "no hexadecimal", "00" * 32):
        export.key = wrong
        export.refuses(export.lines)


def test_files_that_are_not_there_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert offline.main([str(tmp_path / "a"), str(tmp_path), "--key", "00" * 32]) == 1
    assert capsys.readouterr().err.startswith("Not verified: ")


def test_the_program_and_what_it_is_copied_with_need_python_alone(
    export: Export, tmp_path: Path
) -> None:
    """Copy only these files, so that no other module of the server or of this package is there."""
    folder = tmp_path / "copied" / "penstock_client"
    (folder / "_log").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    for name in MODULES:
        (folder / name).write_bytes((Path(offline.__file__).parent / name).read_bytes())
    assert export.run(export.lines)[0] == 0
    words = [str(tmp_path / "export"), str(tmp_path / "checkpoint"), "--key", export.key]
    loaded = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from penstock_client import offline; \
sys.stdout.write(str(offline.main(sys.argv[1:])) + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", loaded, str(folder.parent), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    verified, modules = done.stdout.splitlines()
    assert verified.startswith(f"verified {SIZE} leaves")
    assert modules.startswith("0")
    others = {name.partition(".")[0] for name in modules[1:].split()} - {"penstock_client"}
    assert others <= set(sys.stdlib_module_names) | {"__main__"}
