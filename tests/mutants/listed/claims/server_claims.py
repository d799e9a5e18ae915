"""Provide faults that break claims of the server (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V4",
        name="stream-of-a-clearance-taken-away",
        path="services/streams/stream_totals.py",
        before="        again = _allowed(session, server, principal, name, ask.span[0],"
        " ask.span[-1], tier)\n",
        after="        again = ask\n",
        wrong="a clearance that was taken away just before the lock still gives totals",
        tests=(
            "tests/unit/services/streams/test_sealed_stream.py::test_no_total_is_handed_out_once_a_clearance_was_taken_away",
        ),
    ),
    Mutant(
        row="V5",
        name="exact-answer-kept",
        path="services/queries/registration.py",
        before="        drawn = kind.first_draw(server, dataset, charged, rungs, exact)\n"
        "    del exact\n",
        after="        drawn = kind.first_draw(server, dataset, charged, rungs, exact)\n"
        '    kind.__dict__["exact"] = exact\n'
        '    server.__dict__["kind"] = kind\n',
        wrong="the exact answer stays in the worker's memory",
        tests=(
            "tests/unit/services/queries/test_exact_answers.py::test_no_live_object_refers_to_the_exact_answer",
        ),
    ),
    Mutant(
        row="V8",
        name="time-of-the-draw-told",
        path="services/releases/lookups.py",
        before="        granted_at=leaf.at,\n",
        after="        granted_at=release.created_at,\n",
        wrong="a release says when it was drawn for others",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_when_a_release_was_drawn_for_others_is_not_told",
        ),
    ),
    Mutant(
        row="V10",
        name="twin-above-named",
        path="services/previews/query_preview.py",
        before="    left = pending(session, planned.dataset, request, prepared, planned.limit)\n",
        after="    left = pending(session, planned.dataset, request, prepared)\n",
        wrong="a preview names a query that is out of sight",
        tests=(
            "tests/unit/services/previews/test_query_preview.py::test_a_hidden_twin_is_not_named",
        ),
    ),
    Mutant(
        row="V12",
        name="stream-of-one-step-charged",
        path="services/noise/kinds/stream_shape.py",
        before="        return _product(self.forest.columns(self.max_steps_per_unit), element)\n",
        after="        return _product(self.forest.columns(1), element)\n",
        wrong="a stream is charged for one step of a unit",
        tests=(
            "tests/api/streams/test_streams.py::test_a_stream_is_charged_for_all_the_steps_of_a_unit",
        ),
    ),
    Mutant(
        row="V14",
        name="stream-state-not-sealed",
        path="services/streams/sealed_stream.py",
        before="    sealed = seal(query_key(server, dataset, query), plain, place)\n",
        after="    sealed = seal(query_key(server, dataset, query), plain, place) + plain\n",
        wrong="the running total stands in the database beside its envelope",
        tests=(
            "tests/unit/services/streams/test_sealed_stream.py::test_no_total_of_a_stream_is_in_the_files_of_its_home",
        ),
    ),
    Mutant(
        row="V15",
        name="laplace-trees-always-subtract",
        path="services/computations/stream_structure.py",
        before="    past_only = trees_only_add(request.mechanism, delta)\n",
        after="    past_only = False\n",
        wrong="Laplace trees use nodes of elements to come where divergences are charged",
        tests=(
            "tests/unit/services/computations/test_stream_structure.py::test_laplace_trees_look_at_the_past_alone_where_divergences_are_charged",
        ),
    ),
    Mutant(
        row="V16",
        name="width-of-a-normal-sum",
        path="structures/streams/spread.py",
        before="        low, high = (middle, high) if inside(middle) < confidence else (low,"
        " middle)\n",
        after="        low, high = (middle, high) if inside(middle) < 0.9 * confidence else"
        " (low, middle)\n",
        wrong="half widths hold less often than they say",
        tests=(
            "tests/unit/structures/streams/test_spread.py::test_half_widths_are_those_of_the_closed_forms",
        ),
    ),
    Mutant(
        row="V20",
        name="keys-kept-when-shredded",
        path="services/operations/key_rotation.py",
        before="    keys = sum(len(server.provider.destroy(context)) for context in"
        " forgotten.contexts)\n",
        after="    keys = sum(len(context) for context in forgotten.contexts)\n",
        wrong="the provider keeps the keys of what was shredded",
        tests=(
            "tests/unit/services/operations/test_key_rotation.py::test_not_even_a_backup_can_be_read_after_shredding",
        ),
    ),
    Mutant(
        row="V20",
        name="kept-keys-under-any-ring",
        path="services/kept_keys.py",
        before="if shelf is None or shelf.version != version or",
        after="if shelf is None or",
        wrong="a key that was destroyed at the provider is used while it is kept",
        tests=(
            "tests/unit/services/noise/test_keys.py::test_a_kept_key_is_not_used_when_the_ring_would_not_give_it",
        ),
    ),
    Mutant(
        row="V20",
        name="kept-keys-for-ever",
        path="services/kept_keys.py",
        before="            self._shelf, self._waits = None, False\n",
        after="            self._waits = False\n",
        wrong="without a request a destroyed key stays in memory",
        tests=(
            "tests/unit/services/test_kept_keys.py::test_a_key_is_overwritten_after_that_without_any_request",
        ),
    ),
    Mutant(
        row="V42",
        name="cosignature-not-verified",
        path="services/audit/cosigners.py",
        before="        if verifier.verified(text, signature):\n",
        after="        if signature:\n",
        wrong="a row that somebody wrote into the database is served as a cosigner's word",
        tests=(
            "tests/unit/services/audit/test_cosigners.py::test_a_row_that_nobody_signed_is_not_served",
        ),
    ),
    Mutant(
        row="V42",
        name="cosignature-of-any-text",
        path="encryption/notes.py",
        before='    return f"cosignature/v1\\ntime {at}\\n{text}".encode()\n',
        after='    return f"cosignature/v1\\ntime {at}\\n".encode()\n',
        wrong="what is cosigned is a time and no checkpoint",
        tests=("tests/unit/encryption/test_notes.py::test_a_cosignature_is_of_a_time_and_a_kind",),
    ),
    Mutant(
        row="V49",
        name="time-of-the-machine-alone",
        path="transparency_log/logged_time.py",
        before="        return now if floor is None else max(now, floor)\n",
        after="        return now\n",
        wrong="a clock that is set back revives what had ended",
        tests=(
            "tests/unit/transparency_log/test_logged_time.py::test_a_clock_set_back_revives_no_token_and_no_session",
        ),
    ),
    Mutant(
        row="V49",
        name="floor-that-nobody-signed",
        path="transparency_log/logged_time.py",
        before="            if not checkpoints.signed(session, checkpoints.newest(session)):\n",
        after="            if False:\n",
        wrong="whoever writes a checkpoint into the database sets the server's time",
        tests=(
            "tests/unit/transparency_log/test_logged_time.py::test_a_checkpoint_that_nobody_signed_moves_no_time",
        ),
    ),
    Mutant(
        row="V52",
        name="answered-before-taken",
        path="transparency_log/sinks/forwarding.py",
        before="    def advance(self, sight: Sight) -> None:\n        self._forward()\n",
        after="    def advance(self, sight: Sight) -> None:\n",
        wrong="the witness sees, and answers go out, before the second place took anything",
        tests=(
            "tests/unit/transparency_log/sinks/test_forwarding.py::test_leaves_are_taken_before_the_witness_sees_them_and_before_the_answer",
        ),
    ),
    Mutant(
        row="V52",
        name="receiver-not-waited-for",
        path="transparency_log/sinks/streams.py",
        before="                while connection.recv(4096):\n                    pass\n",
        after="",
        wrong="what lies in a buffer of this machine counts as taken",
        tests=(
            "tests/unit/transparency_log/sinks/test_streams.py::test_a_receiver_that_reads_and_does_not_end_has_taken_nothing",
        ),
    ),
    Mutant(
        row="V52",
        name="torn-line-kept",
        path="transparency_log/sinks/sink.py",
        before="        self._file.truncate(end)\n        self._file.seek(end)\n",
        after="        self._file.seek(0, os.SEEK_END)\n",
        wrong="a line that a stop tore swallows the one behind it",
        tests=("tests/unit/transparency_log/sinks/test_sink.py::test_a_torn_line_is_mended",),
    ),
    Mutant(
        row="V52",
        name="rewritten-log-taken",
        path="transparency_log/sinks/forwarding.py",
        before="            first = _restored(session, taking.hashes())\n",
        after="            first = _restored(session, taking.hashes()) or 0\n",
        wrong="a log that was rewritten is written behind the one before it, and nobody is told",
        tests=(
            "tests/unit/transparency_log/sinks/test_forwarding.py::test_a_rewritten_log_is_refused_and_an_acknowledged_restore_is_gone_on_from",
        ),
    ),
    Mutant(
        row="V53",
        name="a-leaf-for-every-refusal",
        path="http/counting/refusal_counts.py",
        before=(
            "        if self._due(now - PERIOD):\n"
            "            self._writer.submit(lambda: self._tell_of(now - PERIOD))\n"
        ),
        after="        self._writer.submit(lambda: self._tell_of(now))\n",
        wrong="whoever is refused fills the log",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_was_refused_stands_in_the_log_an_hour_later",
        ),
    ),
    Mutant(
        row="V53",
        name="sign-ins-not-told-apart",
        path="http/counting/refusal_counts.py",
        before="    if (verb, route) == _SIGN_IN:\n",
        after="    if (verb, route) == (None, None):\n",
        wrong="whoever guesses tokens in the form is not told from who has none",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_was_refused_stands_in_the_log_an_hour_later",
        ),
    ),
    Mutant(
        row="V53",
        name="refusals-not-given-back",
        path="http/counting/refusal_counts.py",
        before="                self._add(began, counts, self._clock())\n",
        after="                pass\n",
        wrong="what is refused while the log takes nothing is forgotten",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_the_log_does_not_take_stays_counted",
        ),
    ),
    Mutant(
        row="V53",
        name="refusals-told-since-a-vain-attempt",
        path="http/counting/refusal_counts.py",
        before="                self._add(began, counts, self._clock())\n",
        after="                self._add(self._clock(), counts, self._clock())\n",
        wrong="a leaf says that all of a day was refused within its last hour",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_is_told_late_is_told_since_when_it_was",
        ),
    ),
    Mutant(
        row="V53",
        name="stored-refusals-given-back",
        path="services/audit/refusals.py",
        before="        if not stored:\n",
        after="        if stored is not None:\n",
        wrong="while the witness hangs, each attempt is a leaf that counts all of them again",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_is_stored_and_waits_for_its_witness_is_told_once",
        ),
    ),
    Mutant(
        row="V53",
        name="worker-ends-while-it-tells",
        path="http/counting/refusal_counts.py",
        before="        self._writer.submit(lambda: self._tell_of(self._clock())).result()\n",
        after="        self._tell_of(self._clock())\n",
        wrong="what is on its way to the log ends with the worker",
        tests=(
            "tests/api/http/counting/test_refusal_counts.py::test_what_is_being_told_is_waited_for_where_a_worker_ends",
        ),
    ),
    Mutant(
        row="V32",
        name="witness-folder-not-synced",
        path="transparency_log/witness/file_witness.py",
        before="        try:\n"
        "            os.fsync(folder)\n"
        "        finally:\n"
        "            os.close(folder)\n",
        after="        os.close(folder)\n",
        wrong="a witness that outgrew its file is lost with the power",
        tests=(
            "tests/unit/transparency_log/witness/test_witness_syncs.py::test_what_was_seen_last_is_on_the_disk_when_it_is_said",
        ),
    ),
    Mutant(
        row="V32",
        name="witness-slot-not-synced",
        path="transparency_log/witness/file_witness.py",
        before="            _put(descriptor, slot, (1 - content.number) * len(slot))\n"
        "            _sync(descriptor)\n",
        after="            _put(descriptor, slot, (1 - content.number) * len(slot))\n",
        wrong="what the witness saw last is lost with the power",
        tests=(
            "tests/unit/transparency_log/witness/test_witness_syncs.py::test_what_was_seen_last_is_on_the_disk_when_it_is_said",
        ),
    ),
    Mutant(
        row="V32",
        name="witness-in-one-slot",
        path="transparency_log/witness/file_witness.py",
        before="            _put(descriptor, slot, (1 - content.number) * len(slot))\n",
        after="            _put(descriptor, slot, content.number * len(slot))\n",
        wrong="a write that the power tears destroys the only record",
        tests=(
            "tests/unit/transparency_log/witness/test_witness_syncs.py::test_the_newest_record_is_not_written_over",
        ),
    ),
    Mutant(
        row="V32",
        name="witness-relied-on-in-memory",
        path="transparency_log/witness/file_witness.py",
        before="        if content.is_settled:\n",
        after="        if content.is_settled or content.slot:\n",
        wrong="an answer relies on a record that a killed process did not sync",
        tests=(
            "tests/unit/transparency_log/witness/test_witness_syncs.py::test_nobody_relies_on_a_record_that_its_writer_did_not_sync",
        ),
    ),
    Mutant(
        row="V34",
        name="one-comparison-too-many",
        path="services/queries/mismatches.py",
        before="    if seen >= MOST:\n",
        after="    if seen > MOST:\n",
        wrong="values are compared once more than is said",
        tests=(
            "tests/unit/services/queries/test_mismatches.py::test_every_mismatch_is_a_leaf_that_holds_no_values_and_the_last_ends_it",
        ),
    ),
    Mutant(
        row="V34",
        name="mismatches-not-counted",
        path="services/queries/mismatches.py",
        before="    query.mismatches = seen + 1\n    session.add(query)\n",
        after="",
        wrong="any number of guesses is compared with the exact values",
        tests=(
            "tests/unit/services/queries/test_mismatches.py::test_every_mismatch_is_a_leaf_that_holds_no_values_and_the_last_ends_it",
        ),
    ),
    Mutant(
        row="V34",
        name="refused-elements-not-counted",
        path="services/queries/mismatches.py",
        before="    query.mismatches = (query.mismatches or 0) + 1\n",
        after="    query.mismatches = query.mismatches or 1\n",
        wrong="any number of refusals tells how far a stream's exact total is from its range's end",
        tests=(
            "tests/unit/services/queries/test_mismatches.py::test_no_number_of_refusals_finds_the_total_of_a_stream",
        ),
    ),
    Mutant(
        row="V35",
        name="child-with-the-environment",
        path="computing/process.py",
        before='            env={**inherited, "OPENBLAS_NUM_THREADS"',
        after='            env={**os.environ, "OPENBLAS_NUM_THREADS"',
        wrong="what computes has the server's environment, with its secrets",
        tests=("tests/unit/computing/test_process.py::test_a_child_knows_nothing_of_its_parent",),
    ),
    Mutant(
        row="V35",
        name="child-that-remembers",
        path="computing/process.py",
        before='"fresh": person != self.person}',
        after='"fresh": False}',
        wrong="whoever asks what another one asked is answered sooner",
        tests=(
            "tests/unit/computing/test_pool.py::test_nothing_is_remembered_from_one_person_to_the_next",
        ),
    ),
)
