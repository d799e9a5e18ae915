"""Provide one fault: a text of the product, and what stands in its place."""

from dataclasses import dataclass
from typing import Final

PRODUCT: Final = "server/penstock"
"""The folder that mutants are of."""


@dataclass(frozen=True)
class Mutant:
    """Hold a change that makes the product wrong.

    ``before`` stands once in the file ``path`` of the product; with ``after`` it is wrong.

    ``wrong`` says what goes wrong then, ``tests`` which files or tests find that out.  A
    mutant that breaks a claim of ``GUARANTEES.md`` has its ``row``, which names it and all of
    its tests.
    """

    name: str
    path: str
    before: str
    after: str
    wrong: str
    tests: tuple[str, ...]
    row: str = ""

    def applied(self, text: str) -> str:
        """Return ``text`` with the fault.  Raises ``ValueError`` where its place is not unique."""
        count = text.count(self.before)
        if count != 1:
            raise ValueError(f"{self.name}: {self.path} has its text {count} times, and not once")
        return text.replace(self.before, self.after)
