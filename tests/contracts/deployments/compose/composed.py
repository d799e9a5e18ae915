"""Read ``deploy/compose.yaml``, and hold a compose file to the specification of its format."""

import json
import re
from typing import Any

import pytest
import yaml
from tests.contracts.deployments.deployment_files import DEPLOY

PATH = DEPLOY / "compose.yaml"


def document(text: str) -> dict[str, Any]:
    """Return a compose file with the defaults of its variables inserted."""
    content: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
    return content


CONTENT = document(PATH.read_text())


def refusal(content: dict[str, Any]) -> str:
    """Return why a compose file breaks the specification; empty if it does not."""
    specification = pytest.importorskip("compose_spec")
    try:
        specification.PyCompose.from_json(json.dumps(content)).validate()
    except ValueError as problem:
        return str(problem)
    return ""
