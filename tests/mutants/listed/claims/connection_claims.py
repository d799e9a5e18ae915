"""Provide faults that break claims of connections and of what is read from warehouses (D, V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="D14",
        name="quotient-through-doubles",
        path="connectors/warehouses/dialects.py",
        before='        return sql.divided(sql.minus(left, sql.call("mod", *again)), right)\n',
        after="        return sql.exact_quotient("
        'sql.minus(left, sql.call("mod", *again)), right)\n',
        wrong="the parts of a mean of many rows lose their last digits on Trino",
        tests=("tests/unit/connectors/warehouses/test_dialects.py::test_no_statement_has_a_trap",),
    ),
    Mutant(
        row="D2",
        name="text-of-other-keys",
        path="connectors/statements/texts.py",
        before="(each.column, bool(each.categories), len(each)) for",
        after="(each.column, bool(each.categories)) for",
        wrong="a query runs the text of one with fewer categories, and counts at wrong keys",
        tests=(
            "tests/unit/connectors/statements/test_texts.py::test_a_kept_text_is_the_one_that_is_written_anew",
        ),
    ),
    Mutant(
        row="D3",
        name="texts-of-any-bytes",
        path="connectors/clickhouse/relations.py",
        before='            return sql.case((sql.call("isValidUTF8", cell()), text))\n',
        after="            return text\n",
        wrong="a text of other bytes than UTF-8 counts on ClickHouse, as on no other engine",
        tests=(
            "tests/unit/connectors/clickhouse/test_relations.py::test_texts_that_are_not_utf8_are_bad_cells",
        ),
    ),
    Mutant(
        row="D3",
        name="failed-connection-used-again",
        path="connectors/clickhouse/embedded.py",
        before="            failed, self._connection = self._connection, self._opened()\n",
        after="            failed = self._opened()\n",
        wrong="rows that a failed statement left stand before those of the next one",
        tests=(
            "tests/unit/connectors/clickhouse/test_embedded.py::test_nothing_of_a_failed_statement_stands_before_the_next_ones_rows",
        ),
    ),
    Mutant(
        row="D6",
        name="view-not-locked",
        path="connectors/postgresql/views.py",
        before="    is_there = session.lock(schema, view)\n",
        after="    is_there = True\n",
        wrong="a view that is altered or emptied while it is read is released as if it were whole",
        tests=(
            "tests/unit/connectors/postgresql/test_views.py::test_a_view_is_locked_once_its_columns_are_known",
        ),
    ),
    Mutant(
        row="D6",
        name="rows-of-two-states-on-trino",
        path="connectors/warehouses/dialects.py",
        before="    shares_rows: ClassVar[bool] = False\n",
        after="    shares_rows: ClassVar[bool] = True\n",
        wrong="the number of units is of other rows than the counts that it protects",
        tests=(
            "tests/unit/connectors/warehouses/test_dialects.py::test_trino_is_never_told_to_read_the_rows_twice",
        ),
    ),
    Mutant(
        row="V34",
        name="read-after-three-mismatches",
        path="services/queries/level_changes.py",
        before="            require_comparable(current)\n",
        after="            pass\n",
        wrong="a raise is charged, and rows are read, though nothing will be compared",
        tests=(
            "tests/unit/connectors/postgresql/test_registered_views.py::test_nobody_is_told_again_and_again_whether_an_answer_changed",
        ),
    ),
    Mutant(
        row="D16",
        name="state-of-another-statement",
        path="connectors/postgresql/states.py",
        before="    rows, snapshot = split("
        "session.table(naming(text, statement.returned), parameters))\n",
        after="    rows = session.table(text, parameters)\n"
        '    now = session.table("SELECT CAST(pg_current_snapshot() AS TEXT) AS now")\n'
        '    snapshot = now.to_pylist()[0]["now"]\n',
        wrong="a query names a state in which rows are that it did not read",
        tests=(
            "tests/unit/connectors/postgresql/test_states.py::test_the_name_is_of_the_statement_that_reads",
        ),
    ),
    Mutant(
        row="D16",
        name="state-of-a-standby",
        path="connectors/postgresql/states.py",
        before="  NOT pg_is_in_recovery()\n",
        after="  TRUE\n",
        wrong="two queries that read other rows of a standby name the same state",
        tests=(
            "tests/unit/connectors/postgresql/test_states.py::test_a_standby_names_no_state_and_what_becomes_of_it_another_timeline",
        ),
    ),
    Mutant(
        row="D16",
        name="state-of-foreign-rows",
        path="connectors/postgresql/states.py",
        before="c.relkind = 'f'",
        after="c.relkind = 'm'",
        wrong="rows of another server are said to be those of a state of this one",
        tests=(
            "tests/unit/connectors/postgresql/test_states.py::test_rows_of_another_server_have_no_state",
        ),
    ),
    Mutant(
        row="D16",
        name="states-shown-to-analysts",
        path="services/queries/queries.py",
        before="states_of(query) if limit is None else []",
        after="states_of(query)",
        wrong="analysts count the transactions between two queries, without a charge",
        tests=(
            "tests/unit/services/queries/test_queries.py::test_the_state_that_was_read_is_for_admins_and_auditors_alone",
        ),
    ),
    Mutant(
        row="D16",
        name="second-reading-not-recorded",
        path="services/queries/level_changes.py",
        before="            current.read_states = states_with(current, state)\n",
        after="            del state\n",
        wrong="a query whose anchor was raised says only which rows were read at first",
        tests=(
            "tests/unit/services/queries/test_queries.py::test_every_reading_that_was_drawn_from_has_its_state",
        ),
    ),
    Mutant(
        row="D6",
        name="clickhouse-that-writes",
        path="connectors/clickhouse/embedded.py",
        before='Connection(f"{self._folder}?mode=ro")',
        after='Connection(f"{self._folder}")',
        wrong="a recorded text may drop the tables that it reads",
        tests=(
            "tests/unit/connectors/clickhouse/test_connector.py::test_a_reading_writes_nothing",
        ),
    ),
    Mutant(
        row="D14",
        name="salt-in-the-statement",
        path="connectors/warehouses/warehouse.py",
        before="    return session.rows(text, parameters)\n",
        after='    return session.rows(text + f" -- {salt.hex()}", parameters)\n',
        wrong="the secret salt is in the text that the engine keeps in its history",
        tests=(
            "tests/unit/connectors/warehouses/test_warehouse.py::test_the_salt_and_the_secret_are_in_no_statement",
        ),
    ),
    Mutant(
        row="V73",
        name="secret-of-a-connection-shown",
        path="setting_sources.py",
        before='        Provenance(f"connection_{name}", MASKED, source, SENTENCE)\n'
        "        for name, (_, source) in connections.items()\n",
        after='        Provenance(f"connection_{name}", secret, source, SENTENCE)\n'
        "        for name, (secret, source) in connections.items()\n",
        wrong="`penstock config show` prints the password of a warehouse",
        tests=("tests/unit/test_setting_sources.py::test_no_text_of_the_settings_has_a_secret",),
    ),
    Mutant(
        row="V73",
        name="path-of-a-secret-repeated",
        path="setting_connections.py",
        before="    raise InvalidInput("
        'f"The file that {variable} names cannot be read: {reason}.")\n',
        after='    raise InvalidInput(f"The file {path} cannot be read: {reason}.")\n',
        wrong="a secret that was put where its file's name belongs is printed",
        tests=(
            "tests/unit/test_setting_sources.py::test_what_names_no_connection_is_refused_without_its_value",
        ),
    ),
)
