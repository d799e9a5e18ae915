"""Provide faults that break claims of what is read from data (D)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="D2",
        name="groups-in-any-order",
        path="connectors/statements/template.py",
        before="    order = [_order(dialect), sql.column(KEY)]\n",
        after='    order = [sql.call("random")]\n',
        wrong="which of a unit's groups count is chosen by chance",
        tests=(
            "tests/unit/connectors/duckdb/test_source.py::test_the_same_bits_come_over_repeated_runs_and_thread_counts",
        ),
    ),
    Mutant(
        row="D2",
        name="keys-without-rows-are-nothing",
        path="connectors/statements/decoding.py",
        before="    return units if name == SIZE else -plan.max_rows * units\n",
        after="    return units if name == SIZE else 0\n",
        wrong="a group without rows is protected together with others as if nobody were there",
        tests=(
            "tests/unit/connectors/statements/test_decoding.py::test_groups_without_rows_are_apart_from_the_number_of_units_by_all_of_it",
        ),
    ),
    Mutant(
        row="D17",
        name="products-exchanged-like-given",
        path="connectors/planning/moments/products.py",
        before="        l2_squared = square * step**2\n",
        after="        l2_squared = self.given.l2_squared\n",
        wrong="two units are taken to be no further apart in their products than one is from none",
        tests=(
            "tests/unit/connectors/planning/moments/test_products.py::test_no_two_units_are_further_apart_than_is_derived",
        ),
    ),
    Mutant(
        row="D17",
        name="products-unscaled",
        path="connectors/statements/parts.py",
        before="    return sql.case((few, whole), otherwise=sql.minus(scaled, "
        "dialect.wide(plan.max_rows * most)))\n",
        after="    return whole\n",
        wrong="a unit with more rows than count moves the products by all of them",
        tests=(
            "tests/property/test_sensitivity_add_remove.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        row="D18",
        name="nodes-exchanged-like-given",
        path="connectors/planning/sensitivity.py",
        before="        return Norms(2 * given.l1, 2 * given.l2_squared, given.linf)\n",
        after="        return given\n",
        wrong="two units are taken to be no further apart in their bins than one is from none",
        tests=(
            "tests/property/test_sensitivity_replace.py::test_the_worst_two_persons_attain_every_norm",
        ),
    ),
    Mutant(
        row="D19",
        name="marginals-cells-apart",
        path="structures/marginals/lattice.py",
        before="        squares = max_cells * same + max_cells * (max_cells - 1) * nearest\n",
        after="        squares = max_cells * same\n",
        wrong="the cells of one unit are taken to move different numbers of each table",
        tests=(
            "tests/unit/structures/marginals/test_lattice.py::test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it",
        ),
    ),
    Mutant(
        row="D18",
        name="rows-of-bins-unbounded",
        path="connectors/statements/unit_bins.py",
        before="    part = sql.case((few, sql.column(_ROWS)), otherwise=spaced)\n",
        after="    part = sql.column(_ROWS)\n",
        wrong="a unit with more rows than count moves the counts of bins by all of them",
        tests=(
            "tests/property/test_sensitivity_add_remove.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        row="D19",
        name="marginals-replaced-like-removed",
        path="structures/marginals/lattice.py",
        before="        apart = 2 * (squares - max_cells**2 * min(products))\n",
        after="        apart = 2 * squares\n",
        wrong="two units are taken to move marginals at right angles to each other",
        tests=(
            "tests/unit/structures/marginals/test_lattice.py::test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it",
        ),
    ),
    Mutant(
        row="D19",
        name="marginals-rounded-apart",
        path="structures/marginals/tables.py",
        before="            turned[0] = smaller - turned[1:].sum(axis=0)\n",
        after="            turned[0] += 0 * smaller\n",
        wrong="each marginal is rounded by itself, so that they differ in the columns they share",
        tests=(
            "tests/unit/structures/marginals/test_tables.py::test_noisy_marginals_agree_to_the_last_digit",
        ),
    ),
    Mutant(
        row="D20",
        name="workload-cells-apart",
        path="structures/factorization/kronecker.py",
        before="        squares = max_cells * same + pairs * max(nearest, 0)\n",
        after="        squares = max_cells * same\n",
        wrong="the cells of one unit are taken to move different sums of the strategy",
        tests=(
            "tests/unit/structures/factorization/test_kronecker.py::test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it",
        ),
    ),
    Mutant(
        row="D20",
        name="workload-replaced-like-removed",
        path="structures/factorization/kronecker.py",
        before="max_rows**2 * max(squares, 2 * (squares - max_cells**2 * least))\n",
        after="max_rows**2 * squares\n",
        wrong="two units are taken to be no further apart in the sums than one is from none",
        tests=(
            "tests/unit/structures/factorization/test_kronecker.py::test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it",
        ),
    ),
    Mutant(
        row="D20",
        name="workload-combination-by-prime",
        path="structures/factorization/span.py",
        before="    return basis if not (whole @ basis).any() else _kernel(whole)\n",
        after="    return basis\n",
        wrong="rows that are combinations over a prime alone are taken for combinations",
        tests=(
            "tests/unit/structures/factorization/test_span.py::test_a_prime_that_takes_rows_for_combinations_decides_nothing",
        ),
    ),
    Mutant(
        row="D3",
        name="cells-cast-strictly",
        path="connectors/duckdb/dialect.py",
        before='    return sql.try_cast(_text(column), "DOUBLE")\n',
        after='    return sql.cast(_text(column), "DOUBLE")\n',
        wrong="a cell that is no number refuses the whole query",
        tests=(
            "tests/unit/connectors/duckdb/test_cell_independence.py::test_two_files_that_differ_in_one_persons_row_differ_in_the_answer_alone",
        ),
    ),
    Mutant(
        row="D3",
        name="error-with-its-text",
        path="http/access_log.py",
        before='        "error": f"{kind.__module__}.{kind.__qualname__}",\n',
        after='        "error": f"{kind.__module__}.{kind.__qualname__}",\n'
        '        "text": str(error),\n',
        wrong="the log has the text of an error, which may quote a cell",
        tests=(
            "tests/api/http/test_access_log.py::test_a_failure_is_logged_by_its_kind_and_place_without_its_text",
        ),
    ),
    Mutant(
        row="D5",
        name="mean-without-noise-of-count",
        path="services/noise/means.py",
        before="float(mechanism.granularity), ratios, CONFIDENCE)",
        after="float(mechanism.granularity), 0 * ratios, CONFIDENCE)",
        wrong="the interval of a mean forgets that the count is noisy as well",
        tests=(
            "tests/unit/services/noise/test_means.py::test_for_gaussian_noise_an_interval_is_fiellers",
        ),
    ),
    Mutant(
        row="D5",
        name="steps-of-noise-left-out",
        path="structures/noise_difference.py",
        before="    return np.asarray(wide + (1 + np.abs(slopes)) / 2 * step)\n",
        after="    return np.asarray(wide)\n",
        wrong="noise of few steps reaches further between two ratios than the interval says",
        tests=(
            "tests/unit/structures/test_noise_difference.py::test_noise_of_few_steps_reaches_no_further_at_any_ratio",
        ),
    ),
    Mutant(
        row="D2",
        name="another-statement-recorded",
        path="services/queries/charging/rows.py",
        before="        sql=None if statement is None else statement.text,\n",
        after="        sql=None if statement is None else statement.text.lower(),\n",
        wrong="a query records another text than the one that is run",
        tests=(
            "tests/unit/services/queries/test_recorded_statement.py::test_the_recorded_statement_is_the_one_that_is_run",
        ),
    ),
    Mutant(
        row="D2",
        name="statement-written-again",
        path="services/queries/recorded_statement.py",
        before="        statement = recorded(dataset, statement, query.sql, sources)\n",
        after="        pass\n",
        wrong="a level is raised with the SQL of this version, not with what was recorded",
        tests=(
            "tests/unit/services/queries/test_recorded_statement.py::test_a_level_that_is_read_again_runs_the_recorded_statement",
        ),
    ),
    Mutant(
        row="D2",
        name="read-at-another-sensitivity",
        path="services/queries/recorded_statement.py",
        before="        and Fraction(query.sensitivity_l1) == moved.l1\n",
        after="",
        wrong="data are read again under another sensitivity than was charged",
        tests=(
            "tests/unit/services/queries/test_recorded_statement.py::test_a_version_that_cannot_run_the_recorded_statement_reads_and_charges_nothing",
        ),
    ),
    Mutant(
        row="D6",
        name="other-files-opened",
        path="connectors/duckdb/source.py",
        before='    connection.execute("SET enable_external_access = false")\n',
        after="",
        wrong="a statement may open any file",
        tests=("tests/unit/connectors/duckdb/test_source.py::test_a_locked_connection_refuses",),
    ),
    Mutant(
        row="D6",
        name="transaction-that-writes",
        path="connectors/postgresql/session.py",
        before='"BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY"\n',
        after='"BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED"\n',
        wrong="a statement may write where a role may",
        tests=("tests/unit/connectors/postgresql/test_connector.py::test_no_statement_writes",),
    ),
    Mutant(
        row="D3",
        name="numerics-cast-strictly",
        path="connectors/postgresql/relations.py",
        before='        case "number" if kind == "numeric":\n',
        after='        case "number" if kind == "numerical":\n',
        wrong="a number that no double holds refuses the whole query",
        tests=(
            "tests/unit/connectors/postgresql/test_relations.py::test_a_numeric_is_its_nearest_double",
        ),
    ),
    Mutant(
        row="D7",
        name="versions-always-disjoint",
        path="services/ledger/version_chains.py",
        before="        if version.disjoint_units or not chains_so_far:\n",
        after="        if True:\n",
        wrong="what was lost in several versions does not add up",
        tests=(
            "tests/unit/services/ledger/test_version_chains.py::test_what_was_lost_in_several_versions_adds_up",
        ),
    ),
    Mutant(
        row="D12",
        name="empty-cells-not-counted",
        path="connectors/statements/template.py",
        before="    if plan.summand is not None and not plan.summand.categories:\n",
        after="    if plan.summand is not None:\n",
        wrong="rows whose cell is empty are left out of the share, and out of its count",
        tests=(
            "tests/unit/services/queries/test_category_checks.py::test_a_check_answers_with_a_share_and_its_interval_for_the_stated_epsilon",
        ),
    ),
    Mutant(
        row="D12",
        name="share-of-one-bound",
        path="connectors/planning/interpret.py",
        before="    return Summand(column_of(dataset, name), Fraction(1), 0, 1, categories)\n",
        after="    return Summand(column_of(dataset, name), Fraction(2), 0, 1, categories)\n",
        wrong="the share is charged on steps other than those that rows move it by",
        tests=(
            "tests/unit/services/queries/test_category_checks.py::test_it_is_charged_as_the_mean_of_zeros_and_ones",
        ),
    ),
    Mutant(
        row="D11",
        name="same-people-counted-apart",
        path="services/ledger/version_chains.py",
        before="    if dataset.people is None:\n        return versions_of",
        after="    if True:\n        return versions_of",
        wrong="what is lost in datasets of the same people does not add up",
        tests=(
            "tests/unit/services/exposure/test_same_people.py::test_what_was_lost_in_both_adds_up_once_it_is_declared",
        ),
    ),
    Mutant(
        row="D11",
        name="only-two-joined",
        path="services/datasets/population.py",
        before="    rows = [*of_same_people(session, dataset), *of_same_people(session, other)]\n",
        after="    rows = [dataset, other]\n",
        wrong="whoever was declared to be the same before is left behind",
        tests=(
            "tests/unit/services/datasets/test_population.py::test_three_are_one_group_in_whatever_order",
        ),
    ),
    Mutant(
        row="D11",
        name="versions-of-nobody",
        path="services/datasets/datasets.py",
        before="        dataset.people = before.people  #",
        after="        dataset.people = None  #",
        wrong="a later version is of other people",
        tests=(
            "tests/unit/services/exposure/test_same_people.py::test_versions_that_come_after_are_of_the_same_people",
        ),
    ),
    Mutant(
        row="D11",
        name="relations-mixed",
        path="services/datasets/population.py",
        before="        if spec.neighboring != theirs.neighboring:\n",
        after="        if False:\n",
        wrong="losses under two neighboring relations are added up",
        tests=(
            "tests/unit/services/datasets/test_population.py::test_what_cannot_be_added_up_is_refused",
        ),
    ),
    Mutant(
        row="D11",
        name="groups-not-audited",
        path="services/datasets/logged_datasets.py",
        before="        if shared != logged or alone & shared.keys():\n",
        after="        if alone & shared.keys():\n",
        wrong="an audit believes whatever groups there are",
        tests=(
            "tests/unit/services/exposure/test_same_people.py::test_an_audit_finds_what_was_taken_back_or_put_there",
        ),
    ),
    Mutant(
        row="D10",
        name="columns-of-one",
        path="connectors/planning/sensitivity.py",
        before="        return Norms(self.columns * most, self.columns * most**2, most)\n",
        after="        return Norms(most, most**2, most)\n",
        wrong="a unit that counts in several columns is charged as in one",
        tests=(
            "tests/property/test_sensitivity_together.py::test_the_worst_persons_attain_every_norm_of_counts_that_are_protected_together",
        ),
    ),
    Mutant(
        row="D10",
        name="exchanged-like-given",
        path="connectors/planning/sensitivity.py",
        before="        changes = (self.nodes.change(most + least, most - least) for least in"
        " (1, most))\n",
        after="        changes = (self.nodes.change(most, most - least) for least in (1, most))\n",
        wrong="two units that take each other's place differ by no more than one of them gives",
        tests=(
            "tests/property/test_sensitivity_together.py::test_the_worst_persons_attain_every_norm_of_counts_that_are_protected_together",
        ),
    ),
    Mutant(
        row="D15",
        name="any-version-of-an-object",
        path="connectors/storage/stores/bucket.py",
        before="            if self._item(result.meta) != item:\n",
        after="            if not self._item(result.meta):\n",
        wrong="another version of an object is read where the store ignores the condition",
        tests=(
            "tests/unit/connectors/storage/stores/test_bucket.py::test_a_store_that_ignores_the_condition_is_noticed",
        ),
    ),
    Mutant(
        row="D15",
        name="objects-not-compared-again",
        path="connectors/duckdb/lakes.py",
        before='            progress("checking that no object was changed meanwhile")\n'
        "            self._registered(dataset, key, fingerprint)\n",
        after='            progress("checking that no object was changed meanwhile")\n',
        wrong="an object that is added while others are read goes unnoticed",
        tests=(
            "tests/unit/connectors/duckdb/test_lakes.py::test_an_object_that_is_added_while_others_are_read_releases_nothing",
        ),
    ),
    Mutant(
        row="D15",
        name="tags-not-fingerprinted",
        path="connectors/storage/lake.py",
        before="[root + part.item.name, part.item.size, part.item.tag]",
        after="[root + part.item.name, part.item.size]",
        wrong="an object of the same size takes the place of a registered one",
        tests=(
            "tests/unit/connectors/storage/test_lake.py::test_objects_that_are_added_removed_renamed_or_replaced_are_a_change",
        ),
    ),
)
