"""Provide faults that break claims of what a statement of SQL is read as (D)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

ROW: Final = "D23"
CONDITIONS: Final = "tests/unit/connectors/sql/test_conditions.py"
GROUPINGS: Final = "tests/unit/connectors/sql/test_groupings.py"
SETS: Final = "tests/unit/connectors/sql/sets/test_marginals.py"
MEANING: Final = "tests/property/sql/test_meaning.py::test_a_statement_means_what_its_text_means"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row=ROW,
        name="negation-dropped",
        path="connectors/sql/conditions.py",
        before="            return condition(inner.this, columns, opposite=not opposite)\n",
        after="            return condition(inner.this, columns, opposite=opposite)\n",
        wrong="NOT is read as if it was not there",
        tests=(f"{CONDITIONS}::test_conditions_become_entries",),
    ),
    Mutant(
        row=ROW,
        name="open-between",
        path="connectors/sql/conditions.py",
        before='(exp.GTE, node.args["low"]), (exp.LTE, node.args["high"])',
        after='(exp.GT, node.args["low"]), (exp.LT, node.args["high"])',
        wrong="the bounds of BETWEEN are left out",
        tests=(f"{CONDITIONS}::test_conditions_become_entries",),
    ),
    Mutant(
        row=ROW,
        name="year-that-begins-and-never-ends",
        path="connectors/sql/conditions.py",
        before='first if operator in {"<", ">="} else last)',
        after='first if operator != "<=" else last)',
        wrong="YEAR(day) > 2026 is read as a day after the first of 2026",
        tests=(f"{CONDITIONS}::test_two_spellings_of_a_condition_are_one_statistic",),
    ),
    Mutant(
        row=ROW,
        name="unknown-is-true",
        path="connectors/sql/conditions.py",
        before='    return _joined("any" if opposite else "all", [entry, known])\n',
        after="    return entry\n",
        wrong="IS NOT TRUE leaves out the rows of which a condition is unknown",
        tests=(f"{CONDITIONS}::test_two_spellings_of_a_condition_are_one_statistic",),
    ),
    Mutant(
        row=ROW,
        name="counts-of-any-condition",
        path="connectors/sql/statistics.py",
        before="        joined = exp.And(this=joined, expression=each)\n",
        after="        joined = exp.Or(this=joined, expression=each)\n",
        wrong="a count beside another counts rows that meet one of its conditions",
        tests=(
            "tests/unit/connectors/sql/test_statistics.py::test_counts_of_different_rows_are_sums_of_ones",
        ),
    ),
    Mutant(
        row=ROW,
        name="bins-that-end-at-the-bound",
        path="connectors/sql/groupings.py",
        before="_edges(first * width, width, last + 1 - first)",
        after="_edges(first * width, width, last - first)",
        wrong="FLOOR(x / w) leaves the rows at the upper bound out",
        tests=(
            "tests/unit/connectors/sql/test_synonyms.py::test_bins_of_one_width_reach_beyond_the_bounds",
        ),
    ),
    Mutant(
        row=ROW,
        name="bins-with-a-further-condition",
        path="connectors/sql/groupings.py",
        before=" if entries == sides else None\n",
        after=" if entries[:2] == sides else None\n",
        wrong="conditions of a CASE beside the sides of its bins are passed over",
        tests=(
            "tests/unit/connectors/sql/test_groupings.py::test_a_case_with_a_further_condition_makes_no_bins",
        ),
    ),
    Mutant(
        row=ROW,
        name="or-of-opposites",
        path="connectors/sql/conditions.py",
        before="            every = (kind is exp.And) != opposite\n",
        after="            every = kind is exp.And\n",
        wrong="NOT (a OR b) is read as NOT a OR NOT b",
        tests=(f"{CONDITIONS}::test_conditions_become_entries",),
    ),
    Mutant(
        row=ROW,
        name="sides-exchanged",
        path="connectors/sql/conditions.py",
        before="        left, right, operator = right, left, _TURNED[operator]\n",
        after="        left, right = right, left\n",
        wrong="18 > age is read as age > 18",
        tests=(f"{CONDITIONS}::test_conditions_become_entries",),
    ),
    Mutant(
        row=ROW,
        name="upper-edge-of-a-bucket",
        path="connectors/sql/groupings.py",
        before="    return PlacedGrouping(node, bins, (PlacedEntry(node, end),))\n",
        after="    return PlacedGrouping(node, bins)\n",
        wrong="the last bucket of WIDTH_BUCKET holds its upper edge",
        tests=(f"{GROUPINGS}::test_width_bucket_leaves_its_upper_edge_out",),
    ),
    Mutant(
        row=ROW,
        name="bins-without-their-edge",
        path="connectors/sql/groupings.py",
        before="any(closed[:-1]) or not closed[-1]",
        after="any(closed[:-1])",
        wrong="a CASE that leaves the upper edge out is read as bins with it",
        tests=(f"{GROUPINGS}::test_a_case_that_names_other_ranges_is_a_derived_column",),
    ),
    Mutant(
        row=ROW,
        name="missing-cells-as-they-are",
        path="connectors/sql/names.py",
        before="        if missing is not None:\n",
        after="        if missing is None and not name:\n",
        wrong="a column is read with a stand-in that the statement does not name",
        tests=(
            "tests/unit/connectors/sql/test_names.py::test_what_stands_in_for_missing_cells_is_written",
        ),
    ),
    Mutant(
        row=ROW,
        name="other-parts-dropped",
        path="connectors/sql/grammar.py",
        before="            if name not in parts:\n",
        after="            if name not in parts and not parts:\n",
        wrong="parts of a statement that no spec says are dropped without a word",
        tests=(
            "tests/unit/connectors/sql/test_grammar.py::test_other_parts_are_refused_with_their_place",
        ),
    ),
    Mutant(
        row=ROW,
        name="difference-as-sum",
        path="connectors/sql/derivations.py",
        before='    return {"subtract": [each[0] if len(each)',
        after='    return {"add": [each[0] if len(each)',
        wrong="a difference is read as a sum",
        tests=(
            "tests/unit/connectors/sql/test_derivations.py::test_an_expression_is_a_derived_column",
        ),
    ),
    Mutant(
        row=ROW,
        name="any-condition-on-a-key-dropped",
        path="connectors/sql/marginals.py",
        before='    if entry.get("column") != other["column"] or entry["op"] != other["op"]:\n'
        "        return False\n",
        after='    if entry.get("column") == other["column"]:\n        return True\n',
        wrong="marginals leave out conditions that keep only some of the keys",
        tests=(f"{SETS}::test_only_conditions_that_the_keys_have_are_left_out",),
    ),
    Mutant(
        row=ROW,
        name="rows-outside-of-keys-unsaid",
        path="connectors/sql/marginals.py",
        before="            and not _is_within(each.grouping, columns, entries)\n",
        after="            and not entries\n",
        wrong="no note says which rows marginals leave out where any condition is written",
        tests=(f"{SETS}::test_what_counts_other_rows_than_sql_says_so",),
    ),
    Mutant(
        row=ROW,
        name="marginals-without-their-keys",
        path="connectors/sql/writing/statement.py",
        before="for entry in (*query.where, *keys)]",
        after="for entry in query.where]",
        wrong="marginals are shown as a statement that counts rows outside of the keys",
        tests=("tests/property/sql/test_marginals.py::test_marginals_are_what_plain_sql_counts",),
    ),
    Mutant(
        row=ROW,
        name="columns-before-sight",
        path="services/queries/sql/statements.py",
        before="    dataset = visible_dataset(session, principal, names.dataset)\n"
        "    return dataset if visible_below(session, principal) else"
        " charged_dataset(session, names)\n",
        after="    return charged_dataset(session, names)\n",
        wrong="the columns of a dataset are told to somebody who may not see it",
        tests=(
            "tests/unit/services/queries/sql/test_statements.py::test_a_dataset_out_of_sight_is_one_that_does_not_exist",
        ),
    ),
)
