"""The same question under every noise, one after the other, each shown as it is done.

What is done is kept in the stage of the work, and all of it in the result: another worker, or
a browser that comes back, finds it there.
"""

import hashlib
import json
from collections.abc import Callable
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from penstock.errors import InvalidInput
from penstock.services.jobs.jobs import WorkView
from penstock.services.jobs.runner import Run
from penstock.services.schemas.previews import PreviewView
from penstock.web.forms import choices
from penstock.web.forms.query_form import Given
from penstock.web.http.idempotent_forms import FIELD, UNSAID
from penstock.web.presenters import preview_choices
from penstock.web.presenters.preview_choices import Comparison


def keyed(given: Given) -> Given:
    """The form under a key of its own, since the same form is sent on to register.

    Without numbers that were typed: what is compared does not depend on them.
    """
    wanted = MultiDict(
        [one for one in given.items(multi=True) if one[0] not in UNSAID | {"values"}]
    )
    spelled = urlencode(sorted(wanted.items(multi=True)))
    digest = hashlib.sha256(spelled.encode()).hexdigest()
    wanted[FIELD] = f"compare-{digest[:32]}-{given.get(FIELD, '')[:64]}"
    return wanted


def compared(given: Given, priced: Callable[[Given], PreviewView], run: Run) -> str:
    """Preview the question under each noise, telling ``run`` what is done; the comparison."""
    found: list[tuple[str, PreviewView | str]] = []
    asked = given.get("mechanism", "")
    for option in choices.MECHANISMS:
        done = preview_choices.written(preview_choices.mechanisms(found, asked))
        told = json.dumps({"now": option.name, "done": done})
        run(told, 100 * len(found) // len(choices.MECHANISMS))
        changed = MultiDict(given)
        changed["mechanism"] = option.value
        try:
            found.append((option.value, priced(changed)))
        except InvalidInput as problem:
            found.append((option.value, problem.errors[0][1]))
    return preview_choices.written(preview_choices.mechanisms(found, asked))


def so_far(piece: WorkView) -> Comparison:
    """Return the rows that are there by now."""
    if piece.result is not None:
        return preview_choices.read(piece.result)
    told = _told(piece)
    return preview_choices.read(told["done"]) if told else preview_choices.mechanisms([], "")


def stage(piece: WorkView) -> str:
    """Say which noise is worked out."""
    told = _told(piece)
    return f"working out {told['now']} noise" if told else piece.stage


def _told(piece: WorkView) -> dict[str, str]:
    """What ``compared`` told of itself; empty before it began."""
    if not piece.stage.startswith("{"):
        return {}
    told: dict[str, str] = json.loads(piece.stage)
    return told
