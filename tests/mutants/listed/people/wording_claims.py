"""Provide faults that break what is claimed of titles and other texts for readers (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

LOGGED: Final = "tests/unit/services/wordings/test_logged_wordings.py"
STORED: Final = "tests/unit/services/wordings/test_stored.py"
WORDINGS: Final = "tests/unit/services/wordings/test_wordings.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V94",
        name="title-in-the-spec",
        path="services/schemas/wordings/wordings.py",
        before="    title: Annotated[Title | None, Field(exclude=True)] = None\n",
        after="    title: Title | None = None\n",
        wrong="a statistic under another title is another statistic, drawn and charged again",
        tests=(f"{WORDINGS}::test_texts_are_in_no_spec_and_no_hash",),
    ),
    Mutant(
        row="V94",
        name="owners-tell-who-is-a-user",
        path="services/wordings/wordings.py",
        before='    if "admin" in principal.roles:\n',
        after="    if principal.roles:\n",
        wrong="an analyst finds out by the owners of a query who is a user",
        tests=(f"{WORDINGS}::test_analysts_name_only_themselves_and_learn_of_no_other_user",),
    ),
    Mutant(
        row="V94",
        name="wording-without-a-leaf",
        path="services/wordings/wordings.py",
        before="    record_wording(session, principal, subject, after, changed, now)\n",
        after="",
        wrong="a label that readers see beside a key changes without a trace",
        tests=(f"{LOGGED}::test_every_change_of_a_text_is_missed",),
    ),
    Mutant(
        row="V94",
        name="labels-without-their-dataset",
        path="services/wordings/stored.py",
        before="            col(TierBudget.tier_id) == limit.id,\n",
        after="",
        wrong="who sees a query without its dataset reads the labels that the dataset has",
        tests=(f"{STORED}::test_labels_of_a_dataset_are_shown_to_nobody_who_does_not_see_it",),
    ),
)
