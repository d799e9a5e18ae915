"""Provide faults that break claims of conditions, derived columns and joint sums (D)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

_FORMULAS: Final = "tests/unit/connectors/formulas/"
_OTHER_WORDS: Final = "tests/unit/services/requests/test_other_words.py"
_SIMPLEST: Final = "tests/property/conditions/test_simplest.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="D21",
        name="opposite-of-any-is-any",
        path="connectors/formulas/normal_form.py",
        before='                joining: Joining = "all" if opposite else "any"\n',
        after='                joining: Joining = "any"\n',
        wrong="a row is kept by the opposite of a condition of which another part holds",
        tests=(
            f"{_FORMULAS}test_normal_form.py::test_the_rows_that_are_kept_are_those_of_plain_duckdb",
        ),
    ),
    Mutant(
        row="D21",
        name="products-bounded-by-their-ends",
        path="connectors/formulas/arithmetic.py",
        before="    return min(products), max(products)\n",
        after="    return products[0], products[-1]\n",
        wrong="a product of negative numbers is beyond its bounds",
        tests=(f"{_FORMULAS}test_arithmetic.py::test_every_value_is_within_its_bounds",),
    ),
    Mutant(
        row="D21",
        name="products-of-parts-unbounded",
        path="connectors/formulas/arithmetic.py",
        before="        reach = max(reach, computed.reach)\n",
        after="        pass\n",
        wrong="an engine overflows on the way to a product that is small because a factor is 0",
        tests=(f"{_FORMULAS}test_arithmetic.py::test_what_may_be_too_large_is_refused",),
    ),
    Mutant(
        row="D21",
        name="cells-uncut",
        path="connectors/statements/formulas.py",
        before="    return sql.case(*cases, otherwise=cell_of(value.column))\n",
        after="    return cell_of(value.column)\n",
        wrong="a column is computed from cells beyond the bounds that its own bounds follow from",
        tests=(
            f"{_FORMULAS}test_derived_columns.py::test_derived_columns_are_those_of_plain_duckdb",
        ),
    ),
    Mutant(
        row="D21",
        name="derived-by-name",
        path="connectors/formulas/arithmetic.py",
        before='        return "\\t" + json.dumps(self.computed.spelled, ensure_ascii=False)\n',
        after="        return self.name\n",
        wrong="two statistics are taken for one because their derived columns have one name",
        tests=(
            f"{_FORMULAS}test_derived_columns.py::test_the_hash_is_that_of_the_expression_and_not_of_its_name",
        ),
    ),
    Mutant(
        row="D22",
        name="sums-exchanged-like-given",
        path="connectors/planning/moments/products.py",
        before="                    *((self.max_rows + least) * weight * self.grid"
        " for weight in sums),\n",
        after="                    *(self.max_rows * weight * self.grid for weight in sums),\n",
        wrong="two units are taken to be no further apart in their sums than one is from none",
        tests=(
            "tests/unit/connectors/planning/moments/test_products.py::test_the_norms_of_sums_are_exact",
        ),
    ),
    Mutant(
        row="D22",
        name="count-without-its-weight",
        path="connectors/statements/parts.py",
        before="        return sql.times(dialect.wide(most), _counted(plan))\n",
        after="        return sql.times(dialect.wide(2 * most), _counted(plan))\n",
        wrong="a row moves the count twice as far as the sums beside it",
        tests=(
            "tests/property/test_sensitivity_add_remove.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        row="D4",
        name="numbers-have-a-next-one",
        path="connectors/formulas/value_sets.py",
        before='frozenset({"integer", "date"})',
        after='frozenset({"integer", "date", "number"})',
        wrong="cost > 0 and cost >= 1 are one statistic, of which the second is never answered",
        tests=(f"{_SIMPLEST}::test_the_simplest_form_selects_the_same_rows",),
    ),
    Mutant(
        row="D4",
        name="missing-cells-are-unequal",
        path="connectors/formulas/simplest.py",
        before="            own = _Cells(value_sets.opposite(listed), missing=False)\n",
        after="            own = _Cells(value_sets.opposite(listed), missing=True)\n",
        wrong="urgent <> TRUE is one statistic with urgent IS DISTINCT FROM TRUE",
        tests=(f"{_SIMPLEST}::test_the_simplest_form_selects_the_same_rows",),
    ),
    Mutant(
        row="D4",
        name="cut-like-any-sum",
        path="connectors/formulas/simplest_plan.py",
        before="    if cut is not None and cut.lowest <= lowest and cut.highest >= highest:\n",
        after="    if cut is not None:\n",
        wrong="the sum of cells that are cut at 3 is one statistic with that of cells cut at 5",
        tests=(f"{_SIMPLEST}::test_the_simplest_form_selects_the_same_rows",),
    ),
    Mutant(
        row="D4",
        name="each-left-out-because-of-the-other",
        path="connectors/formulas/simplest.py",
        before="known if isinstance(each, DerivedColumn) else implied)",
        after="implied)",
        wrong="of two sums that have to be there, each is left out since the other one is there",
        tests=(f"{_SIMPLEST}::test_the_simplest_form_selects_the_same_rows",),
    ),
    Mutant(
        row="D4",
        name="earlier-statistics-not-looked-for",
        path="services/queries/exact_answers.py",
        before="return prepared if stored is None else replace(prepared, canonical_hash=stored)",
        after="return prepared",
        wrong="what an earlier version stored is drawn once more in other words",
        tests=(f"{_OTHER_WORDS}::test_a_statistic_of_an_earlier_version_is_found_in_other_words",),
    ),
)
