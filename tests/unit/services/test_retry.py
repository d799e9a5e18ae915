"""Test that what the database drops in the middle is run again, and only that."""

import contextlib
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, event
from sqlmodel import Session, select
from tests.databases.homes import PATIENCE
from tests.unit.worlds import World

from penstock.errors import DatabaseUnavailable, Interrupted, PenstockError
from penstock.persistence.tables import Grant, Leaf, Release
from penstock.services.releases import releases
from penstock.services.retry import ATTEMPTS, again, retried


class Failing:
    """Fail with one error after the other, and then answer."""

    def __init__(self, *errors: PenstockError) -> None:
        self.errors = list(errors)
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        return "an answer"


def test_what_was_interrupted_is_run_anew() -> None:
    use_case = Failing(Interrupted("lost"), Interrupted("lost", uncertain=True))
    assert again(use_case) == "an answer"
    assert use_case.runs == 3


def test_it_is_given_up_in_the_end() -> None:
    use_case = Failing(*[Interrupted("lost") for _ in range(10)])
    with pytest.raises(Interrupted):
        again(use_case)
    assert use_case.runs == ATTEMPTS


def test_nothing_else_is_run_anew() -> None:
    use_case = Failing(DatabaseUnavailable("locked"))
    with pytest.raises(DatabaseUnavailable, match="locked"):
        again(use_case)
    assert use_case.runs == 1


def test_a_retried_function_passes_its_arguments_on_each_time() -> None:
    calls: list[tuple[int, str]] = []

    @retried
    def use_case(number: int, *, name: str) -> str:
        calls.append((number, name))
        if len(calls) < ATTEMPTS:
            raise Interrupted("lost")
        return f"{name} {number}"

    assert use_case(7, name="visits") == "visits 7"
    assert calls == [(7, "visits")] * ATTEMPTS


def rows(world: World) -> tuple[int, int, int]:
    """Return how many releases, hand-outs and leaves of hand-outs there are."""
    with world.server.database.read() as session:
        return (
            len(session.exec(select(Release)).all()),
            len(session.exec(select(Grant)).all()),
            len(session.exec(select(Leaf).where(Leaf.kind == "release")).all()),
        )


def close(connection: Connection) -> None:
    """Close the connection, as if the network had cut it."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.close()


def close_once_stored(connection: Connection) -> None:
    """Close the connection between the commit and the news of it, as if it had been cut."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute("COMMIT")
    driver.close()


@pytest.mark.only("postgresql")
@pytest.mark.parametrize("cut", [close, close_once_stored])
def test_a_release_that_is_cut_off_at_its_commit_is_drawn_once(
    visits: World, cut: Callable[[Connection], None]
) -> None:
    before = rows(visits)
    engine = visits.server.database._engines.beside
    event.listen(engine, "commit", cut, once=True)
    answer = visits.ask("pia")
    assert rows(visits) == (before[0] + 1, before[1] + 1, before[2] + 1)
    repeat = visits.ask("pia")
    assert repeat.view.id == answer.view.id
    assert repeat.view.values.tolist() == answer.view.values.tolist()


@pytest.mark.only("postgresql")
@pytest.mark.parametrize("step", ["read_under_lock", "_stored_or_drawn", "_hand_out"])
def test_a_release_that_is_cut_off_in_the_middle_is_drawn_once(
    visits: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = rows(visits)
    product = getattr(releases, step)
    cuts = iter([True])

    def cut(session: Session, *arguments: object) -> object:
        result = product(session, *arguments)
        if next(cuts, False):
            close(session.connection())
            session.connection().exec_driver_sql("SELECT 1")
        return result

    monkeypatch.setattr(releases, step, cut)
    visits.ask("pia")
    assert rows(visits) == (before[0] + 1, before[1] + 1, before[2] + 1)


@pytest.mark.only("postgresql")
def test_a_release_that_meets_a_deadlock_is_run_anew(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another holds the log and wants the query: whoever is chosen to give way, both are served."""
    product = releases._hand_out
    met = threading.Barrier(2, timeout=PATIENCE)
    patient = iter([True])

    def hand_out(session: Session, *arguments: object) -> object:
        if next(patient, False):
            met.wait()
        return product(session, *arguments)  # type: ignore[arg-type]  # passed through

    def meet() -> None:
        def act() -> None:
            with visits.server.database.write_beside() as session:
                connection = session.connection()
                visits.server.database._dialect.lock_log(connection)
                met.wait()
                connection.exec_driver_sql("SELECT 1 FROM query FOR UPDATE")

        with contextlib.suppress(Interrupted):
            act()

    monkeypatch.setattr(releases, "_hand_out", hand_out)
    other = threading.Thread(target=meet)
    other.start()
    answer = visits.ask("pia")
    other.join()
    assert visits.ask("pia").view.id == answer.view.id


@pytest.mark.only("postgresql")
def test_a_server_that_stays_away_is_told(visits: World, monkeypatch: pytest.MonkeyPatch) -> None:
    product = releases._hand_out

    def cut(session: Session, *arguments: object) -> object:
        result = product(session, *arguments)  # type: ignore[arg-type]  # passed through
        close(session.connection())
        return result

    before = rows(visits)
    monkeypatch.setattr(releases, "_hand_out", cut)
    with pytest.raises(Interrupted):
        visits.ask("pia")
    assert rows(visits) == before
