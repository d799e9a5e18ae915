"""Define the tables of jobs, which users can leave and return to, and of schedules of jobs."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Numbered,
    Signed,
    check,
    number_of,
)
from penstock.persistence.tables.people import User


class Work(Signed, table=True):
    """Hold one job of one user, and its progress.

    ``key`` is the form's key, ``request`` a keyed hash of the request, and ``fields`` the form as
    it was typed, so that a refusal loses nothing.  ``problem`` is a refusal as JSON, ``result`` the
    name of its result.  ``host`` is the machine that worked on it last, in its ``attempt``;
    ``beat_at`` is its last heartbeat.
    """

    __tablename__ = "work"
    __table_args__ = (
        UniqueConstraint("public_id"),
        UniqueConstraint("user_id", "key"),
        check("public_id", "length(public_id) >= 1"),
        check("key", "length(key) BETWEEN 1 AND 255"),
        check("request", "length(request) = 32"),
        check("kind", "length(kind) BETWEEN 1 AND 64"),
        check("subject", "length(subject) <= 64"),
        check("fields", "length(fields) <= 262144"),
        check("state", "state IN ('running', 'done', 'failed')"),
        check("attempt", "attempt >= 1"),
        check("percent", "percent BETWEEN 0 AND 100"),
        check("problem", "(state = 'failed') = (problem IS NOT NULL)"),
        check("result", "(state = 'done') = (result IS NOT NULL)"),
        check("host", "length(host) >= 1"),
        check("finished_at", "(state = 'running') = (finished_at IS NULL)"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public_id: str
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger)
    key: str
    request: bytes
    kind: str
    subject: str
    fields: str
    state: str
    attempt: int
    stage: str
    percent: int | None = None
    problem: str | None = None
    result: str | None = None
    host: str
    started_at: datetime = Field(sa_type=Moment)
    beat_at: datetime = Field(sa_type=Moment)
    finished_at: datetime | None = Field(default=None, sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment, index=True)
    mac: bytes | None = None


class Schedule(Numbered, table=True):
    """Hold what is registered again and again by a timetable, and who switched it on.

    ``spec`` is canonical JSON.  ``next_at`` is the time of the next occurrence, null while it is
    off; ``reason`` says why it is off, if nobody switched it off.
    """

    __tablename__ = "schedule"
    __table_args__ = (
        UniqueConstraint("folded"),
        check("name", "length(name) BETWEEN 1 AND 64"),
        check("folded", "length(folded) >= 1"),
        check("spec", "length(spec) <= 262144"),
        check("on", "next_at IS NULL OR reason IS NULL"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    folded: str
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger)
    spec: str
    next_at: datetime | None = Field(default=None, sa_type=Moment, index=True)
    reason: str | None = None
    created_at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Occurrence(Signed, table=True):
    """Hold one occurrence of a schedule, which is carried out once.

    ``version`` is that of the dataset which it opened; ``problem`` says why it was refused or
    skipped.
    """

    __tablename__ = "occurrence"
    __table_args__ = (
        UniqueConstraint("schedule_id", "due_at"),
        check("state", "state IN ('pending', 'done', 'refused', 'skipped')"),
        check("problem", "(state IN ('refused', 'skipped')) = (problem IS NOT NULL)"),
        check("version", "version >= 1"),
        check("finished_at", "(state = 'pending') = (finished_at IS NULL)"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    schedule_id: int = Field(foreign_key=number_of(Schedule), sa_type=BigInteger)
    due_at: datetime = Field(sa_type=Moment)
    state: str
    version: int | None = None
    problem: str | None = None
    finished_at: datetime | None = Field(default=None, sa_type=Moment)
    mac: bytes | None = None
