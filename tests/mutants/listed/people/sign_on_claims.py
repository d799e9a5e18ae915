"""Provide faults that break claims of sign-in at the provider (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

ACCOUNTS: Final = "tests/unit/services/sign_on/test_accounts.py"
RIGHTS: Final = "tests/unit/services/sign_on/test_rights.py"
LOG_OUTS: Final = "tests/unit/services/sign_on/test_log_outs.py"
HOSTILE: Final = "tests/web/sign_on/test_hostile_sign_on.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V88",
        name="ceiling-forgotten",
        path="services/sign_on/accounts.py",
        before="    tier = below_ceiling(session, user, rights.tier)\n",
        after="    tier = rights.tier\n",
        wrong="groups raise a user above the clearance that an admin set",
        tests=(f"{RIGHTS}::test_the_clearance_that_an_admin_set_is_a_ceiling",),
    ),
    Mutant(
        row="V88",
        name="mapping-of-any-issuer",
        path="services/sign_on/mappings.py",
        before="_newest().where(_gives(), col(GroupMapping.issuer) == issuer)",
        after="_newest().where(_gives(), issuer == issuer)",
        wrong="a group of another provider gives what was mapped for this one's",
        tests=(f"{RIGHTS}::test_groups_of_another_issuer_give_nothing",),
    ),
    Mutant(
        row="V88",
        name="admin-mapped-alone",
        path="services/sign_on/rights.py",
        before='            given.discard("admin")\n',
        after="            pass\n",
        wrong="under the two-person rule an admin's earlier mapping makes admins",
        tests=(f"{RIGHTS}::test_under_the_two_person_rule_the_operator_alone_maps_to_admin",),
    ),
    Mutant(
        row="V88",
        name="roles-of-groups-alone",
        path="services/sign_on/accounts.py",
        before="    roles = rights.roles if follows else rights.roles & own\n",
        after="    roles = rights.roles\n",
        wrong="groups give a session roles that the admin did not give the user",
        tests=(f"{ACCOUNTS}::test_the_roles_that_an_admin_set_are_a_ceiling",),
    ),
    Mutant(
        row="V89",
        name="nonce-unchecked",
        path="openid/relying_party.py",
        before='            nonce={"essential": True, "value": attempt.nonce},\n',
        after="",
        wrong="an ID token of another attempt signs in",
        tests=(f"{HOSTILE}::test_the_claims_must_be_right",),
    ),
    Mutant(
        row="V89",
        name="answer-twice",
        path="services/sign_on/flow.py",
        before='    if not used_once.use(server, "sign-on", attempt.state, begun + LIFE):\n'
        "        raise refusal()\n",
        after="",
        wrong="an answer with another code is taken for an attempt that was finished",
        tests=(f"{HOSTILE}::test_an_answer_counts_once",),
    ),
    Mutant(
        row="V89",
        name="account-by-name",
        path="services/sign_on/accounts.py",
        before="    if user is not None and account_of(session, user) is not None:\n"
        "        raise _unknown(account)\n",
        after="",
        wrong="whoever is given somebody's name at the provider is signed in as them",
        tests=(f"{ACCOUNTS}::test_a_new_name_that_is_or_looks_like_anothers_is_refused",),
    ),
    Mutant(
        row="V90",
        name="notice-twice",
        path="services/sign_on/log_outs.py",
        before='    if not used_once.use(server, "log-out", notice.name, until):\n'
        "        raise _refusal()\n",
        after="    _ = until\n",
        wrong="a notice that was used ends the sessions that began since",
        tests=(f"{LOG_OUTS}::test_a_notice_counts_once",),
    ),
    Mutant(
        row="V90",
        name="nameless-session-stays",
        path="services/sign_on/log_outs.py",
        before="same if notice.subject is None else same | there.is_(None)",
        after="same",
        wrong="a session that names none of the provider's stays when its account's ended",
        tests=(f"{LOG_OUTS}::test_all_sessions_of_an_account_end_or_the_one_that_is_named",),
    ),
    Mutant(
        row="V90",
        name="id-token-ends-sessions",
        path="openid/relying_party.py",
        before='        if "nonce" in claims or not _is_text(name, LONGEST_SUBJECT):\n',
        after="        if not _is_text(name, LONGEST_SUBJECT):\n",
        wrong="a token with a nonce, as ID tokens have, ends sessions",
        tests=(f"{LOG_OUTS}::test_no_other_token_ends_a_session",),
    ),
)
