"""Describe which part of the catalogue is chosen, and in which order."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from penstock.errors import InvalidInput
from penstock.spec_fields import folded

LONGEST_SEARCH: Final = 200

Sort = Literal["newest", "oldest", "name", "dataset"]
SORTS: Final = get_args(Sort)
"""Orders of queries: by registration, by name, or by dataset and then by name."""

Mark = Literal["mine", "new", "retired"]
MARKS: Final = get_args(Mark)
"""Marks of queries by which they are filtered.

The caller registered a query that is ``mine``, or has a release of it; ``new`` ones were
registered within the last ``NEW_DAYS`` days.
"""

NEW_DAYS: Final = 7


@dataclass(frozen=True)
class Choice:
    """Hold a search, whose words are all in what it matches, with filters and an order."""

    search: str = ""
    sort: str = SORTS[0]
    only: str = ""
    dataset: str = ""
    tag: str = ""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> "Choice":
        """Read what an address says; what is left out filters nothing.  Raises ``InvalidInput``."""
        search = given.get("search", "").strip()
        if len(search) > LONGEST_SEARCH:
            raise InvalidInput(
                f"The search has {len(search)} characters, and has at most {LONGEST_SEARCH};"
                " search for fewer words.",
                pointer="/search",
            )
        sort, only = given.get("sort") or SORTS[0], given.get("only", "")
        if sort not in SORTS:
            raise InvalidInput(f"sort must be one of {', '.join(SORTS)}.", pointer="/sort")
        if only and only not in MARKS:
            raise InvalidInput(f"only must be one of {', '.join(MARKS)}.", pointer="/only")
        dataset, tag = (given.get(name, "").strip() for name in ("dataset", "tag"))
        return cls(search, sort, only, dataset, tag)

    @property
    def narrows(self) -> bool:
        """Return True if this may leave something out."""
        return bool(self.search or self.only or self.dataset or self.tag)

    def is_of(self, dataset: str) -> bool:
        """Return True unless another dataset is chosen."""
        return not self.dataset or folded(self.dataset) == folded(dataset)

    def is_tagged(self, tags: Collection[str]) -> bool:
        """Return True unless a tag is chosen that is not among ``tags``."""
        return not self.tag or folded(self.tag) in map(folded, tags)

    def matches(self, *texts: str) -> bool:
        """Return True if each word of the search is in one of ``texts``, in any case."""
        inside = folded("\n".join(texts))
        return all(word in inside for word in folded(self.search).split())
