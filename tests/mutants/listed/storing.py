"""Provide faults of encryption, the database, the tree of the log, and of what reads data."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

ENVELOPE: Final = "tests/unit/encryption/test_envelope.py"
SENSITIVITY: Final = "tests/property/test_sensitivity_replace.py"
FAIL_OVER: Final = "tests/faults/postgresql/test_fail_over.py"
BUCKET: Final = "tests/unit/transparency_log/witness/test_bucket_witness.py"
WITNESSES: Final = "tests/unit/transparency_log/witness/test_witnesses.py"
DURABILITY: Final = "tests/unit/persistence/postgresql/test_durability.py"

QUEUE: Final = "tests/unit/services/jobs/test_queue.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="job-taken-from-its-worker",
        row="V76",
        path="services/jobs/queue.py",
        before="            if not is_silent(row, now):\n                return None\n",
        after="",
        wrong="a place that comes twice takes a job from the worker that runs it",
        tests=(
            "tests/unit/services/jobs/test_queue.py::test_a_job_is_claimed_once_until_its_worker_falls_silent",
        ),
    ),
    Mutant(
        name="job-for-a-disabled-user",
        row="V76",
        path="services/jobs/queue.py",
        before="if user is not None and user.is_active else []",
        after="if user is not None else []",
        wrong="a worker acts for an admin who was disabled since",
        tests=(
            "tests/unit/services/jobs/test_queue.py::test_whoever_was_disabled_in_the_meantime_acts_without_a_role",
        ),
    ),
    Mutant(
        name="job-given-up-with-its-worker",
        row="V76",
        path="services/jobs/queue.py",
        before="                job_queue.give_back(connection, number)\n",
        after="                job_queue.drop(connection, number)\n",
        wrong="what a killed worker did, nobody goes on with",
        tests=(
            "tests/faults/workers/test_working.py::test_a_job_of_a_killed_worker_is_finished_by_another_and_charged_and_drawn_once",
        ),
    ),
    Mutant(
        name="long-draw-told-by-its-time",
        row="V76",
        path="services/releases/releases.py",
        before="_answer(server, allowed, _unsealed(received), steps, first=True)",
        after="_answer(server, allowed, _unsealed(received), steps, first=False)",
        wrong="the time of what a worker drew, and of what was stored, is not hidden",
        tests=(
            "tests/unit/services/jobs/test_long_draws.py::test_a_worker_draws_what_its_reader_waits_for_and_hands_it_out_in_their_name",
        ),
    ),
    Mutant(
        name="row-of-any-level",
        path="encryption/envelope.py",
        before="            vars(self), ensure_ascii=False,",
        after='            {**vars(self), "level": None}, ensure_ascii=False,',
        wrong="a release opens in the place of one at another level",
        tests=("tests/faults/tampering/test_row_surgery.py::test_every_altered_row_is_refused",),
        row="V6",
    ),
    Mutant(
        name="envelope-of-another-key",
        path="encryption/envelope.py",
        before="    if prefix[2:] != key.id:\n",
        after="    if len(prefix[2:]) != len(key.id):\n",
        wrong="an envelope under another key is said to be altered",
        tests=(ENVELOPE,),
    ),
    Mutant(
        name="pieces-not-authenticated",
        path="encryption/envelope.py",
        before="    _authenticate(cipher, identity, tag)\n    return written\n",
        after="    return written\n",
        wrong="a long vector that was altered on the disk is drawn from",
        tests=(f"{ENVELOPE}::test_pieces_that_do_not_fit_each_other_are_refused",),
        row="V6",
    ),
    Mutant(
        name="row-signed-in-part",
        path="persistence/statements/fixed_rows.py",
        before='        begun = digest, b"".join(parts[place + 1 :])\n',
        after='        begun = digest, b""\n',
        wrong="columns of a query may be altered that come after the one that changes",
        tests=(
            "tests/unit/persistence/statements/test_fixed_rows.py",
            "tests/unit/services/releases/test_known_queries.py",
        ),
    ),
    Mutant(
        name="large-content-kept",
        path="persistence/sqlite.py",
        before="    if _USED_UP in entry.info:\n",
        after="    if _USED_UP not in entry.info:\n",
        wrong="a worker holds the sealed vector that it stored last, as long as it runs",
        tests=("tests/unit/persistence/test_sqlite.py",),
    ),
    Mutant(
        name="ciphertexts-beside-vectors",
        path="services/noise/kinds/vector.py",
        before="            release.let_go()\n",
        after="",
        wrong="a draw holds the sealed neighbors beside the opened ones",
        tests=("tests/unit/services/noise/kinds/test_vector.py",),
    ),
    Mutant(
        name="long-vectors-as-a-whole",
        path="persistence/dialects.py",
        before="    if connection.dialect.name == SQLite.name:\n",
        after="    if connection.dialect.name == column.name:\n",
        wrong="SQLite holds two copies of every sealed neighbor of a draw",
        tests=("tests/unit/persistence/test_dialects.py",),
    ),
    Mutant(
        name="history-loads-vectors",
        path="services/releases/grants.py",
        before="    statement = _HAND_OUTS if sealed else _WITHOUT_VECTORS\n",
        after="    statement = _HAND_OUTS\n",
        wrong="a release that is read again by its name takes four vectors of memory",
        tests=("tests/unit/services/noise/long_vectors/test_release_memory.py",),
    ),
    Mutant(
        name="writers-out-of-turn",
        path="persistence/write_queue.py",
        before="COUNTER + 1, place.number - 1, command=command)\n",
        after="COUNTER + 1, 1, command=command)\n",
        wrong="writers of a SQLite database do not wait for those that came before them",
        tests=("tests/unit/persistence/test_write_queue.py",),
    ),
    Mutant(
        name="statements-after-a-rollback",
        path="persistence/database.py",
        before="        if not self._own.in_transaction():\n",
        after="        if False:\n",
        wrong="what follows an error that undid a transaction is stored at once, and stays",
        tests=("tests/unit/persistence/test_database.py",),
    ),
    Mutant(
        name="standbys-not-required",
        path="persistence/postgresql/durability.py",
        before="    if replicated and not session.standby_names:\n",
        after="    if replicated and session.is_standby:\n",
        wrong="a server that requires standbys serves from a primary whose commits wait for none",
        tests=(f"{DURABILITY}::test_commits_must_wait_for_a_standby_where_that_is_required",),
        row="V1",
    ),
    Mutant(
        name="answers-before-a-standby",
        path="persistence/postgresql/connections.py",
        before="(durability.CONFIRMED_IN_ANY_CASE,) if",
        after="(durability.CONFIRMED,) if",
        wrong="an answer leaves that only a primary has, which was started again before a standby"
        " had it",
        tests=(f"{DURABILITY}::test_the_logs_own_transaction_waits_though_it_changes_nothing",),
        row="V1",
    ),
    Mutant(
        name="fail-over-not-recognized",
        path="transparency_log/sequencer.py",
        before="        if self._moves != self._database.moves:\n",
        after="        if self._moves > self._database.moves:\n",
        wrong="a server that only reads takes a standby that lost answers for the primary",
        tests=(
            f"{FAIL_OVER}::test_a_running_server_knows_the_standby_for_another_server_before_it_writes",
        ),
        row="V1",
    ),
    Mutant(
        name="answers-before-the-bucket",
        path="transparency_log/witness/bucket_witness.py",
        before="        self._reached(lambda: self._append(change, self._known))\n",
        after="        later = __import__('threading').Thread\n"
        "        later(target=self._append, args=(change, self._known)).start()\n",
        wrong="an answer leaves before the bucket has confirmed the witness's record",
        tests=(f"{WITNESSES}::test_no_answer_leaves_before_the_bucket_has_confirmed_it",),
        row="V32",
    ),
    Mutant(
        name="witness-put-over",
        path="transparency_log/witness/bucket.py",
        before='content, mode="create", use_multipart=False',
        after='content, mode="overwrite", use_multipart=False',
        wrong="of two hosts one takes back what the other witnessed",
        tests=(f"{BUCKET}::test_of_hosts_that_write_at_once_nobody_takes_another_back",),
        row="V32",
    ),
    Mutant(
        name="hidden-record-not-missed",
        path="transparency_log/witness/bucket_witness.py",
        before="        if self._bucket.lock(end + 1).is_deleted:\n",
        after="        if self._bucket.lock(end).is_deleted:\n",
        wrong="a mark hides the newest record from a server that starts",
        tests=(f"{BUCKET}::test_a_record_whose_deletion_hides_it_is_missed_by_all",),
        row="V32",
    ),
    Mutant(
        name="canceled-waits-confirm",
        path="persistence/postgresql/connections.py",
        before="        if self.unconfirmed:\n",
        after="        if self.unconfirmed and self.closed:\n",
        wrong="a commit counts as confirmed by a standby although its wait was canceled",
        tests=(f"{DURABILITY}::test_a_wait_that_is_canceled_is_no_confirmation",),
        row="V1",
    ),
    Mutant(
        name="gate-taken-by-the-first-statement",
        path="persistence/database.py",
        before="            self._dialect.begin_now(session.connection())\n",
        after="",
        wrong="a block that has made no statement yet is not alone on PostgreSQL",
        tests=(
            "tests/unit/persistence/test_locks.py",
            "tests/unit/persistence/postgresql/test_connections.py",
        ),
    ),
    Mutant(
        name="locks-left-behind",
        path="persistence/postgresql/connections.py",
        before="        ahead, connection.ahead = connection.ahead, ()\n",
        after="        ahead, connection.ahead = connection.ahead[:1], ()\n",
        wrong="on PostgreSQL a transaction begins without its gate and its locks",
        tests=(
            "tests/unit/persistence/test_locks.py",
            "tests/unit/services/releases/test_locked_state.py",
        ),
    ),
    Mutant(
        name="vector-of-any-length",
        path="encryption/vectors.py",
        before="    if identity.type != TYPE or size != 8 * identity.length:\n",
        after="    if identity.type != TYPE:\n",
        wrong="a vector of another length than its row says is read",
        tests=("tests/unit/encryption/test_vectors.py",),
    ),
    Mutant(
        name="key-of-any-dataset",
        path="encryption/hierarchy.py",
        before='return RowIdentity(table="dataset", dataset=dataset, length=1, type="kek")'
        ".encode()\n",
        after='return RowIdentity(table="dataset", dataset="", length=1, type="kek").encode()',
        wrong="the key of one dataset opens in the place of another's, and all die together",
        tests=("tests/unit/encryption/test_hierarchy.py",),
    ),
    Mutant(
        name="old-keys-kept",
        path="encryption/keyring.py",
        before="[name for name in file.places if name in names])\n",
        after="[name for name in file.places if name in names][1:])\n",
        wrong="of keys that are dropped one stays",
        tests=(
            "tests/unit/encryption/test_keyring.py",
            "tests/unit/encryption/test_providers.py",
        ),
    ),
    Mutant(
        name="backup-opened-by-name",
        path="services/operations/backup_check.py",
        before='        return "not there"\n',
        after="        return None\n",
        wrong="a backup whose key is gone is said to open",
        tests=("tests/unit/services/operations/test_backup_check.py",),
    ),
    Mutant(
        name="newest-key-retired",
        path="services/operations/key_rotation.py",
        before="keys_of(dataset_context(identity(dataset)))[:-1]\n",
        after="keys_of(dataset_context(identity(dataset)))[:-2]\n",
        wrong="the key that the last rotation retired is dropped by nobody",
        tests=("tests/unit/services/operations/test_key_rotation.py",),
    ),
    Mutant(
        name="leftovers-kept",
        path="encryption/private.py",
        before="        _remove_unfinished(path)\n",
        after="",
        wrong="a file that a killed writer left keeps keys that are destroyed",
        tests=("tests/unit/encryption/test_keyring.py", "tests/faults/kills/test_keys.py"),
    ),
    Mutant(
        name="keys-left-in-memory",
        path="encryption/key.py",
        before='        wipe(getattr(self, "_material", bytearray()))\n',
        after="        pass\n",
        wrong="a key that nobody uses any more stays in memory",
        tests=(
            "tests/unit/encryption/test_key.py::test_a_key_is_overwritten_with_the_last_reference_to_it",
        ),
    ),
    Mutant(
        name="bad-text-taken-for-another",
        path="connectors/duckdb/parquet_cells.py",
        before="        return None if cell is None else cell.decode()\n",
        after='        return None if cell is None else cell.decode(errors="replace")\n',
        wrong="a text that is not UTF-8 is taken for another text",
        tests=("tests/unit/connectors/duckdb/test_parquet_cells.py",),
    ),
    Mutant(
        name="history-deleted",
        path="persistence/append_only.py",
        before='    events: tuple[str, ...] = ("UPDATE", "DELETE")\n',
        after='    events: tuple[str, ...] = ("UPDATE",)\n',
        wrong="rows of history can be deleted on SQLite",
        tests=("tests/unit/persistence/test_append_only.py::test_no_row_of_history_is_deleted",),
        row="V7",
    ),
    Mutant(
        name="nodes-like-leaves",
        path="transparency_log/merkle/tree.py",
        before='    return hashlib.sha256(b"\\x01" + left + right).digest()\n',
        after='    return hashlib.sha256(b"\\x00" + left + right).digest()\n',
        wrong="an inner node can be passed off as a leaf",
        tests=(
            "tests/unit/transparency_log/merkle/test_proofs.py::test_every_pair_of_small_trees_is_proven_consistent",
        ),
        row="V31",
    ),
    Mutant(
        name="one-unit-in-place-of-two",
        path="connectors/planning/sensitivity.py",
        before="common * exchanged + min(2 * (max_groups - common), keys - common) * given",
        after="common * exchanged + min(max_groups - common, keys - common) * given",
        wrong="under replace the groups of one of both units are not counted",
        tests=(
            "tests/property/test_sensitivity_replace.py::test_the_worst_two_persons_attain_every_norm",
        ),
        row="D1",
    ),
    Mutant(
        name="clamp-of-one-row",
        path="connectors/planning/sensitivity.py",
        before="        return self.max_rows * min(self.lowest, 0),"
        " self.max_rows * max(self.highest, 0)\n",
        after="        return min(self.lowest, 0), max(self.highest, 0)\n",
        wrong="a unit of many rows is taken to give no more than one",
        tests=(
            "tests/property/test_sensitivity_add_remove.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        name="statistic-of-any-contribution",
        path="connectors/planning/canonical.py",
        before='        "max_rows": plan.max_rows,\n',
        after="",
        wrong="statistics that differ in how many rows count are taken for the same",
        tests=("tests/unit/connectors/planning/test_canonical.py",),
    ),
    Mutant(
        name="secrets-not-compared",
        path="services/operations/secret_checks.py",
        before="    if wrong:\n",
        after="    if len(wrong) > len(kept):\n",
        wrong="a server opens with the secrets of another home",
        tests=("tests/unit/services/operations/test_secret_checks.py",),
    ),
)
