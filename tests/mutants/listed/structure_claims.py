"""Faults that break claims of sparse histograms and running sums (H, T)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="H2",
        name="false-keys-of-one-level-charged",
        path="structures/sparse_histogram/charges.py",
        before="    return inflation * levels * (expected * error + count)\n",
        after="    return inflation * (expected * error + count)\n",
        wrong="the false keys of one level are charged, whatever the number of levels",
        tests=(
            "tests/unit/structures/sparse_histogram/test_histogram_charges.py::test_false_keys_are_charged_their_relative_error_at_every_level",
        ),
    ),
    Mutant(
        row="H3",
        name="report-by-size",
        path="structures/sparse_histogram/contents.py",
        before="    above = steps > threshold\n",
        after="    above = np.flatnonzero(steps > threshold)\n"
        '    above = above[np.argsort(-steps[above], kind="stable")]\n',
        wrong="the keys of a report come with the largest first",
        tests=(
            "tests/unit/structures/sparse_histogram/test_sparse_histogram.py::test_keys_are_handed_out_in_the_order_of_the_domain",
        ),
    ),
    Mutant(
        row="H4",
        name="state-as-long-as-it-is",
        path="structures/sparse_histogram/state.py",
        before='    return content.ljust(1 << (len(content) - 1).bit_length(), b"\\0")\n',
        after="    return content\n",
        wrong="the length of a state tells how many keys there are",
        tests=(
            "tests/unit/structures/sparse_histogram/test_sparse_histogram.py::test_whoever_reloads_before_every_release_draws_the_same",
        ),
    ),
)
