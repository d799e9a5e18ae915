"""What a leaf of a log states; standard library only.

A leaf is canonical JSON (UTF-8, sorted keys, no spaces), so that no two readers can take it
for two things.
"""

import base64
import json
from typing import NoReturn

from penstock_client._log.nesting import shallow


def stated(content: bytes) -> dict[str, object]:
    """The fields of a leaf.  Raises ``ValueError`` unless they are canonical JSON."""
    statement = json.loads(shallow(content.decode()), parse_constant=_refuse)
    again = json.dumps(statement, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # A key that stands there twice is dropped, so that it shows here as well.
    if not isinstance(statement, dict) or again.encode() != content:
        raise ValueError("a leaf is not the canonical JSON of an object")
    return statement


def decoded(text: str) -> bytes:
    """Octets from base64.  Raises ``ValueError`` for any other spelling than the standard one."""
    content = base64.b64decode(text, validate=True)
    if base64.b64encode(content).decode() != text:
        raise ValueError("base64 is spelled otherwise than by the standard")
    return content


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
