"""Read the leaves of a log, with the standard library only.

A leaf is canonical JSON (UTF-8, sorted keys, no spaces), so that every reader understands it
in the same way.
"""

import base64
import json
from typing import NoReturn

from penstock_client._log.nesting import shallow


def stated(content: bytes) -> dict[str, object]:
    """Return the fields of a leaf.  Raises ``ValueError`` unless it is canonical JSON."""
    statement = json.loads(shallow(content.decode()), parse_constant=_refuse)
    again = json.dumps(statement, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # json.loads drops a repeated key, so that a leaf with one differs here as well.
    if not isinstance(statement, dict) or again.encode() != content:
        raise ValueError("a leaf is not the canonical JSON of an object")
    return statement


def decoded(text: str) -> bytes:
    """Decode base64.  Raises ``ValueError`` for any spelling but the standard one."""
    content = base64.b64decode(text, validate=True)
    if base64.b64encode(content).decode() != text:
        raise ValueError("base64 is not in its standard spelling")
    return content


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
