"""Test the list of one's own questions: registered and requested, the newest first."""

from dataclasses import replace
from datetime import timedelta

from tests.web.service_views import AT

from penstock.services.queries.sql.own_questions import OwnQuestionView
from penstock.services.schemas.requests.views import RequestView
from penstock.web.presenters.pages.own_questions import OwnQuestion, merged

REGISTERED = OwnQuestionView("counts", "sites", "active", AT)
REQUESTED = RequestView(
    id="36c2ca63",
    state="open",
    query=None,
    name="sums",
    dataset="loans",
    dataset_version=1,
    purpose="The report",
    spec={},
    requested_by="ian",
    requested_at=AT + timedelta(hours=1),
    comments=[],
    decided_by=None,
    decided_at=None,
    askers=[],
    registered_as=None,
    problem=None,
    preview=None,
)


def test_questions_are_listed_with_their_states_the_newest_first() -> None:
    later = replace(REQUESTED, state="approved", query="totals", requested_at=AT - timedelta(1))
    assert merged([REGISTERED], [REQUESTED, later]) == [
        OwnQuestion("sums", "loans", "requested, open", None, "36c2ca63", AT + timedelta(hours=1)),
        OwnQuestion("counts", "sites", "registered, active", "counts", None, AT),
        OwnQuestion(
            "sums", "loans", "requested, approved", "totals", "36c2ca63", AT - timedelta(1)
        ),
    ]


def test_what_was_never_stored_is_not_listed() -> None:
    assert merged([], [replace(REQUESTED, id=None, requested_at=None)]) == []
