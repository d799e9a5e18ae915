"""Provide faults of the log, its witness, restores, and of what verification and messages tell."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

RESTORES: Final = "tests/unit/services/audit/test_restores.py"
WITNESS: Final = "tests/unit/transparency_log/witness/test_file_witness.py"
NONCES: Final = "tests/unit/transparency_log/test_leaves.py"
EVENTS: Final = "tests/unit/services/webhook/test_log_events.py"
READING: Final = "tests/unit/services/webhook/test_log_reading.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="witness-not-told",
        path="transparency_log/sequencer.py",
        before="self.witness.advance(sight)\n            self._witnessed = sight.size",
        after="self._witnessed = sight.size",
        wrong="what was handed out is not witnessed",
        tests=(WITNESS,),
    ),
    Mutant(
        name="witness-of-a-fork",
        path="transparency_log/sequencer.py",
        before="        if root == seen.root or seen.size == 0:\n",
        after="        if root is not None or seen.size == 0:\n",
        wrong="a database with other leaves in the place of those seen goes on drawing",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_a_fork_that_grew_as_long_is_told_by_its_root",
        ),
    ),
    Mutant(
        name="witness-without-accounts",
        path="transparency_log/sequencer.py",
        before="        if CHARGING.isdisjoint(kinds):\n",
        after="        if not CHARGING.isdisjoint(kinds):\n",
        wrong="what a change costs is not witnessed",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_the_budget_of_lost_queries_stays_spent",
            "tests/unit/services/audit/test_restores.py::test_whatever_the_witness_saw_spent_stays_spent",
        ),
    ),
    Mutant(
        name="witness-forgets-what-was-spent",
        path="transparency_log/sights.py",
        before="            accounts[name] = (max(before[0], loss), max(before[1], failure))\n",
        after="            accounts[name] = (loss, failure)\n",
        wrong="the witness lets an account have spent less than it saw before",
        tests=(
            "tests/unit/transparency_log/witness/test_file_witness.py::test_a_witness_is_never_moved_backward",
        ),
    ),
    Mutant(
        name="witness-of-anybody",
        path="transparency_log/sights.py",
        before="    if not isinstance(mac, str) or not any(\n",
        after="    if mac is False and not any(\n",
        wrong="whoever writes to the witness' folder lets an older database draw again",
        tests=(
            "tests/unit/transparency_log/test_sights.py::test_nobody_without_the_key_writes_a_sight",
        ),
    ),
    Mutant(
        name="witness-taken-over-at-any-time",
        path="services/operations/home.py",
        before="    if before is None or before >= sights.AUTHENTICATED_SINCE:\n",
        after="    if before is None:\n",
        wrong="an upgrade that changes nothing authenticates a witness that somebody made up",
        tests=(f"{WITNESS}::test_an_upgraded_home_takes_over_no_witness_of_an_earlier_version",),
    ),
    Mutant(
        name="suspension-ends-untold",
        path="transparency_log/sequencer.py",
        before="                self._untold = suspension.untold(session, seen)\n",
        after="                self._untold = seen.suspended_at or None\n",
        wrong="an older witness ends a suspension, and the log does not know",
        tests=("tests/unit/transparency_log/test_suspension.py",),
    ),
    Mutant(
        name="leaf-without-a-nonce",
        path="transparency_log/leaves.py",
        before='    fields["nonce"] = draw(NONCE_SIZE).hex()\n',
        after='    fields["nonce"] = bytes(NONCE_SIZE).hex()\n',
        wrong="what others were allowed is found from the hash of its leaf",
        tests=(f"{NONCES}::test_no_kind_of_leaf_is_found_from_its_hash",),
        row="V48",
    ),
    Mutant(
        name="levels-by-those-who-read-nothing",
        path="services/ledger/charges.py",
        before="dataset, query, rungs, names, now, exposure)\n",
        after="dataset, query, rungs, names, now, {})\n",
        wrong="only one leaf of a registration says what its actor had read",
        tests=(
            "tests/unit/services/access/test_admin_actions.py::test_every_leaf_of_a_registration_says_what_its_actor_had_read",
        ),
    ),
    Mutant(
        name="proof-of-anybodys-leaf",
        path="services/audit/proofs.py",
        before="        col(Leaf.user) == principal.name,\n",
        after="",
        wrong="readers collect the hashes of what others were given",
        tests=(f"{NONCES}::test_readers_have_their_own_receipts_proven_and_nothing_else",),
        row="V48",
    ),
    Mutant(
        name="witness-moved-backward",
        path="transparency_log/sights.py",
        before="        further = max(self, other, key=lambda candidate: candidate.size)\n",
        after="        further = other\n",
        wrong="the witness goes back to an older size",
        tests=(
            "tests/unit/transparency_log/witness/test_file_witness.py::test_a_witness_is_never_moved_backward",
        ),
    ),
    Mutant(
        name="witness-known-under-earlier-keys",
        path="transparency_log/witness/slots.py",
        before="        return known.get(record) if under == tuple(keys) else None\n",
        after="        return known.get(record)\n",
        wrong="a witness that was read before is trusted under keys that it is not signed with",
        tests=("tests/unit/transparency_log/witness/test_slots.py",),
    ),
    Mutant(
        name="write-while-suspended",
        path="persistence/database.py",
        before="            if watch is not None:\n                watch.begun(session)\n",
        after="",
        wrong="a database that was put back to an older state draws a second time",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_what_was_handed_out_is_served_and_nothing_is_drawn",
        ),
        row="V32",
    ),
    Mutant(
        name="restore-leaves-streams-drawing",
        path="services/audit/restores.py",
        before="queries = session.exec(select(Query).where(col(Query.frozen).is_(None))).all()",
        after="queries = session.exec(\n"
        "        select(Query).where(col(Query.frozen).is_(None), col(Query.structure).is_(None))\n"
        "    ).all()\n",
        wrong="streams go on drawing after a restore",
        tests=("tests/unit/services/streams/test_restored_streams.py",),
    ),
    Mutant(
        name="restore-acknowledged-alone",
        path="services/audit/restores.py",
        before="        require_second(server)\n",
        after="        server.sequencer.examine()\n",
        wrong="one admin alone goes on after a restore under the two-person rule",
        tests=("tests/unit/services/approvals/test_two_persons_restores.py",),
    ),
    Mutant(
        name="restore-gives-back",
        path="services/audit/restores.py",
        before="    floors, unknown = _floors(session, known, before)\n    lost",
        after="    floors, unknown = _floors(session, known, dict(known.accounts))\n    lost",
        wrong="after a restore accounts have what was spent since the backup once more",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_the_budget_of_lost_queries_stays_spent",
        ),
    ),
    Mutant(
        name="verified-without-the-witness",
        path="services/verification/verification.py",
        before="    if seen.size and roots.get(seen.size) != seen.root:\n",
        after="    if seen.size and roots.get(seen.size, seen.root) != seen.root:\n",
        wrong="a log that is shorter than the witness saw is called sound",
        tests=("tests/unit/services/audit/restoring/test_verified_restores.py",),
    ),
    Mutant(
        name="verified-without-columns",
        path="services/verification/verification.py",
        before='        return fields["at"] == leaves.timestamp(leaf.at) and all(\n',
        after='        return fields["at"] == leaves.timestamp(leaf.at) or all(\n',
        wrong="a leaf that says other than the columns beside it is called sound",
        tests=(
            "tests/unit/services/verification/test_verification.py::test_what_was_altered_is_found",
        ),
    ),
    Mutant(
        name="verified-without-hand-outs",
        path="services/verification/verification.py",
        before="        if key not in paired:\n",
        after="        if key not in paired and index is None:\n",
        wrong="a hand-out that was taken away is not missed",
        tests=(
            "tests/unit/services/verification/test_verification.py::test_what_was_altered_is_found",
        ),
        row="V33",
    ),
    Mutant(
        name="witness-read-after-the-database",
        path="services/verification/verification.py",
        before="problems += differences(session, seen)\n",
        after="problems += differences(session, server.sequencer.witness.seen())\n",
        wrong="what others charge during an audit is called a loss",
        tests=(
            "tests/unit/services/audit/test_log_race.py::test_what_others_charge_meanwhile_does_not_look_like_a_loss",
        ),
    ),
    Mutant(
        name="verified-without-sums",
        path="services/audit/logged_restores.py",
        before="        if row.seq != seq or start not in first:\n",
        after="        if row.seq != seq:\n",
        wrong="charges whose totals do not add up are called sound",
        tests=(
            "tests/unit/services/verification/test_verification.py::test_what_was_altered_is_found",
        ),
    ),
    Mutant(
        name="verified-with-unpaid-levels",
        path="services/noise/lossless_levels.py",
        before="any(finer <= rung for finer in charged)",
        after="any(finer >= rung for finer in charged)",
        wrong="a level that is paid for only in part is called sound",
        tests=("tests/unit/services/verification/test_verified_levels.py",),
    ),
    Mutant(
        name="rows-without-their-numbers",
        path="persistence/row_authentication.py",
        before='None if table in _defined(Numbered) else "id"}\n',
        after='"id"}\n',
        wrong="a row may take the number of another that others name",
        tests=(
            "tests/unit/persistence/test_row_authentication.py::test_rows_that_trade_their_numbers_are_refused",
        ),
        row="V11",
    ),
    Mutant(
        name="rows-of-any-table",
        path="persistence/row_authentication.py",
        before='    parts = [f"row 2\\x00{table}".encode()]\n',
        after='    parts = [b"row 2\\x00"]\n',
        wrong="rows of two tables with like columns may take each other's place",
        tests=(
            "tests/unit/persistence/test_row_authentication.py::test_the_same_columns_in_another_table_have_another_hmac",
        ),
    ),
    Mutant(
        name="row-known-without-its-hmac",
        path="persistence/statements/verified_rows.py",
        before="    return (table, *values, *map(type, values))\n",
        after="    return (table, *values[1:], *map(type, values))\n",
        wrong="whoever put a row under another HMAC is believed once the row was read",
        tests=(
            "tests/unit/persistence/test_row_authentication.py::test_a_row_that_was_read_before_is_refused_once_it_is_altered",
        ),
        row="V11",
    ),
    Mutant(
        name="row-known-under-earlier-keys",
        path="persistence/row_authentication.py",
        before="            kept = self._kept = (secrets, derived_keys, VerifiedRows())\n",
        after="            kept = self._kept = (secrets, derived_keys, kept[2])\n",
        wrong="a row under a key that was dropped is believed if it was read before",
        tests=(
            "tests/unit/persistence/test_row_authentication.py::test_a_row_under_a_key_that_was_dropped_is_refused_though_it_was_read_before",
        ),
        row="V11",
    ),
    Mutant(
        name="log-edge-of-another-tree",
        path="transparency_log/tree_store.py",
        before="            if (reached.size, reached.root) == (self.size, self.newest.root):\n",
        after="            if reached.size == self.size:\n",
        wrong="leaves are added to the edge of a tree that was never committed",
        tests=("tests/unit/transparency_log/test_tree_store.py",),
    ),
    Mutant(
        name="leaf-altered-before-the-tree",
        path="transparency_log/tree_store.py",
        before="    if _digest(leaf) != leaf.hash:\n",
        after="    if not leaf.hash:\n",
        wrong="a leaf that was altered while it waited gets into the tree",
        tests=(
            "tests/unit/transparency_log/test_tree_store.py",
            "tests/unit/transparency_log/test_sequencer.py",
        ),
    ),
    Mutant(
        row="V92",
        name="leaf-whole-to-the-webhook",
        path="services/webhook/log_events.py",
        before="**event.fields}",
        after="**json.loads(leaf.bytes)}",
        wrong="a message holds all of a leaf: what its maker had read, too",
        tests=(f"{EVENTS}::test_a_message_holds_nothing_of_a_leaf_but_what_is_listed",),
    ),
    Mutant(
        row="V92",
        name="unproven-leaf-sent",
        path="services/webhook/log_events.py",
        before="        tree_store.require_proven(session, leaf)\n",
        after="        pass\n",
        wrong="a message is signed about a leaf that the log does not have",
        tests=(f"{EVENTS}::test_a_leaf_that_was_altered_is_not_sent",),
    ),
    Mutant(
        row="V92",
        name="every-kind-of-event-sent",
        path="services/webhook/log_reading.py",
        before=" or event.name not in outbox.chosen(server.settings)",
        after="",
        wrong="a receiver is told of kinds of events that the operator did not choose",
        tests=(
            f"{READING}::test_by_default_no_leaf_is_sent_and_a_kind_that_is_switched_on_is_from_then_on",
        ),
    ),
)
