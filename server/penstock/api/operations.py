"""Declare each operation of the API once: address, policy, request, answer and refusals.

A handler's annotations are its declaration.  ``call`` carries the server and the caller;
``request`` is the body as a strict model; an argument named in the path is a string; ``window`` is
a page of a list; every other argument is in the query string and is described by ``Parameter``.  An
operation whose answer may be a proposal needs two people under the two-person rule.  The route, the
checks and the OpenAPI document are all made from these declarations, so they cannot drift apart.
An operation cannot be declared without a policy.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import GenericAlias, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter

from penstock.services.access.presumptions import Presumed
from penstock.services.context import Server
from penstock.services.pagination import Window
from penstock.services.releases.allowed import EarlyLook
from penstock.services.schemas.proposals import ProposalView

Handler = TypeVar("Handler", bound=Callable[..., object])
API = "/api/v1"
PROPOSED = 202
"""The status of an answer that is a proposal, which a second admin has to approve."""

READING = frozenset({"GET"})

Look = Callable[[Server, Presumed, str, Any], EarlyLook | None]
"""Confirms a presumed caller of an operation on the object of a name, and reads what it needs."""

_ANSWERS = ConfigDict(
    arbitrary_types_allowed=True,  # vectors are numpy arrays, with a schema of their own
    json_schema_serialization_defaults_required=True,
)


@dataclass(frozen=True)
class Policy:
    """Hold who may call an operation; the services also check what depends on the object."""

    sentence: str
    needs_token: bool = True
    roles: tuple[str, ...] = ()


ANYBODY = Policy("every caller, without a token", needs_token=False)
SIGNED_IN = Policy("every user with a token")
ADMIN = Policy("admins", roles=("admin",))
ANALYST = Policy("analysts", roles=("analyst",))
PLANNER = Policy("analysts, at their own tier and below, and admins", roles=("analyst", "admin"))
REGISTRAR = Policy("admins, and analysts under an allowance", roles=("analyst", "admin"))
REQUESTER = Policy("analysts, their own requests, and admins", roles=("analyst", "admin"))
AUDITOR = Policy("auditors", roles=("auditor",))
OVERSEER = Policy("admins and auditors", roles=("admin", "auditor"))
READER = Policy("analysts, about themselves, and auditors", roles=("analyst", "auditor"))
ONESELF_OR_ADMIN = Policy("every user about themselves, and admins")
ONESELF_OR_AUDITOR = Policy("every user about themselves, and auditors")


@dataclass(frozen=True)
class Parameter:
    """Hold the meaning of an argument in the query string, in one sentence.

    ``called`` is its name there, if that is not a valid name in Python.
    """

    sentence: str
    called: str | None = None


@dataclass(frozen=True)
class QueryParameter:
    """Hold one argument in the query string, and how its text is read."""

    name: str
    sentence: str
    adapter: TypeAdapter[Any]
    required: bool
    argument: str


@dataclass(frozen=True)
class Operation:
    """Hold the declaration of one verb at one path."""

    verb: str
    path: str
    policy: Policy
    handler: Callable[..., object]
    status: int
    refusals: tuple[int, ...]
    large_body: bool
    body: TypeAdapter[Any] | None
    answer: TypeAdapter[Any]
    parameters: tuple[QueryParameter, ...]
    windowed: bool
    tabular: bool = False
    lines: bool = False
    noted: bool = False
    documented: bool = False
    proposes: bool = False
    question: bool = False
    look: Look | None = None

    @property
    def name(self) -> str:
        """Return the handler's name, unique among all operations."""
        return self.handler.__name__

    @property
    def subject(self) -> str:
        """Return the name of the module that declares it."""
        return self.handler.__module__.rsplit(".", 1)[-1]

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """Return the names in braces in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def rule(self) -> str:
        """Return the path as Flask writes it."""
        return self.path.replace("{", "<").replace("}", ">")

    @property
    def summary(self) -> str:
        """Return the first line of the handler's docstring."""
        return inspect.cleandoc(self.handler.__doc__ or "").partition("\n")[0]

    @property
    def description(self) -> str:
        """Return what follows the first line of the docstring."""
        return inspect.cleandoc(self.handler.__doc__ or "").partition("\n")[2].strip()

    @cached_property
    def takes_no_arguments(self) -> bool:
        """Return True if it needs nothing of the query string."""
        return not self.windowed and not any(each.required for each in self.parameters)

    def status_of(self, answer: object) -> int:
        """Return the HTTP status of ``answer``."""
        return PROPOSED if self.proposes and isinstance(answer, ProposalView) else self.status


class Operations:
    """Hold the operations of one subject, in the order in which they are declared."""

    def __init__(self, prefix: str = API) -> None:
        self._prefix = prefix
        self.declared: list[Operation] = []

    def get(
        self,
        path: str,
        policy: Policy,
        *,
        refusals: tuple[int, ...] = (),
        tabular: bool = False,
        lines: bool = False,
        noted: bool = False,
        documented: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Declare an operation that only reads.

        A ``tabular`` answer is also available as CSV, Arrow and Parquet.  An answer by ``lines`` is
        an iterator, whose items are sent as they come, one per line; if it is ``tabular``, also as
        CSV.  A ``noted`` answer is a
        checkpoint, which is also available as a signed note, and a ``documented`` one a report,
        which is also available as HTML and PDF.
        """
        more: dict[str, Any] = {"tabular": tabular, "lines": lines, "noted": noted}
        more["documented"] = documented
        return self._declare("GET", path, policy, refusals=refusals, **more)

    def post(
        self,
        path: str,
        policy: Policy,
        *,
        status: int = 201,
        refusals: tuple[int, ...] = (),
        large_body: bool = False,
        question: bool = False,
        look: Look | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declare an operation that creates something, or answers with ``status``.

        Each call of a ``question`` counts against what an analyst may try in a minute.  ``look``
        reads what the operation begins with, in the statement that confirms its caller.
        """
        more: dict[str, Any] = {"large_body": large_body, "question": question, "look": look}
        return self._declare("POST", path, policy, status=status, refusals=refusals, **more)

    def patch(
        self,
        path: str,
        policy: Policy,
        *,
        refusals: tuple[int, ...] = (),
        large_body: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Declare an operation that changes something."""
        return self._declare("PATCH", path, policy, refusals=refusals, large_body=large_body)

    def put(
        self, path: str, policy: Policy, *, refusals: tuple[int, ...] = ()
    ) -> Callable[[Handler], Handler]:
        """Declare an operation that puts something in the place of what is there."""
        return self._declare("PUT", path, policy, refusals=refusals)

    def delete(
        self, path: str, policy: Policy, *, refusals: tuple[int, ...] = ()
    ) -> Callable[[Handler], Handler]:
        """Declare an operation that removes something."""
        return self._declare("DELETE", path, policy, refusals=refusals)

    def _declare(
        self,
        verb: str,
        path: str,
        policy: Policy,
        *,
        status: int = 200,
        refusals: tuple[int, ...] = (),
        large_body: bool = False,
        tabular: bool = False,
        lines: bool = False,
        noted: bool = False,
        documented: bool = False,
        question: bool = False,
        look: Look | None = None,
    ) -> Callable[[Handler], Handler]:
        if not isinstance(policy, Policy):
            raise TypeError(f"{verb} {path} needs a policy, not {policy!r}")

        def declare(handler: Handler) -> Handler:
            body, parameters, windowed = _read_arguments(handler, path)
            answer, proposes = _read_answer(handler)
            self.declared.append(
                Operation(
                    verb=verb,
                    path=self._prefix + path,
                    policy=policy,
                    handler=handler,
                    status=status,
                    refusals=refusals,
                    large_body=large_body,
                    body=body,
                    answer=answer,
                    parameters=parameters,
                    windowed=windowed,
                    tabular=tabular,
                    lines=lines,
                    noted=noted,
                    documented=documented,
                    proposes=proposes,
                    question=question,
                    look=look,
                )
            )
            return handler

        return declare


def _read_arguments(
    handler: Callable[..., object], path: str
) -> tuple[TypeAdapter[Any] | None, tuple[QueryParameter, ...], bool]:
    hints = get_type_hints(handler, include_extras=True)
    body = None
    parameters = []
    windowed = False
    for name, argument in list(inspect.signature(handler).parameters.items())[1:]:
        hint = hints[name]
        if name == "request":
            body = TypeAdapter(hint)
        elif hint is Window:
            windowed = True
        elif f"{{{name}}}" in path:
            if hint is not str:
                raise TypeError(f"{name} in {path} is a string, not {hint!r}")
        else:
            required = argument.default is inspect.Parameter.empty
            parameters.append(_parameter(name, hint, path, required=required))
    return body, tuple(parameters), windowed


def _read_answer(handler: Callable[..., object]) -> tuple[TypeAdapter[Any], bool]:
    """Return the type of the answer, and whether it may be a proposal instead."""
    answered = get_type_hints(handler, include_extras=True)["return"]
    parts = get_args(answered)
    proposes = get_origin(answered) is UnionType and ProposalView in parts
    if proposes:
        answered = Union[tuple(part for part in parts if part is not ProposalView)]  # noqa: UP007 # a variable number of parts
    if get_origin(answered) is Iterator:
        answered = get_args(answered)[0]  # what each line is
    # A list around it, since pydantic takes a configuration for lists but not for dataclasses.
    listed: Any = GenericAlias(list, answered)
    answer: TypeAdapter[Any] = TypeAdapter(listed, config=_ANSWERS)
    return answer, proposes


def _parameter(name: str, hint: Any, path: str, *, required: bool) -> QueryParameter:
    marks = [mark for mark in get_args(hint) if isinstance(mark, Parameter)]
    if get_origin(hint) is not Annotated or len(marks) != 1:
        raise TypeError(f"{name} of {path} must be described by exactly one Parameter")
    return QueryParameter(
        marks[0].called or name, marks[0].sentence, TypeAdapter(hint), required, name
    )
