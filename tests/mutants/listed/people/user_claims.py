"""Provide faults that break claims of users who are created together, or invited (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

ACCEPTED: Final = "tests/unit/services/sign_on/test_acceptance.py"
LISTS: Final = "tests/unit/services/people/test_user_lists.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V25",
        name="admins-listed-alone",
        path="services/people/user_lists.py",
        before='            require_operator(server, principal, "makes admins")\n',
        after="            pass\n",
        wrong="under the two-person rule an admin makes a second one by a list of users",
        tests=(f"{LISTS}::test_under_the_two_person_rule_only_the_operator_lists_admins",),
    ),
    Mutant(
        row="V91",
        name="invited-by-nobody",
        path="services/sign_on/acceptance.py",
        before="    able = inviter is None or (inviter.is_active and inviter.admin)\n",
        after="    able = True\n",
        wrong="the invitation of an admin who lost that role makes a user",
        tests=(f"{ACCEPTED}::test_it_does_not_count_once_its_admin_is_none",),
    ),
    Mutant(
        row="V91",
        name="any-code-of-the-prefix",
        path="services/sign_on/acceptance.py",
        before="    if row is None or not genuine:\n",
        after="    if row is None or genuine is None:\n",
        wrong="who knows the name of an invitation, which is listed, can accept it",
        tests=(f"{ACCEPTED}::test_every_other_code_has_one_refusal",),
    ),
    Mutant(
        row="V91",
        name="invitation-outlives-its-token",
        path="services/sign_on/acceptance.py",
        before="(parent is not None and not is_valid(parent, now))",
        after="False",
        wrong="an invitation that was made with a stolen token counts when that is revoked",
        tests=(f"{ACCEPTED}::test_it_ends_with_the_token_that_it_was_made_with",),
    ),
    Mutant(
        row="V91",
        name="invited-user-outlives-a-session",
        path="services/sign_on/acceptance.py",
        before="    return None if row.inviter_id is None else row.expires_at\n",
        after="    return None\n",
        wrong="who stole an admin's session at the provider invites themselves, and keeps a token",
        tests=(f"{ACCEPTED}::test_a_token_ends_with_the_providers_session_that_it_was_invited_in",),
    ),
    Mutant(
        row="V91",
        name="invitation-used-again",
        path="services/sign_on/acceptance.py",
        before='    if state == "accepted":\n',
        after='    if state == "accepted twice":\n',
        wrong="an accepted invitation is not refused for that",
        tests=(f"{ACCEPTED}::test_an_invitation_counts_once",),
    ),
)
