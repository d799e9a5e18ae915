"""Every setting, declared once: name, type, default, one sentence.

Environment over ``penstock.toml`` over defaults; a secret may also come from a file
named by the same variable with ``_FILE`` behind it.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from penstock.errors import InvalidInput

PREFIX = "PENSTOCK_"


def _setting(default: object, sentence: str, secret: bool = False) -> object:
    return field(default=default, metadata={"sentence": sentence, "secret": secret})
