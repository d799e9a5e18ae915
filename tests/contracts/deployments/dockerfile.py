"""Read ``deploy/Dockerfile``: its instructions, and what a container of it runs."""

import json
import re
from dataclasses import dataclass
from typing import Final

from tests.contracts.deployments.deployment_files import DEPLOY

PATH: Final = DEPLOY / "Dockerfile"


@dataclass(frozen=True)
class Instruction:
    """Hold one instruction, with its lines joined."""

    verb: str
    rest: str


def instructions(text: str) -> list[Instruction]:
    """Return the instructions of a Dockerfile in their order, without comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    parts = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [Instruction(verb, rest) for verb, rest in parts]


def last_stage(text: str) -> list[Instruction]:
    """Return the instructions of the stage that becomes the image."""
    every = instructions(text)
    start = max(index for index, each in enumerate(every) if each.verb == "FROM")
    return every[start:]


@dataclass(frozen=True)
class Container:
    """Hold what a container of the image runs, as whom, where, and its health check."""

    command: list[str]
    environment: dict[str, str]
    account: str
    folder: str
    health: list[str]


def container() -> Container:
    """Return what the Dockerfile says of a container."""
    stage = {each.verb: each.rest for each in last_stage(PATH.read_text())}
    return Container(
        [*json.loads(stage["ENTRYPOINT"]), *json.loads(stage["CMD"])],
        dict(pair.split("=", 1) for pair in stage["ENV"].split()),
        stage["USER"],
        stage["WORKDIR"],
        json.loads(stage["HEALTHCHECK"].partition(" CMD ")[2]),
    )
