"""Provide faults of what people may do: by roles, tokens, sessions, and by two of them together."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

PEOPLE: Final = "tests/unit/services/people/test_users.py"
SESSIONS: Final = "tests/unit/services/access/test_sessions.py"
TWO: Final = "tests/unit/services/approvals/test_proposals.py"
TWO_BY_ROLES: Final = "tests/unit/services/approvals/test_two_persons_roles.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="approved-by-proposer",
        path="services/approvals/proposals.py",
        before="    if proposal.by in (principal.name, principal.actor):\n",
        after="    if proposal.by == principal.actor and principal.by is not None:\n",
        wrong="whoever proposed something approves it",
        tests=("tests/unit/services/approvals/test_proposals.py::test_the_operator_is_one_person",),
    ),
    Mutant(
        name="approved-in-another-name",
        path="services/approvals/proposals.py",
        before="    if proposal.by in (principal.name, principal.actor):\n",
        after="    if proposal.by == principal.name:\n",
        wrong="the operator approves, in an admin's name, what the operator proposed",
        tests=("tests/unit/services/approvals/test_proposals.py::test_the_operator_is_one_person",),
    ),
    Mutant(
        name="approved-for-a-former-admin",
        path="services/approvals/proposals.py",
        before="    if not _is_admin(session, proposal.by):\n",
        after="    if not _is_admin(session, principal.actor):\n",
        wrong="what was proposed by somebody who is no admin any more is done",
        tests=(
            "tests/unit/services/approvals/test_two_persons_roles.py::test_two_different_people_are_admins_when_it_is_done",
        ),
    ),
    Mutant(
        name="approved-for-another-state",
        path="services/approvals/proposals.py",
        before="            _require_same(session, server, act, proposal)\n",
        after="",
        wrong="a proposal is done though what it was meant for has changed",
        tests=(
            "tests/unit/services/approvals/test_proposals.py::test_only_what_was_proposed_is_approved",
        ),
    ),
    Mutant(
        name="approved-when-expired",
        path="services/approvals/proposals.py",
        before='undecided: State = "open" if proposal.expires_at > now else "expired"',
        after='undecided: State = "open" if proposal.expires_at >= proposal.at else "expired"',
        wrong="a proposal never expires",
        tests=(
            "tests/unit/services/approvals/test_proposals.py::test_a_proposal_expires_after_a_week",
        ),
    ),
    Mutant(
        name="tier-deleted-alone",
        path="services/people/tier_changes.py",
        before="        require_second(server)\n        return removed\n",
        after="        return removed\n",
        wrong="one admin alone deletes a tier under the two-person rule",
        tests=("tests/unit/services/approvals/test_proposals.py::test_no_way_leads_past_the_rule",),
        row="V25",
    ),
    Mutant(
        name="budget-raised-alone",
        path="services/budgets.py",
        before="        if largest(session, [dataset_by_name(session, name)]) > before:\n",
        after="        if largest(session, [dataset_by_name(session, name)]) < before:\n",
        wrong="one admin alone raises the largest budget under the two-person rule",
        tests=(
            "tests/unit/services/approvals/test_proposals.py::test_a_larger_top_budget_is_proposed_by_one_and_approved_by_another",
        ),
    ),
    Mutant(
        name="allowance-given-alone",
        path="services/datasets/allowances.py",
        before="    if before is None or account.epsilon > before.account.epsilon:\n",
        after="    if before is None or account.epsilon < before.account.epsilon:\n",
        wrong="one admin alone raises an allowance under the two-person rule",
        tests=(
            "tests/unit/services/approvals/test_proposed_allowances.py::test_an_allowance_that_permits_more_takes_two_people",
        ),
        row="V25",
    ),
    Mutant(
        name="admin-made-alone",
        path="services/people/users.py",
        before='            if "admin" in spec.roles and not user.admin:\n',
        after='            if "admin" in spec.roles and user.admin:\n',
        wrong="an admin makes another one, and so is two people",
        tests=(
            "tests/api/queries/test_two_persons.py::test_no_admin_makes_themselves_a_second_one",
        ),
    ),
    Mutant(
        name="token-for-another-admin",
        path="services/people/tokens.py",
        before='        if "admin" in scopes and user.id != principal.user_id:\n',
        after='        if "admin" in scopes and user.id == principal.user_id:\n',
        wrong="an admin takes a token of another admin, and so is two people",
        tests=(
            "tests/api/queries/test_two_persons.py::test_no_admin_makes_themselves_a_second_one",
        ),
    ),
    Mutant(
        name="token-wider-than-its-maker",
        path="services/people/tokens.py",
        before="        own_roles &= principal.roles\n",
        after="        pass\n",
        wrong="a token of few roles makes one of all roles of its user",
        tests=(
            "tests/unit/services/access/test_principals.py::test_scopes_narrow_a_token_and_never_widen_it",
        ),
    ),
    Mutant(
        name="token-outlasts-its-maker",
        path="services/people/token_lineage.py",
        before="    return principal.token_expires if parent is None else parent.expires_at\n",
        after="    return principal.token_expires if parent is None else None\n",
        wrong="a token of two seconds makes one of a year",
        tests=("tests/unit/services/people/test_token_lineage.py",),
    ),
    Mutant(
        name="token-not-revoked-with-its-maker",
        path="services/people/token_lineage.py",
        before="        gathered += ended\n",
        after="        gathered = gathered or list(ended)\n",
        wrong="what a token made with a token made goes on when the first is revoked",
        tests=("tests/unit/services/people/test_token_lineage.py",),
    ),
    Mutant(
        name="token-made-by-one-that-was-revoked-meanwhile",
        path="services/people/token_lineage.py",
        before="    if ended or (token is not None and not is_valid(token, now)):\n",
        after="    if ended:\n",
        wrong="who is revoked while they make a token has one more",
        tests=("tests/unit/services/people/test_token_lineage.py",),
    ),
    Mutant(
        name="one-token-too-many",
        path="services/people/tokens.py",
        before="    if len(live) >= most:\n",
        after="    if len(live) > most:\n",
        wrong="a user has one token more than the setting says",
        tests=("tests/unit/services/people/test_token_lineage.py",),
    ),
    Mutant(
        name="token-good-when-revoked",
        path="services/access/principals.py",
        before="    return token.revoked_at is None and token.expires_at > now\n",
        after="    return token.expires_at > now\n",
        wrong="a revoked token lets in",
        tests=(
            "tests/unit/services/access/test_principals.py::test_a_revoked_token_and_a_disabled_user_are_out_at_once",
        ),
    ),
    Mutant(
        name="token-known-by-its-prefix",
        path="services/access/peppers.py",
        before="    return key is not None"
        " and hmac.compare_digest(stored.digest, digest(key, token))\n",
        after="    return key is not None\n",
        wrong="the public beginning of a token lets in",
        tests=("tests/unit/services/access/test_token_format.py",),
    ),
    Mutant(
        name="scopes-not-carried",
        path="services/access/principals.py",
        before="roles if carried is None else roles & carried",
        after="roles if carried is None else roles | carried",
        wrong="a token carries roles that its user does not have",
        tests=(
            "tests/unit/services/access/test_principals.py::test_scopes_narrow_a_token_and_never_widen_it",
        ),
    ),
    Mutant(
        name="identity-of-a-disabled-user",
        path="services/access/principals.py",
        before="    if user.name != identity.user or not user.is_active:\n",
        after="    if user.name != identity.user:\n",
        wrong="a token of the OpenID provider lets in who is shut out here",
        tests=("tests/api/openid/test_issuer.py::test_a_disabled_user_is_refused",),
    ),
    Mutant(
        name="session-never-idle",
        path="services/access/sessions.py",
        before="now < stored.expires_at and now < stored.seen_at + idle and",
        after="now < stored.expires_at and",
        wrong="a session without requests never ends by itself",
        tests=("tests/unit/services/access/test_sessions.py::test_an_idle_session_ends",),
    ),
    Mutant(
        name="session-outlives-its-token",
        path="services/access/sessions.py",
        before="        ends = min(ends, principal.token_expires)\n",
        after="        ends = max(ends, principal.token_expires)\n",
        wrong="a session lives as long as the longest of the two",
        tests=("tests/unit/services/access/test_sessions.py::test_a_session_outlives_no_token",),
    ),
    Mutant(
        name="session-of-a-revoked-token",
        path="services/access/sessions.py",
        before="        alive = alive and is_valid(token, now)\n",
        after="        alive = alive and token.expires_at > now\n",
        wrong="a session goes on when its token was revoked",
        tests=("tests/unit/services/access/test_sessions.py::test_a_session_ends_with_its_token",),
    ),
    Mutant(
        name="session-key-of-all",
        path="services/access/sessions.py",
        before='    return [mac.hex() for mac in _macs(server, b"penstock form\\0", secret)]\n',
        after='    return [mac.hex() for mac in _macs(server, b"penstock form\\0", "")]\n',
        wrong="the forms of all sessions carry one key",
        tests=(
            "tests/unit/services/access/test_sessions.py::test_each_session_has_a_key_of_its_own_for_forms",
        ),
    ),
    Mutant(
        name="repeat-of-another-user",
        path="services/jobs/idempotency.py",
        before="            col(Idempotency.user_id) == principal.user_id,"
        " col(Idempotency.key) == key\n",
        after="            col(Idempotency.key) == key\n",
        wrong="an idempotency key of somebody else is answered",
        tests=(
            "tests/api/test_idempotency.py::test_a_key_of_one_user_is_free_for_another",
            "tests/api/test_idempotency.py::test_a_key_belongs_to_one_user_and_lives_for_a_day",
        ),
    ),
    Mutant(
        name="repeat-with-another-request",
        path="services/jobs/idempotency.py",
        before="        if row is not None and not _is_same(row, request):\n",
        after="        if row is not None and row.status is None and row.request != request:\n",
        wrong="a key that came with another request is answered as if it were the same",
        tests=("tests/api/test_idempotency.py::test_one_key_with_another_body_is_refused",),
    ),
    Mutant(
        name="repeat-beside-the-first",
        path="services/jobs/idempotency.py",
        before="        if row is not None and row.started_at > now - ABANDONED:\n",
        after="        if row is not None and row.started_at > now + ABANDONED:\n",
        wrong="a request is done twice at once under one key",
        tests=(
            "tests/api/test_idempotency.py::test_a_request_that_is_still_worked_on_is_told_so_and_an_abandoned_one_is_done",
        ),
    ),
    Mutant(
        name="decision-after-the-charge",
        row="V85",
        path="services/queries/registration.py",
        before="        also(session, query)\n        own = settle(",
        after="    with server.database.write() as session:\n"
        "        also(session, query)\n        own = settle(",
        wrong="a decision is stored in another transaction than its charge",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_the_decision_is_stored_with_the_charge_or_not_at_all",
        ),
    ),
    Mutant(
        name="own-request-approved",
        row="V85",
        path="services/requests/decisions.py",
        before="if server.settings.two_person_rule and any(",
        after="if not server.settings.two_person_rule and any(",
        wrong="an admin approves a request of their own under the two-person rule",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_under_the_two_person_rule_nobody_approves_their_own_request",
        ),
    ),
    Mutant(
        name="asker-not-among-registrars",
        row="V85",
        path="services/exposure/exposure.py",
        before=" | _askers(session, seen)",
        after="",
        wrong="what those had read who requested a query is not counted",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_askers_count_among_those_who_chose_what_a_tier_may_see",
        ),
    ),
    Mutant(
        name="withdrawn-request-registered",
        row="V85",
        path="services/requests/decisions.py",
        before="if all(each.id != asker.id for each in askers):",
        after="if not askers:",
        wrong="what somebody withdrew while an admin approved it is registered",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_what_is_withdrawn_while_it_is_approved_is_not_registered",
        ),
    ),
    Mutant(
        name="request-for-another-statistic",
        row="V85",
        path="services/requests/decisions.py",
        before="if query.canonical_hash != state.request.canonical_hash:",
        after="if not query.canonical_hash:",
        wrong="an approval registers another statistic than was requested",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_a_request_under_a_former_declaration_is_refused",
        ),
    ),
    Mutant(
        name="requests-not-held-to-the-log",
        row="V85",
        path="services/requests/logged_requests.py",
        before="if _stored(session) != logged:",
        after="if _stored(session).keys() != logged.keys():",
        wrong="an audit misses a decision that was removed",
        tests=(
            "tests/unit/services/requests/test_logged_requests.py::test_what_was_changed_outside_of_the_server_is_named",
        ),
    ),
    Mutant(
        name="request-led-to-a-hidden-query",
        row="V86",
        path="services/requests/asking.py",
        before="same = rows.same_statistic(session, canonical_hash, limit)",
        after="same = rows.same_statistic(session, canonical_hash)",
        wrong="a request tells that a hidden query is the same",
        tests=(
            "tests/unit/services/requests/test_asking.py::test_a_request_that_equals_a_hidden_query_is_answered_as_if_there_were_none",
        ),
    ),
    Mutant(
        name="requests-of-others-shown",
        row="V86",
        path="services/requests/rows.py",
        before="or row.user_id == principal.user_id)",
        after="or row.user_id)",
        wrong="an analyst is shown the requests of others",
        tests=(
            "tests/unit/services/requests/test_asking.py::test_a_request_is_visible_to_its_sender_and_admins_alone",
        ),
    ),
    Mutant(
        name="equal-request-shown-in-place",
        row="V86",
        path="services/requests/views.py",
        before="elif asker is not None and (",
        after="elif asker is None and (",
        wrong="an admin is shown what somebody else sent who requested the same",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_what_the_person_sent_is_registered_whose_request_is_approved",
        ),
    ),
    Mutant(
        name="equal-requests-among-registrars",
        row="V86",
        path="services/exposure/exposure.py",
        before=".where(col(Asker.id).in_(approved))).all())",
        after=".where(col(Asker.request_id).in_(approved))).all())",
        wrong="a tier's exposure tells that somebody above requested what it sees",
        tests=(
            "tests/unit/services/requests/test_decisions.py::test_what_the_person_sent_is_registered_whose_request_is_approved",
        ),
    ),
    Mutant(
        name="comments-before-the-request",
        row="V86",
        path="services/requests/views.py",
        before=" & (col(RequestComment.at) >= asker.at)",
        after="",
        wrong="comments tell a second sender that there was a first",
        tests=(
            "tests/unit/services/requests/test_comments.py::test_askers_of_one_statistic_do_not_read_each_other_nor_what_came_before",
        ),
    ),
    Mutant(
        name="hidden-query-told-to-the-webhook",
        row="V87",
        path="services/webhook/messages.py",
        before="where(col(Query.id) == decision.query_id, in_sight(limit))",
        after="where(col(Query.id) == decision.query_id)",
        wrong="a message names a query that its requester does not see",
        tests=(
            "tests/unit/services/webhook/test_messages.py::test_a_message_holds_nothing_that_its_requester_is_not_shown",
        ),
    ),
    Mutant(
        name="tier-above-told-to-the-webhook",
        row="V87",
        path="services/webhook/messages.py",
        before=" and tier.rank <= limit.rank",
        after="",
        wrong="a message names a tier above its requester that has a level",
        tests=(
            "tests/unit/services/webhook/test_messages.py::test_a_tier_above_the_requester_is_not_named",
        ),
    ),
)
