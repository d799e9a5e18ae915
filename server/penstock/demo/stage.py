"""Make the demo's home folder: an ordinary home, with a file that marks it as the demo's."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from penstock.errors import Conflict, Unavailable
from penstock.settings import Settings

MARK: Final = "demo.json"
FORMAT: Final = "penstock-demo"
SHIPPED: Final = Path(__file__).parent
DATA: Final = SHIPPED / "data"


def settings(home: Path, port: int) -> Settings:
    """Return the settings of a demo: the defaults, except for its home and port.

    The environment and settings files are ignored: a demo that found a real database there would
    write into it.
    """
    return Settings(home=home.resolve(), port=port, public_url=f"http://127.0.0.1:{port}")


def environment(settings: Settings, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which a program finds these settings, and no others."""
    kept = {name: value for name, value in inherited.items() if not name.startswith("PENSTOCK_")}
    return {
        **kept,
        "PENSTOCK_CONFIG": os.devnull,
        "PENSTOCK_HOME": str(settings.home),
        "PENSTOCK_HOST": settings.host,
        "PENSTOCK_PORT": str(settings.port),
        "PENSTOCK_PUBLIC_URL": settings.public_url,
    }


def stands(home: Path) -> bool:
    """Return True if a finished demo home exists, and False if a new one may be made.

    Raises ``Conflict`` for a folder that is not a demo's home, or that an interrupted demo left.
    """
    mark = _mark(home)
    if mark is None:
        if home.exists() and any(home.iterdir()):
            raise Conflict(
                f"{home} exists already and is not a demo's home; nothing was changed."
                " Name another folder with --home."
            )
        return False
    if not mark.get("finished"):
        raise Conflict(
            f"The demo in {home} was interrupted before it was complete. Delete that folder and"
            f" start again, or name another one with --home."
        )
    return True


def make_home(home: Path) -> None:
    """Make the folder and copy the data into it."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_mark(home, finished=False)
        shutil.copytree(DATA, home / "data")
    except OSError as problem:
        raise Unavailable(
            f"The demo's home {home} cannot be made: {problem.strerror}."
            " Name another folder with --home."
        ) from problem


def finish(home: Path) -> None:
    """Mark the home as complete."""
    _write_mark(home, finished=True)


def dataset(home: Path) -> dict[str, Any]:
    """Return the spec of the demo's dataset, with the path of the file in ``home``."""
    spec: dict[str, Any] = json.loads((SHIPPED / "dataset.json").read_text())
    name = Path(spec["source"]["uri"]).name
    return {**spec, "source": {**spec["source"], "uri": str(home / "data" / name)}}


def queries(folder: str = "queries") -> list[dict[str, Any]]:
    """Return the specs of the demo's queries in one of its folders, by name."""
    return [json.loads(file.read_text()) for file in sorted((SHIPPED / folder).glob("*.json"))]


def later(name: str) -> dict[str, Any]:
    """Return a spec that is registered besides the queries."""
    content: dict[str, Any] = json.loads((SHIPPED / "later" / f"{name}.json").read_text())
    return content


def _mark(home: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((home / MARK).read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("format") == FORMAT else None


def _write_mark(home: Path, *, finished: bool) -> None:
    (home / MARK).write_text(json.dumps({"format": FORMAT, "finished": finished}) + "\n")
