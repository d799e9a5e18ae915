"""Test what the tables refuse by themselves, whoever writes."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest
from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel, col, select
from tests.unit.persistence.tables.samples import NOON, undone

from penstock.persistence import Database, duplicate, tables

MakeRow = Callable[..., SQLModel]

LONG = "x" * 65

pytestmark = pytest.mark.each_database

# Name of the constraint without its prefix: what breaks it.
BROKEN: dict[str, list[dict[str, object]]] = {
    "edition_id": [{"id": 2}],
    "edition_value": [{"value": ""}],
    "tier_name": [{"name": ""}, {"name": LONG}],
    "tier_folded": [{"folded": ""}],
    "tier_rank": [{"rank": 10**9 + 1}, {"rank": -(10**9) - 1}],
    "user_name": [{"name": ""}, {"name": LONG}],
    "user_folded": [{"folded": ""}],
    "user_a_role": [{"analyst": False}],
    "clearance_version": [{"version": 0}],
    "clearance_by": [{"by": ""}],
    "token_prefix": [{"prefix": ""}],
    "token_digest": [{"digest": bytes(31)}, {"digest": bytes(33)}],
    "dataset_name": [{"name": ""}, {"name": LONG}],
    "dataset_folded": [{"folded": ""}],
    "dataset_version": [{"version": 0}],
    "dataset_neighboring": [{"neighboring": "similar"}],
    "dataset_delta": [{"delta": -1e-9}, {"delta": 1.0}],
    "dataset_by": [{"by": ""}],
    "former_declaration_number": [{"number": 0}],
    "former_declaration_by": [{"by": ""}],
    "tier_budget_version": [{"version": 0}],
    "tier_budget_epsilon": [{"epsilon": 0.0}, {"epsilon": -1.0}],
    "tier_budget_delta": [{"delta": -1e-9}, {"delta": 1.0}],
    "tier_budget_order": [{"order": 1.0}],
    "tier_budget_limit_loss": [{"limit_loss": 0}],
    "tier_budget_limit_failure": [{"limit_failure": -1}],
    "tier_budget_by": [{"by": ""}],
    "query_name": [{"name": ""}, {"name": LONG}],
    "query_folded": [{"folded": ""}],
    "query_mechanism": [{"mechanism": ""}],
    "query_calibration": [{"calibration": 0}],
    "query_dimension": [{"dimension": 0}],
    "query_ladder_doubling": [{"ladder_doubling": 0}],
    "query_ladder_last": [{"ladder_last": -1, "ceiling": 0}],
    "query_ceiling": [{"ceiling": -1}, {"ceiling": 9001}],
    "query_max_levels": [{"max_levels": 0}],
    "query_status": [{"status": "open"}],
    "query_seq": [{"seq": -2, "status": "pending"}],
    "query_anchored": [{"seq": -1}],
    "query_wrapped_dek": [{"wrapped_dek": b""}],
    "query_by": [{"by": ""}],
    "idempotency_key": [{"key": ""}, {"key": "k" * 256}],
    "idempotency_request": [{"request": bytes(31)}],
    "idempotency_status": [{"status": 404, "answer": b"{}"}],
    "idempotency_answered": [{"status": 201}, {"answer": b"{}"}],
    "group_mapping_issuer": [{"issuer": ""}],
    "group_mapping_group_name": [{"group_name": ""}, {"group_name": "g" * 257}],
    "group_mapping_version": [{"version": 0}],
    "group_mapping_by": [{"by": ""}],
    "invitation_prefix": [{"prefix": ""}],
    "invitation_digest": [{"digest": bytes(31)}],
    "invitation_name": [{"name": ""}, {"name": LONG}],
    "invitation_folded": [{"folded": ""}],
    "invitation_roles": [{"roles": ""}],
    "invitation_by": [{"by": ""}],
    "invitation_expires_at": [{"expires_at": datetime(2026, 1, 1, tzinfo=UTC)}],
    "invitation_accepted_at": [
        dict.fromkeys(("accepted_at", "revoked_at"), datetime(2026, 1, 1, tzinfo=UTC))
    ],
    "wording_subject": [{"query_id": None}],
    "wording_version": [{"version": 0}],
    "wording_by": [{"by": ""}],
    "provider_account_issuer": [{"issuer": ""}],
    "provider_account_subject": [{"subject": ""}, {"subject": "s" * 256}],
    "used_once_digest": [{"digest": bytes(31)}],
    "web_session_digest": [{"digest": bytes(31)}],
    "web_session_scopes": [{"scopes": "analyst"}, {"token_id": None}],
    "web_session_expires_at": [{"expires_at": datetime(2026, 1, 1, tzinfo=UTC)}],
    "work_public_id": [{"public_id": ""}],
    "work_key": [{"key": ""}, {"key": "k" * 256}],
    "work_request": [{"request": bytes(31)}],
    "work_kind": [{"kind": ""}, {"kind": "k" * 65}],
    "work_subject": [{"subject": "s" * 65}],
    "work_fields": [{"fields": "f" * 262_145}],
    "work_state": [{"state": "waiting", "finished_at": NOON}],
    "work_attempt": [{"attempt": 0}],
    "work_percent": [{"percent": -1}, {"percent": 101}],
    "work_problem": [{"problem": "{}"}, {"state": "failed", "finished_at": NOON}],
    "work_result": [{"result": "x"}, {"state": "done", "finished_at": NOON}],
    "work_host": [{"host": ""}],
    "work_finished_at": [{"finished_at": NOON}, {"state": "done", "result": "x"}],
    "schedule_name": [{"name": ""}, {"name": LONG}],
    "schedule_folded": [{"folded": ""}],
    "schedule_spec": [{"spec": "s" * 262_145}],
    "schedule_on": [{"reason": "no budget"}],
    "occurrence_state": [{"state": "late", "finished_at": NOON}],
    "occurrence_problem": [
        {"problem": "why"},
        {"state": "refused", "finished_at": NOON},
        {"state": "done", "finished_at": NOON, "problem": "why"},
    ],
    "occurrence_version": [{"version": 0}],
    "occurrence_finished_at": [{"finished_at": NOON}, {"state": "done"}],
    "query_level_version": [{"version": 0}],
    "query_level_rung": [{"rung": -1}],
    "query_level_by": [{"by": ""}],
    "release_public_id": [{"public_id": ""}],
    "release_rung": [{"rung": -1}],
    "release_seq": [{"seq": -1}],
    "release_accurate_rung": [{"accurate_rung": 5000}, {"accurate_rung": -1}],
    "release_noisy_rung": [{"noisy_rung": 5000}],
    "release_ciphertext": [{"ciphertext": b""}],
    "leaf_index": [{"index": -1}],
    "leaf_bytes": [{"bytes": b""}],
    "leaf_hash": [{"hash": bytes(31)}],
    "leaf_kind": [{"kind": ""}],
    "leaf_actor": [{"actor": ""}],
    "spent_floor_loss": [{"loss": -1}],
    "spent_floor_failure": [{"failure": -1}],
    "tree_node_level": [{"level": 0}],
    "tree_node_position": [{"position": -1}],
    "tree_node_hash": [{"hash": bytes(31)}],
    "log_key_public": [{"public": bytes(31)}],
    "log_key_wrapped": [{"wrapped": b""}],
    "checkpoint_size": [{"size": 0}],
    "checkpoint_root": [{"root": bytes(31)}],
    "checkpoint_note": [{"note": ""}],
    "cosignature_name": [{"name": ""}],
    "cosignature_public": [{"public": bytes(31)}],
    "cosignature_signed_at": [{"signed_at": -1}],
    "cosignature_signature": [{"signature": bytes(63)}],
    "secret_check_name": [{"name": ""}],
    "secret_check_digest": [{"digest": bytes(31)}, {"digest": bytes(33)}],
    "proposal_public_id": [{"public_id": ""}],
    "proposal_act": [{"act": ""}],
    "proposal_by": [{"by": ""}],
    "proposal_expires_at": [{"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}],
    "decision_outcome": [{"outcome": "forgotten"}],
    "decision_by": [{"by": ""}],
    "decision_another": [{"by": "root"}],
    "decision_reason": [{"reason": "why"}, {"outcome": "failed"}],
    "histogram_state_seq": [{"seq": -1}],
    "histogram_state_ciphertext": [{"ciphertext": b""}],
    "stream_state_step": [{"step": -1}],
    "stream_state_ciphertext": [{"ciphertext": b""}],
    "stream_output_rung": [{"rung": -1}],
    "stream_output_steps": [{"first": 0}, {"last": 0}],
    "stream_output_ciphertext": [{"ciphertext": b""}],
    "fed_element_step": [{"step": 0}],
    "allowance_version": [{"version": 0}],
    "allowance_epsilon": [{"epsilon": 0.0}, {"epsilon": -1.0}],
    "allowance_delta": [{"delta": -1e-9}, {"delta": 1.0}],
    "allowance_order": [{"order": 1.0}],
    "allowance_limit_loss": [{"limit_loss": -1}],
    "allowance_limit_failure": [{"limit_failure": -1}],
    "allowance_spent_loss": [{"spent_loss": -1}],
    "allowance_spent_failure": [{"spent_failure": -1}],
    "allowance_by": [{"by": ""}],
    "allowance_charge_seq": [{"seq": -1}],
    "allowance_charge_rung": [{"rung": -1}],
    "allowance_charge_loss": [{"loss": -1}],
    "allowance_charge_failure": [{"failure": -1}],
    "allowance_charge_loss_total": [{"loss": 7, "loss_total": 6}],
    "allowance_charge_failure_total": [{"failure": 7, "failure_total": 6}],
    "request_canonical_hash": [{"canonical_hash": "0"}],
    "request_turn": [{"turn": 0}],
    "asker_public_id": [{"public_id": ""}],
    "asker_turn": [{"turn": 0}],
    "asker_spec": [{"spec": ""}, {"spec": "s" * 65_537}],
    "asker_purpose": [{"purpose": ""}, {"purpose": "p" * 2001}],
    "request_comment_by": [{"by": ""}],
    "request_comment_comment": [{"comment": ""}, {"comment": "c" * 2001}],
    "delivery_public_id": [{"public_id": ""}],
    "delivery_event": [{"event": ""}, {"event": "e" * 65}],
    "delivery_subject": [{"asker_id": None}, {"leaf_id": 1}],
    "log_reader_name": [{"name": ""}],
    "log_reader_next_leaf": [{"next_leaf": -1}],
    "delivery_state": [{"state": "lost", "finished_at": NOON}],
    "delivery_attempts": [{"attempts": -1}],
    "delivery_answer": [{"answer": "a" * 201}],
    "delivery_finished_at": [{"finished_at": NOON}, {"state": "delivered"}],
    "request_decision_outcome": [{"outcome": "open", "query_id": None, "spec": None}],
    "request_decision_by": [{"by": ""}],
    "request_decision_comment": [{"comment": ""}],
    "request_decision_query_id": [{"query_id": None}, {"outcome": "declined", "spec": None}],
    "request_decision_spec": [{"spec": None}, {"outcome": "declined", "query_id": None}],
    "charge_seq": [{"seq": -1}],
    "charge_rung": [{"rung": -1}],
    "charge_order": [{"order": 1.0}],
    "charge_loss_total": [{"loss": -5, "loss_total": -1}, {"loss": 7, "loss_total": 6}],
    "charge_failure_total": [
        {"failure": -5, "failure_total": -1},
        {"failure": 7, "failure_total": 6},
    ],
}

# Broken by the same row, and named instead where the checks go by the alphabet.
ALSO = {"query_ladder_last": "query_ceiling"}

# What makes a second row of a table differ from the first in everything that is unique.
SECOND: dict[str, dict[str, object]] = {
    "edition": {},
    "tier": {"folded": "second", "rank": 11},
    "user": {"folded": "second"},
    "clearance": {"version": 2},
    "token": {"prefix": "second"},
    "dataset": {"version": 2},
    "former_declaration": {"number": 2},
    "tier_budget": {"version": 2},
    "query": {"folded": "second", "canonical_hash": "01"},
    "query_level": {"version": 2},
    "release": {"public_id": "r1", "rung": 5000, "seq": 1},
    "leaf": {"index": 1},
    "grant": {"user_id": 2},
    "charge": {"seq": 1},
    "allowance": {"version": 2},
    "allowance_charge": {"seq": 1, "query_id": 2},
    "idempotency": {"key": "k2"},
    "group_mapping": {"version": 2},
    "invitation": {"prefix": "second"},
    "wording": {"version": 2},
    "provider_account": {"user_id": 2, "subject": "8"},
    "used_once": {"digest": bytes(31) + b"1"},
    "web_session": {"digest": bytes(31) + b"1"},
    "work": {"public_id": "w1", "key": "k2"},
    "schedule": {"folded": "second"},
    "occurrence": {"due_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "histogram_state": {"query_id": 2},
    "stream_state": {"query_id": 2},
    "stream_output": {"first": 2, "last": 5},
    "fed_element": {"query_id": 2},
    "secret_check": {"name": "values"},
    "spent_floor": {},
    "tree_node": {"position": 1},
    "log_key": {"public": bytes(31) + b"1"},
    "checkpoint": {"size": 2},
    "cosignature": {"public": bytes(31) + b"1"},
    "proposal": {"public_id": "p1"},
    "decision": {"proposal_id": 2},
    "request": {"turn": 2},
    "asker": {"public_id": "a1", "turn": 2},
    "withdrawal": {"asker_id": 2},
    "request_comment": {},
    "request_decision": {"request_id": 2},
    "delivery": {"public_id": "d1", "event": "request.decided"},
    "log_reader": {"name": "another"},
}

OF_A_LEAF: dict[str, object] = {"asker_id": None, "leaf_id": 1}
"""What makes a message one about a leaf."""


def table_of(constraint: str) -> str:
    return max(
        (name for name in SECOND if constraint.startswith(f"{name}_")),
        key=len,
    )


def test_every_check_is_tried() -> None:
    declared = {
        str(constraint.name).removeprefix("ck_")
        for table in tables.metadata.sorted_tables
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    assert declared == set(BROKEN)


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [(name, changes) for name, several in BROKEN.items() for changes in several],
)
def test_a_row_that_breaks_a_check_is_refused(
    shared: Database, row: MakeRow, constraint: str, changes: dict[str, object]
) -> None:
    table = table_of(constraint)
    named = rf'ck_({constraint}|{ALSO.get(constraint, constraint)})"?\n'
    with pytest.raises(IntegrityError, match=named), undone(shared) as session:
        session.add(row(table, **{**SECOND[table], **changes}))


@pytest.mark.parametrize("table", sorted(set(SECOND) - {"edition"}))
def test_a_second_row_that_differs_is_taken(shared: Database, row: MakeRow, table: str) -> None:
    with undone(shared) as session:
        parent = {
            "allowance_charge": "query",
            "decision": "proposal",
            "request_decision": "request",
            "withdrawal": "asker",
            "fed_element": "query",
            "grant": "user",
            "provider_account": "user",
            "histogram_state": "query",
            "stream_state": "query",
        }.get(table)
        if parent is not None:
            session.add(row(parent, id=2, **SECOND[parent]))
            session.flush()
        session.add(row(table, **SECOND[table]))


def uniques() -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for table in tables.metadata.sorted_tables:
        sets = [
            tuple(column.name for column in constraint.columns)
            for constraint in table.constraints
            if isinstance(constraint, UniqueConstraint)
        ]
        sets += [
            tuple(column.name for column in index.columns)
            for index in table.indexes
            if index.unique
        ]
        found += [(table.name, columns) for columns in sorted(sets)]
    return found


@pytest.mark.parametrize(("table", "columns"), uniques())
def test_what_is_unique_is_refused_twice(
    shared: Database,
    row: MakeRow,
    samples: Mapping[str, Mapping[str, object]],
    table: str,
    columns: tuple[str, ...],
) -> None:
    same = {column: samples[table].get(column) for column in columns}
    first = []
    if table == "leaf":
        same = {"index": 7}
        first = [row("leaf", index=7)]
    if columns == ("leaf_id",):
        same = OF_A_LEAF
        first = [row("delivery", public_id="d2", **OF_A_LEAF)]
    with pytest.raises(IntegrityError) as caught, undone(shared) as session:
        session.add_all([*first, row(table, **{**SECOND[table], **same})])
    assert duplicate(caught.value)


def test_the_uniques_on_which_privacy_rests_are_there() -> None:
    found = uniques()
    assert ("release", ("query_id", "rung")) in found
    assert ("release", ("query_id", "seq")) in found
    assert ("query", ("canonical_hash",)) in found
    assert ("grant", ("user_id", "release_id")) in found
    assert ("charge", ("dataset_id", "tier_id", "seq")) in found


def foreign_keys() -> list[tuple[str, str]]:
    return [
        (table.name, key.parent.name)
        for table in tables.metadata.sorted_tables
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name)
    ]


@pytest.mark.parametrize(("table", "column"), foreign_keys())
def test_a_reference_to_nothing_is_refused(
    shared: Database, row: MakeRow, table: str, column: str
) -> None:
    others = OF_A_LEAF if column == "leaf_id" else {}
    with (
        pytest.raises(IntegrityError, match=r"(?i)foreign key") as caught,
        undone(shared) as session,
    ):
        session.add(row(table, **{**SECOND[table], **others, column: 99}))
    assert not duplicate(caught.value)


def test_pushed_vectors_have_no_canonical_hash_and_do_not_collide(
    filled: Database, row: MakeRow
) -> None:
    with filled.write() as session:
        session.add(row("query", folded="a", canonical_hash=None))
        session.add(row("query", folded="b", canonical_hash=None))


def test_a_deleted_tier_frees_its_name_and_rank(filled: Database, row: MakeRow) -> None:
    with filled.write() as session:
        tier = session.get_one(tables.Tier, 1)
        tier.deleted_at = datetime(2026, 3, 2, tzinfo=UTC)
        session.flush()
        session.add(row("tier"))
    with filled.read() as session:
        alive = session.exec(select(tables.Tier).where(col(tables.Tier.deleted_at).is_(None))).one()
    assert alive.id == 2
