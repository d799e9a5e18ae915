"""Represent answers as lomas has them: fields by attribute and by item."""

from typing import Any


class Answer(dict[str, Any]):
    """Hold an answer's fields: ``answer.epsilon`` and ``answer["epsilon"]`` are the same."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(self)
            raise AttributeError(
                f"This answer has no field {name!r}; its fields: {fields}."
            ) from None


def budget(kind: str, epsilon: float | None, delta: float) -> Answer:
    """Return a budget under the names of each version of lomas; ``kind`` is such as ``initial``."""
    return Answer(
        {f"{kind}_epsilon": epsilon, f"{kind}_delta": delta, "epsilon": epsilon, "delta": delta}
    )
