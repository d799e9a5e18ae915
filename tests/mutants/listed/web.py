"""Provide faults of the pages: who may send a form, what is shown to whom, and what it says."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="form-without-origin",
        path="web/http/csrf.py",
        before="        if sent == self._own:\n",
        after="        if not sent or sent == self._own:\n",
        wrong="a form that does not say where it comes from is taken",
        tests=("tests/web/http/test_csrf.py::test_a_form_from_elsewhere_is_refused",),
    ),
    Mutant(
        name="form-from-another-port",
        path="web/http/csrf.py",
        before="        if self._here and parts.netloc == host.lower()"
        ' and _is_loopback(parts.hostname or ""):\n',
        after='        if self._here and _is_loopback(parts.hostname or ""):\n',
        wrong="another server of the same machine sends forms of ours",
        tests=("tests/web/http/test_csrf.py::test_a_form_from_elsewhere_is_refused",),
    ),
    Mutant(
        name="form-from-anywhere",
        path="web/http/blueprint.py",
        before='            origin.require(request.headers.get("Origin"), request.host)\n',
        after="",
        wrong="any site sends forms of ours in somebody's name",
        tests=("tests/web/http/test_csrf.py::test_a_form_from_elsewhere_is_refused",),
    ),
    Mutant(
        name="form-without-its-key",
        path="web/http/blueprint.py",
        before="    if not (visit.secret and sessions.is_form_key("
        "visit.server, visit.secret, sent)):\n",
        after="    if sent and not sessions.is_form_key(visit.server, visit.secret, sent):\n",
        wrong="a form without the key of its session is taken",
        tests=("tests/web/http/test_csrf.py::test_a_form_without_the_sessions_key_is_refused",),
    ),
    Mutant(
        name="pages-for-all-roles",
        path="web/http/blueprint.py",
        before="    if page.policy.roles:\n        caller.require(*page.policy.roles)\n",
        after="",
        wrong="pages are shown, and forms are taken, whatever the role",
        tests=(
            "tests/web/every_page/test_roles.py::test_everybody_gets_what_their_role_and_clearance_allow",
        ),
    ),
    Mutant(
        name="menu-of-all-roles",
        path="web/http/blueprint.py",
        before="(not page.policy.roles or visit.may(*page.policy.roles))",
        after="(page.policy.roles or visit.may(*page.policy.roles))",
        wrong="the menu leads to pages that the caller may not see",
        tests=("tests/web/browser/test_troubles.py::test_pages_of_other_roles_say_whose_they_are",),
    ),
    Mutant(
        name="scripts-in-pages",
        path="web/http/blueprint.py",
        before="default-src 'none'; script-src 'self';",
        after="default-src 'none'; script-src 'self' 'unsafe-inline';",
        wrong="a script that got into a page runs",
        tests=("tests/web/every_page/test_contents.py::test_pages_are_guarded_and_kept_by_nobody",),
    ),
    Mutant(
        name="name-not-escaped",
        path="web/templates/shared/wordings.html",
        before="<bdi>{{ subject.title or subject.name }}</bdi>",
        after="<bdi>{{ (subject.title or subject.name) | safe }}</bdi>",
        wrong="the name of a query is markup on its page",
        tests=("tests/web/every_page/test_contents.py::test_names_are_text_wherever_they_stand",),
    ),
    Mutant(
        name="onward-to-another-site",
        path="web/http/csrf.py",
        before='path.startswith(f"{root}/") and not path.startswith(f"{root}//")',
        after='path.startswith(f"{root}/")',
        wrong="signing in leads on to another site",
        tests=("tests/web/views/analyst/test_sign_in.py::test_nobody_is_led_to_another_site",),
    ),
    Mutant(
        name="cookie-for-other-sites",
        path="web/views/analyst/sign_in.py",
        before="    response.set_cookie(COOKIE, session.secret, secure=True, httponly=True,"
        ' samesite="Strict")\n',
        after="    response.set_cookie(COOKIE, session.secret, secure=True, httponly=True,"
        ' samesite="Lax")\n',
        wrong="a link on another site opens a page in somebody's name",
        tests=(
            "tests/web/views/analyst/test_sign_in.py::test_the_cookie_is_for_this_host_and_no_script",
        ),
    ),
    Mutant(
        name="sign-in-without-end",
        path="web/views/analyst/sign_in.py",
        before='            visit.limits.failed_sign_in(request.remote_addr or "")\n',
        after="            visit.limits.request(token)\n",
        wrong="tokens are tried by the form as often as one likes",
        tests=(
            "tests/web/views/analyst/test_sign_in.py::test_failed_sign_ins_are_limited_as_bad_tokens_are",
        ),
    ),
    Mutant(
        name="sign-out-of-the-browser-alone",
        path="web/views/analyst/sign_in.py",
        before="    sessions.end(visit.server, visit.secret)\n",
        after="",
        wrong="a session that was signed out goes on for whoever has its cookie",
        tests=("tests/web/views/analyst/test_sign_in.py::test_signing_out_ends_the_session",),
    ),
    Mutant(
        name="once-whatever-the-page",
        path="web/http/idempotent_forms.py",
        before='idempotency.fingerprint(server, b"form", request.path.encode(), sent.encode())',
        after='idempotency.fingerprint(server, b"form", sent.encode())',
        wrong="a form's key does not hold it to its page",
        tests=(
            "tests/web/http/test_idempotent_forms.py::test_the_key_of_a_form_stands_for_what_was_sent_with_it_and_where",
        ),
    ),
    Mutant(
        name="once-after-a-refusal",
        path="web/http/idempotent_forms.py",
        before="        idempotency.give_up(server, begun)\n        raise\n",
        after="        raise\n",
        wrong="a form that was refused cannot be sent again when it was mended",
        tests=(
            "tests/web/views/people/test_tiers.py::test_a_form_that_cannot_be_meant_comes_again_with_what_was_typed",
            "tests/web/views/analyst/test_own_jobs.py::test_a_refusal_keeps_what_was_typed_and_may_be_mended",
            "tests/web/forms/test_query_kinds.py",
        ),
    ),
    Mutant(
        name="condition-said-wrongly",
        path="sentences/phrases.py",
        before='    ">=": "is at least",\n',
        after='    ">=": "is above",\n',
        wrong="a page says of a condition that it leaves its bound out",
        tests=("tests/web/presenters/test_spec_text.py",),
    ),
    Mutant(
        name="delta-not-said",
        path="web/presenters/template_filters.py",
        before='delta = f" at delta {figure(guarantee.delta)}" if guarantee.delta else ""',
        after='delta = f" at delta {figure(guarantee.delta)}" if guarantee.delta > 1e-3 else ""',
        wrong="a loss is said without the delta that it is at",
        tests=("tests/web/presenters/test_template_filters.py",),
    ),
    Mutant(
        name="together-as-if-independent",
        path="web/presenters/exposure_charts.py",
        before="        Loss(TOGETHER, bounded(exposure.released.epsilon)),\n",
        after="        Loss(TOGETHER, bounded(exposure.independent.epsilon)),\n",
        wrong="the chart of a coalition shows another loss than the coalition has",
        tests=("tests/web/presenters/test_exposure_charts.py",),
    ),
    Mutant(
        name="composed-at-other-tiers",
        path="web/views/data/new_query.py",
        before="        require_own(given, dataset.budgets)\n",
        after="",
        wrong="the form drops an analyst's levels of other tiers in silence",
        tests=(
            "tests/web/views/data/forms/test_composed_questions.py::test_levels_of_other_tiers_are_refused",
        ),
    ),
    Mutant(
        name="composed-from-own-numbers",
        path="web/views/data/new_query.py",
        before='            principal.require("admin")\n        dataset = ',
        after="            pass\n        dataset = ",
        wrong="the form previews numbers that an analyst brings",
        tests=(
            "tests/web/views/data/forms/test_composed_questions.py::test_numbers_of_ones_own_are_for_admins",
        ),
    ),
    Mutant(
        name="composed-without-count",
        path="web/views/data/new_query.py",
        before="        visit.question()\n        return _form_with_preview(",
        after="        return _form_with_preview(",
        wrong="the form previews more questions in a minute than an analyst may try",
        tests=(
            "tests/web/views/data/forms/test_composed_questions.py::test_who_tried_many_questions_in_a_minute_keeps_what_was_typed",
        ),
    ),
    Mutant(
        name="kept-form-for-everybody",
        path="web/http/kept_forms.py",
        before='    return f"{page} {visit.principal.name}"\n',
        after="    return page\n",
        wrong="whoever has the address of a previewed question opens it",
        tests=(
            "tests/web/views/analyst/test_questions.py::test_what_was_typed_is_at_an_address_that_tells_nothing_and_nobody_else_opens",
        ),
    ),
    Mutant(
        name="settled-for-one-of-several",
        path="services/requests/settled.py",
        before="    sees = all(rows.sees(",
        after="    sees = any(rows.sees(",
        wrong="a request is called settled though one who made it does not see the query",
        tests=(
            "tests/unit/services/requests/test_views.py::test_a_query_of_admins_that_one_of_two_sees_settles_nothing",
        ),
    ),
)
