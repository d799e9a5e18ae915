"""What callers send about streams; a stream's terms are those of a query."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.fields import Name, Number, Spec, each_once
from penstock.connectors.specs.models import MOST_KEYS, AssertedSensitivity
from penstock.services.schemas.levels import Level
from penstock.services.schemas.queries import Terms

MOST_STEPS = 2**40
MOST_STEPS_OF_A_UNIT = 2**20
LARGEST_ARITY = 1000

Structure = Literal["binary", "kary", "smooth_binary", "sqrt", "auto"]


class StreamRequest(Terms):
    """A stream to open: what will come, how it is protected, and who sees it how well.

    ``sensitivity`` is how much one privacy unit changes one element, ``max_steps_per_unit``
    in how many elements it is at most; both are taken at the caller's word.  ``length`` is
    how many elements there may be, null for no end.  ``bound`` is the largest absolute
    number in an element.  ``k`` is the arity of the k-ary tree; one of 3 or more subtracts
    nodes as well, but for Laplace noise at a delta above 0, where trees only add.  ``auto``
    is the best tree; ``sqrt`` has less error, for Gaussian noise and few steps, and keeps all.
    """

    name: Name
    dataset: Name
    mechanism: Literal["gaussian", "laplace"]
    structure: Structure = "auto"
    k: int | None = Field(default=None, ge=2, le=LARGEST_ARITY)
    length: int | None = Field(ge=1, le=MOST_STEPS)
    dimension: int = Field(default=1, ge=1, le=MOST_KEYS)
    step: Number = 1
    bound: Number = 2**31
    sensitivity: AssertedSensitivity = AssertedSensitivity(l1=1)
    max_steps_per_unit: int | None = Field(default=None, ge=1, le=MOST_STEPS_OF_A_UNIT)

    @model_validator(mode="after")
    def _one_tree(self) -> "StreamRequest":
        if self.k is not None and self.structure != "kary":
            raise PydanticCustomError(
                "structure", "The field k goes with structure kary alone.", {"field": "k"}
            )
        if self.length is None and self.structure == "smooth_binary":
            raise PydanticCustomError(
                "structure",
                "A smooth_binary tree needs a length, for example 365; give one, or take another.",
                {"field": "length"},
            )
        if self.structure == "sqrt" and (self.length is None or self.mechanism != "gaussian"):
            raise PydanticCustomError(
                "structure",
                "The structure sqrt needs gaussian noise and a length, for example 365; take a tree"
                " where either is not to be had.",
                {"field": "structure"},
            )
        if self.length is None and self.structure == "kary" and self.k is None:
            raise PydanticCustomError(
                "structure",
                "Without a length the best k is not known; give k, for example 4.",
                {"field": "k"},
            )
        return self


def _elements(value: object) -> list[object]:
    """The list that was sent; what stands in it is looked at by ``stream_elements`` alone."""
    if not isinstance(value, list):
        raise PydanticCustomError("list_type", "This must be a list.")
    return value


class ElementsRequest(Spec):
    """The next elements: numbers, or rows of numbers where the dimension is above 1.

    Any ``from`` but the next number is answered with that number, so that none is invalid.
    """

    first: int = Field(alias="from")
    values: Annotated[
        list[object],
        PlainValidator(_elements),
        WithJsonSchema(
            {
                "type": "array",
                "minItems": 1,
                "items": {
                    "anyOf": [
                        {"type": "number"},
                        {"type": "array", "items": {"type": "number"}, "minItems": 1},
                    ]
                },
            }
        ),
        Field(exclude=True, repr=False),
    ]


class StreamChange(Spec):
    """New levels of a stream by tier, from the next element on; those left out keep theirs."""

    levels: Annotated[
        dict[Name, Level], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
    ]
