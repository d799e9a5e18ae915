"""Represent a question: lazy until it is previewed, registered, requested or released."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from penstock_client.errors import (
    Conflict,
    Forbidden,
    InvalidArgument,
    InvalidInput,
    NotRegistered,
)
from penstock_client.figures import printable
from penstock_client.preview import Preview, as_json
from penstock_client.queries import Query
from penstock_client.questions.asker import Asker
from penstock_client.questions.cost import Cost
from penstock_client.questions.requests import Request
from penstock_client.questions.result import DummyResult, Result, result_of
from penstock_client.questions.select_list import outputs_of
from penstock_client.questions.terms import Terms
from penstock_client.release import Release
from penstock_client.tables.aggregates import Output

NAME_TAKEN = "NAME_TAKEN"
NOMINAL: dict[str, object] = {"mechanism": "gaussian", "share": 0.01}
"""The terms under which the server is asked for the SQL of a question without a level."""

ONCE = {"max_groups": 1, "max_rows_per_group": 1}
"""The contribution for the same, of a question without one; SQL does not say it."""

ADVICE = "You may send the question to the admins: request(purpose=...)."
"""What is said to those who may not register."""


class Question:
    """Represent a statistic that may not be registered yet.

    ``data`` is what it asks, as the body of ``POST /queries`` has it: ``sql``, or the data half of
    a spec.  Building it sends nothing.  If the same statistic is registered already, under any
    name, every method leads there, and nothing is charged.
    """

    def __init__(
        self,
        session: Asker,
        data: Mapping[str, object],
        terms: Terms,
        outputs: Sequence[Output] | None = None,
    ) -> None:
        terms.require_valid()
        self._session = session
        self._outputs = outputs
        self._query: str | None = None
        self._body: dict[str, object] | None = None
        self.data = as_json(data)
        self.terms = terms

    def _lines(self) -> Sequence[str]:
        """Return the question over several lines, a part of a spec on each."""
        text = self.data.get("sql")
        if isinstance(text, str):
            return text.splitlines()
        parts = ((name, json.dumps(part, ensure_ascii=False)) for name, part in self.data.items())
        return [f"{name}: {part}" for name, part in parts]

    def __repr__(self) -> str:
        return f"<Question: {self._text()}>"

    def at(
        self,
        *,
        name: str | None = None,
        epsilon: float | None = None,
        share: float | None = None,
        levels: Mapping[str, object] | None = None,
        mechanism: str | None = None,
        contribution: Mapping[str, int] | None = None,
    ) -> "Question":
        """Return the same question on other terms, as ``Client.sql`` takes them.

        Raises ``InvalidArgument`` for terms that cannot be.
        """
        terms = self.terms.changed(
            name=name,
            epsilon=epsilon,
            share=share,
            levels=levels,
            mechanism=mechanism,
            contribution=contribution,
        )
        return Question(self._session, self.data, terms, self._outputs)

    def spec(self) -> dict[str, object]:
        """Return what is sent to the server: the question, its name and its terms.

        Raises ``InvalidArgument`` without a level.
        """
        if self._body is None:
            terms = self.terms.body(self._session.me())
            self._body = {"name": self.terms.name or self._automatic_name(), **self.data, **terms}
        return dict(self._body)

    def sql(self) -> str:
        """Return the question as SQL, as the server writes it.

        Raises ``InvalidInput`` for a question that is not valid.
        """
        terms: dict[str, object] = {**NOMINAL, "name": self._automatic_name()}
        if self.terms.contribution:
            terms["contribution"] = dict(self.terms.contribution)
        try:
            preview, name = self._looked_up({**self.data, **terms})
        except InvalidInput as error:
            if not all(field.pointer.startswith("/contribution") for field in error.errors):
                raise
            terms["contribution"] = ONCE
            preview, name = self._looked_up({**self.data, **terms})
        answer = self._session.query(name).answer if preview is None else preview.answer
        text = answer.get("spec_sql")
        if not isinstance(text, str):
            raise InvalidArgument("SQL has no words for this question; data has it as a spec.")
        return text

    def preview(self) -> Cost:
        """Return the charge and the margin of error by tier, and what is left; change nothing.

        Raises ``InvalidInput`` for a question that is not valid.
        """
        preview, name = self._looked_up()
        if preview is None:
            preview = self._session.preview(name)
        dataset = str(preview.answer.get("dataset"))
        registered = None if self._query is None else name
        return Cost(preview, self._session.budget(dataset), registered, self._text())

    def dummy(self, rows: int = 100, seed: int = 0) -> DummyResult:
        """Return the exact answer on made-up rows of the dataset, the same for the same ``seed``.

        Nothing is charged, and the data are not read.  Raises ``InvalidInput`` for a question that
        is not valid.
        """
        terms = {**NOMINAL, "name": self._automatic_name()}
        if self.terms.contribution:
            terms["contribution"] = dict(self.terms.contribution)
        body = {"query": {**self.data, **terms}, "rows": int(rows), "seed": int(seed)}
        return DummyResult.read(self._session.answered_on_dummy(body), self._named())

    def register(self) -> Query:
        """Register the question, which is charged, unless its statistic is registered already.

        Raises ``Forbidden`` for those who may only request it, and ``BudgetExhausted``.
        """
        _, name = self._looked_up()
        if self._query is not None:
            return self._session.query(name)
        try:
            query = self._session.register(self.spec())
        except Forbidden as error:
            raise _advised(error) from error
        except Conflict as error:
            name = _twin(error) or ""
            if not name:
                raise
            query = self._session.query(name)
        self._query = query.name
        return query

    def request(self, purpose: str) -> Request:
        """Send the question to the admins, who see its preview and register or decline it.

        ``purpose`` says what it is for.  Raises ``Conflict``, which names the query, if the
        statistic is registered already: release it, at no charge.
        """
        if not purpose.strip():
            raise InvalidArgument("Say what the question is for: request(purpose=...).")
        self._looked_up()
        if self._query is not None:
            raise NotNeeded(self._query)
        return self._session.request(self.spec(), purpose)

    def release(self, **target: Any) -> Release:
        """Return the release of the question, at the caller's clearance or at a noisier level.

        ``target`` is as in ``Client.release``.  Raises ``NotRegistered`` if nobody has registered
        the statistic.
        """
        _, name = self._looked_up()
        if self._query is None:
            raise NotRegistered(self._text())
        return self._session.release(name, **target)

    def result(self, **target: Any) -> Result:
        """Register the question, unless it is registered, release it, and return a table.

        Raises as ``register`` and ``release`` do, and ``InvalidArgument`` for those who may read
        no releases, before anything is charged.
        """
        roles = self._session.me().roles
        if "analyst" not in roles:
            raise InvalidArgument(
                f"Results are for analysts, and your role is {', '.join(roles) or 'none'};"
                " register() registers the question for them."
            )
        query = self.register()
        release = self._session.release(query.name, **target)
        return result_of(query, release, self._named())

    def _looked_up(self, body: Mapping[str, object] | None = None) -> tuple[Preview | None, str]:
        """Return the preview, and the name of the question, or of the query that it equals.

        The preview is None for a query that is registered.  A name that another query has, and that
        was not chosen by the caller, is replaced.
        """
        if self._query is not None:
            return None, self._query
        sent = dict(self.spec() if body is None else body)
        taken: Conflict | None = None
        for _ in range(2):
            try:
                preview = self._session.preview(sent)
            except Conflict as error:
                twin = _twin(error)
                if twin is not None:
                    self._query = twin
                    return None, twin
                if error.code != NAME_TAKEN or taken is not None:
                    raise
                taken = error
                sent["name"] = f"{self._automatic_name()}-{secrets.token_hex(4)}"
            else:
                if taken is not None and self.terms.name is not None and body is None:
                    raise taken
                if body is None:
                    self._body = sent
                return preview, str(sent["name"])
        raise AssertionError("a loop that returns or raises at its second turn")

    def _named(self) -> Sequence[Output] | None:
        """Return the statistics with the names that the question gives them."""
        if self._outputs is not None:
            return self._outputs
        return outputs_of(str(self.data.get("sql", "")))

    def _automatic_name(self) -> str:
        """Return a name that follows from the question, so that a repeat finds it."""
        terms = [self.terms.mechanism, dict(self.terms.contribution or {})]
        text = json.dumps([self.data, terms], sort_keys=True)
        return f"question-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def _text(self) -> str:
        text = self.data.get("sql")
        return text if isinstance(text, str) else json.dumps(self.data, ensure_ascii=False)

    def _repr_html_(self) -> str:
        return (
            f"<div><pre>{escape('<br>'.join(map(printable, self._lines())))}</pre>"
            "<p><code>.preview()</code> shows what it would cost, and what is left.</p></div>"
        ).replace("&lt;br&gt;", "\n")


class NotNeeded(Conflict):
    """Report a request for a statistic that is registered already, as the query ``query``."""

    def __init__(self, query: str) -> None:
        detail = (
            f"This statistic is registered already, as query {query!r}: release it, at no charge."
        )
        super().__init__(409, "CONFLICT", "Nothing to request", detail, data={"query": query})


def _twin(error: Conflict) -> str | None:
    """Return the name of the registered query with the same statistic, if that is the conflict."""
    query = error.data.get("query")
    return query if error.code == "CONFLICT" and isinstance(query, str) else None


def _advised(error: Forbidden) -> Forbidden:
    """Return the error with what to do instead."""
    return type(error)(
        error.status,
        error.code,
        error.title,
        f"{error.detail} {ADVICE}",
        error.errors,
        error.request_id,
        error.data,
        error.retry_after,
    )
