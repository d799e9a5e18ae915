"""Preview a query under every noise mechanism, one after the other, as a background job.

Finished rows are stored in the stage of the job, and all rows in its result, where another worker,
or a browser that returns later, finds them.
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
    """Return the form under a separate idempotency key, since it is later sent to register.

    Numbers that were typed are left out: the comparison does not depend on them.
    """
    fields = MultiDict(
        [field for field in given.items(multi=True) if field[0] not in UNSAID | {"values"}]
    )
    spelled = urlencode(sorted(fields.items(multi=True)))
    digest = hashlib.sha256(spelled.encode()).hexdigest()
    fields[FIELD] = f"compare-{digest[:32]}-{given.get(FIELD, '')[:64]}"
    return fields


def compared(given: Given, priced: Callable[[Given], PreviewView], run: Run) -> str:
    """Preview the query under each mechanism; report each row to ``run``, and return all."""
    previews: list[tuple[str, PreviewView | str]] = []
    own_mechanism = given.get("mechanism", "")
    for option in choices.MECHANISMS:
        done = preview_choices.written(preview_choices.mechanisms(previews, own_mechanism))
        stage_text = json.dumps({"now": option.name, "done": done})
        run(stage_text, 100 * len(previews) // len(choices.MECHANISMS))
        changed = MultiDict(given)
        changed["mechanism"] = option.value
        try:
            previews.append((option.value, priced(changed)))
        except InvalidInput as problem:
            previews.append((option.value, problem.errors[0][1]))
    return preview_choices.written(preview_choices.mechanisms(previews, own_mechanism))


def so_far(piece: WorkView) -> Comparison:
    """Return the rows that are finished by now."""
    if piece.result is not None:
        return preview_choices.read(piece.result)
    stages = _stages(piece)
    return preview_choices.read(stages["done"]) if stages else preview_choices.mechanisms([], "")


def stage(piece: WorkView) -> str:
    """Return which mechanism is being previewed, for people."""
    stages = _stages(piece)
    return f"previewing {stages['now']} noise" if stages else piece.stage


def _stages(piece: WorkView) -> dict[str, str]:
    """Return what ``compared`` reported last; empty before it began."""
    if not piece.stage.startswith("{"):
        return {}
    stages: dict[str, str] = json.loads(piece.stage)
    return stages
