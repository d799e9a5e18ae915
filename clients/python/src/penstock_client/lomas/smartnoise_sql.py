"""Answer the SQL of SmartNoise, with lomas's method names, by this server's releases."""

from collections.abc import Mapping

from penstock_client._show.frames import library
from penstock_client.errors import InvalidArgument, InvalidInput
from penstock_client.lomas.answers import Answer
from penstock_client.models import Dataset
from penstock_client.questions.asker import Asker
from penstock_client.questions.question import Question
from penstock_client.questions.select_list import renamed_table
from penstock_client.questions.terms import Terms

DUMMY_ROWS = 100
DUMMY_SEED = 42
TABLE = "df"
"""The name that lomas gives to every table."""

LIBRARY = "smartnoise_sql"
MECHANISMS = {"gaussian", "laplace"}


class SmartnoiseSQL:
    """Answer ``SELECT`` statements from the table ``df``.

    A statement is registered as a query, unless its statistic is registered already, and released
    at the caller's clearance.  Values are unbiased and never changed afterwards, so a noisy count
    may be below 0, with ``postprocess`` or without.
    """

    def __init__(
        self, session: Asker, dataset: Dataset, contribution: Mapping[str, int] | None
    ) -> None:
        self._session = session
        self._dataset = dataset
        self._contribution = contribution

    def cost(
        self, query: str, epsilon: float, delta: float, mechanisms: Mapping[str, str] | None = None
    ) -> Answer:
        """Return the ``epsilon`` and ``delta`` that the query would cost at the caller's tier.

        They are 0 if its statistic is registered already.  Nothing is charged.
        """
        question = self._question(query, epsilon, delta, mechanisms)
        try:
            cost = question.preview()
        except InvalidInput as error:
            raise _advised(error) from error
        if cost.registered is not None:
            return Answer(epsilon=0.0, delta=0.0)
        own = cost.tiers[-1].guarantee
        return Answer(epsilon=own.epsilon, delta=own.delta)

    def query(
        self,
        query: str,
        epsilon: float,
        delta: float,
        mechanisms: Mapping[str, str] | None = None,
        postprocess: bool = True,
        dummy: bool = False,
        nb_rows: int = DUMMY_ROWS,
        seed: int = DUMMY_SEED,
    ) -> Answer:
        """Return the answer: ``result.df`` has a column for each one that the query selects.

        With ``dummy`` it is exact, and of ``nb_rows`` made-up rows, at no charge.  Raises
        ``Forbidden`` for those who may not register queries, with what to do, and
        ``InvalidInput`` for SQL that is not in the subset, with the place and the reason.
        """
        del postprocess
        frame = library("pandas", "smartnoise_sql.query").DataFrame
        if dummy:
            question = self._question(query, epsilon, None, mechanisms)
            spent = {"epsilon": epsilon, "delta": delta}
            return self._answer(spent, frame(question.dummy(rows=nb_rows, seed=seed).wide()))
        question = self._question(query, epsilon, delta, mechanisms)
        try:
            result = question.result()
        except InvalidInput as error:
            raise _advised(error) from error
        guarantee = result.release.guarantee
        spent = {"epsilon": guarantee.epsilon or 0.0, "delta": guarantee.delta}
        return self._answer(spent, frame(result.wide()))

    def _question(
        self,
        query: str,
        epsilon: float,
        delta: float | None,
        mechanisms: Mapping[str, str] | None,
    ) -> Question:
        """Return the question; ``delta`` is None where none is spent."""
        own = self._dataset.delta or 0.0
        if delta is not None and delta < own:
            raise InvalidArgument(
                f"The guarantees of {self._dataset.name!r} are at its delta of {own:g}, which is"
                f" more than delta={delta:g}; give delta={own:g} or more."
            )
        terms = Terms(
            epsilon=epsilon,
            mechanism=self._mechanism(mechanisms or {}),
            contribution=self._contribution,
        )
        sql = renamed_table(query, TABLE, self._dataset.name)
        return Question(self._session, {"sql": sql}, terms)

    def _mechanism(self, mechanisms: Mapping[str, str]) -> str:
        """Return the noise of a query: one for all its numbers."""
        named = {name.lower() for name in mechanisms.values()}
        if not named:
            return "gaussian" if self._dataset.delta else "laplace"
        if len(named) > 1 or not named <= MECHANISMS:
            raise InvalidArgument(
                "All numbers of one query have the same noise, gaussian or laplace, not"
                f" {', '.join(sorted(named))}."
            )
        return named.pop()

    def _answer(self, spent: Mapping[str, float], frame: object) -> Answer:
        return Answer(
            **spent,
            requested_by=self._session.me().name,
            result=Answer(res_type=LIBRARY, df=frame),
            # The names of older versions of lomas.
            query_response=frame,
            spent_epsilon=spent["epsilon"],
            spent_delta=spent["delta"],
        )


def _advised(error: InvalidInput) -> InvalidInput:
    """Return the error; one about contributions says where a notebook gives them."""
    if not any(field.pointer.startswith("/contribution") for field in error.errors):
        return error
    advice = (
        ' Rows are people\'s here: Client(..., contribution={"max_groups": 1,'
        ' "max_rows_per_group": 1}) says how much of one person counts.'
    )
    return InvalidInput(
        error.status,
        error.code,
        error.title,
        error.detail + advice,
        error.errors,
        error.request_id,
        error.data,
        error.retry_after,
    )
