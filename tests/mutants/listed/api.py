"""Provide faults of HTTP: roles, pace, cursors, limits, bodies and repeats."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

LIMITS: Final = "tests/api/http/counting/test_rate_limits.py"
PRESUMED: Final = "tests/api/http/test_presumed_callers.py"
PACE: Final = "tests/api/http/test_pacing.py"
REPEATS: Final = "tests/api/test_idempotency.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="operation-for-all-roles",
        path="api/blueprint.py",
        before="    if operation.policy.roles:\n        caller.require(*operation.policy.roles)\n",
        after="",
        wrong="an operation is called whatever the role, and bodies are read before that shows",
        tests=("tests/api/sight/test_roles_before_bodies.py",),
    ),
    Mutant(
        name="log-for-readers",
        path="api/routes/audit.py",
        before='@operations.get("/audit/events", AUDITOR)\n',
        after='@operations.get("/audit/events", SIGNED_IN)\n',
        wrong="the log is declared to be for anybody who is signed in",
        tests=(
            "tests/api/sight/test_roles.py::test_everybody_gets_what_their_role_and_clearance_allow",
            "tests/api/sight/test_roles.py::test_the_matrix_has_every_operation",
            "tests/api/test_openapi.py",
        ),
    ),
    Mutant(
        name="requests-not-limited",
        path="api/blueprint.py",
        before="    if not counted:\n        limits.request(caller.name)\n",
        after="",
        wrong="who has a token asks as often as they like",
        tests=(
            "tests/api/http/counting/test_rate_limits.py::test_a_principal_is_told_when_to_ask_again_and_others_are_not_held_up",
        ),
    ),
    Mutant(
        name="caller-presumed-and-not-confirmed",
        path="services/access/presumptions.py",
        before="    if known_in(server, glance) != (caller.stored, caller.user):\n",
        after="    if known_in(server, glance) is None:\n",
        wrong="a token that was revoked repeats releases",
        tests=(PRESUMED,),
    ),
    Mutant(
        name="caller-presumed-beyond-the-token",
        path="services/access/presumptions.py",
        before="    if not (is_valid(caller.stored, server.clock()) and caller.user.is_active):\n",
        after="    if not caller.user.is_active:\n",
        wrong="a token that expired repeats releases",
        tests=(PRESUMED,),
    ),
    Mutant(
        name="caller-presumed-by-the-prefix",
        path="services/access/presumptions.py",
        before="    if not peppers.is_genuine(secrets, stored, token):\n",
        after="    if not well_formed(token):\n",
        wrong="whoever knows the public beginning of a token repeats its user's releases",
        tests=(PRESUMED,),
    ),
    Mutant(
        name="caller-refused-before-they-are-confirmed",
        path="api/blueprint.py",
        before="    request.environ[edge.CALLER] = _signed_in(server, request, limits).name\n",
        after="    request.environ[edge.CALLER] = caller.user.name\n",
        wrong="a revoked token learns what is wrong with its request, and is not out at once",
        tests=(PRESUMED,),
    ),
    Mutant(
        name="questions-not-limited",
        path="api/blueprint.py",
        before="    if operation.question:\n",
        after="    if operation.question and operation.large_body:\n",
        wrong="an analyst sends requests and previews of streams as often as they like",
        tests=(
            "tests/api/http/counting/test_rate_limits.py::test_an_analyst_tries_so_many_questions_in_a_minute_and_admins_as_many_as_they_need",
        ),
    ),
    Mutant(
        name="made-up-answers-side-by-side",
        path="services/previews/dummy_answers.py",
        before="    with server.computing.alone(principal.name, patience):\n",
        after="    if patience >= 0:\n",
        wrong="one person has as many answers on made-up rows computed at once as they send",
        tests=(
            "tests/unit/services/previews/test_dummy_answers.py::test_each_person_has_one_answer_computed_at_a_time",
        ),
    ),
    Mutant(
        name="nested-lists-parsed",
        path="connectors/sql/limits.py",
        before="            if type_or_list and any(several):\n",
        after="            if type_or_list and len(several) > 23:\n",
        wrong="lists within lists take the parser twice as long for every level",
        tests=(
            "tests/unit/connectors/sql/test_limits.py::test_lists_within_lists_are_refused_before",
        ),
    ),
    Mutant(
        name="long-answer-kept-whole",
        path="http/answers.py",
        before="        if size > STREAMED:\n",
        after="        if size > STREAMED and block is None:\n",
        wrong="a worker holds the whole text of a long answer before it sends the first byte",
        tests=("tests/api/http/test_answers.py",),
    ),
    Mutant(
        name="parts-run-together",
        path="http/answers.py",
        before='            if start:\n                yield b","\n',
        after="",
        wrong="the last number of a part and the first of the next are one number",
        tests=("tests/api/http/test_answers.py",),
    ),
    Mutant(
        name="bucket-with-one-more",
        path="http/counting/rate_limits.py",
        before="        wait = full_at + 1 / allowance.rate - now"
        " - allowance.burst / allowance.rate\n",
        after="        wait = full_at - now - allowance.burst / allowance.rate\n",
        wrong="a bucket gives one request more than its burst",
        tests=(
            "tests/api/http/counting/test_rate_limits.py::test_a_bucket_gives_a_burst_and_then_what_its_rate_allows",
        ),
    ),
    Mutant(
        name="seconds-not-limited",
        path="http/counting/rate_limits.py",
        before="        self._require_seconds(used)\n",
        after="",
        wrong="who has used up a processor goes on asking",
        tests=("tests/api/http/counting/test_computation_turns.py",),
    ),
    Mutant(
        name="values-cross",
        path="services/computations/wire.py",
        before="        document |= value.stand_ins\n",
        after="        document |= {name: getattr(value, name) for name in value.stand_ins}\n",
        wrong="exact values are written to the processes that compute",
        tests=(
            "tests/unit/services/computations/test_pooled.py::test_exact_values_and_keys_do_not_cross",
        ),
    ),
    Mutant(
        name="answers-of-everybody",
        path="services/computations/pooled.py",
        before="answer = self._answers.find(person, job, question)",
        after='person, answer = "all", self._answers.find("all", job, question)',
        wrong="who asks what somebody else asked is answered sooner",
        tests=(
            "tests/unit/services/computations/test_pooled.py::test_the_same_is_worked_out_once_for_each_person",
        ),
    ),
    Mutant(
        name="remembered-for-the-next",
        path="computing/child.py",
        before='        if request["fresh"]:\n            module.forget()\n',
        after="",
        wrong="a process that computes answers a person sooner what the one before asked",
        tests=(
            "tests/unit/computing/test_pool.py::test_nothing_is_remembered_from_one_person_to_the_next",
        ),
    ),
    Mutant(
        name="address-of-one-host",
        path="http/counting/rate_limits.py",
        before="ipaddress.ip_network((ip, 64), strict=False)",
        after="ipaddress.ip_network((ip, 128), strict=False)",
        wrong="one household tries tokens from as many IPv6 addresses as it likes",
        tests=(
            "tests/api/http/counting/test_rate_limits.py::test_addresses_are_counted_as_those_who_have_them",
        ),
    ),
    Mutant(
        name="refusal-without-pace",
        path="http/pacing.py",
        before="REFUSALS = frozenset({401, 403, 404, 409, 429})\n",
        after="REFUSALS = frozenset({401, 403, 409, 429})\n",
        wrong="the clock tells what does not exist from what is out of sight",
        tests=("tests/api/http/test_pacing.py::test_every_status_that_hides_a_reason_is_paced",),
    ),
    Mutant(
        name="pace-of-the-wall-clock",
        path="http/pacing.py",
        before="        until = since + unit * max(1, math.ceil((self.clock() - since) / unit))\n",
        after="        until = unit * math.ceil(self.clock() / unit)\n",
        wrong="answers go out at multiples of absolute time, whose phase a caller chooses",
        tests=(
            "tests/api/http/test_pacing.py::test_the_pace_is_measured_from_each_request_and_not_from_a_common_clock",
            "tests/api/http/test_pacing.py::test_an_answer_waits_for_the_next_multiple",
        ),
    ),
    Mutant(
        name="first-release-without-pace",
        path="api/routes/releases.py",
        before="    if answer.first:\n",
        after="    if not answer.first:\n",
        wrong="the clock tells whether a level was drawn or found",
        tests=(
            "tests/api/http/test_pacing.py::test_each_first_grant_waits_once_and_no_repeat_does",
        ),
    ),
    Mutant(
        name="cursor-tells-its-length",
        path="http/cursors.py",
        before="sealed = cipher.encrypt(cursor.encode().ljust(_SIZE), [path.encode()])",
        after="sealed = cipher.encrypt(cursor.encode(), [path.encode()])",
        wrong="the length of a cursor tells how many rows others have",
        tests=("tests/api/http/test_cursors.py",),
    ),
    Mutant(
        name="cursor-of-any-list",
        path="http/cursors.py",
        before="""\
        sealed = cipher.encrypt(cursor.encode().ljust(_SIZE), [path.encode()])
        return _written(sealed)

    def open(self, path: str, sealed: str) -> str:
        \"\"\"Return the cursor inside.  Raises ``InvalidInput`` unless this list issued it.\"\"\"
        try:
""",
        after="""\
        sealed = cipher.encrypt(cursor.encode().ljust(_SIZE), [b"/"])
        return _written(sealed)

    def open(self, path: str, sealed: str) -> str:
        \"\"\"Return the cursor inside.  Raises ``InvalidInput`` unless this list issued it.\"\"\"
        path = "/"
        try:
""",
        wrong="a cursor of one list is taken by another",
        tests=("tests/api/http/test_cursors.py",),
    ),
    Mutant(
        name="body-cut-off",
        path="api/bodies.py",
        before="    expected = limit + 1 if declared is None else declared\n",
        after="    expected = limit if declared is None else declared\n",
        wrong="a chunked body that is too large is cut off in place of refused",
        tests=("tests/api/test_bodies.py::test_a_chunked_body_is_read_and_bounded",),
    ),
    Mutant(
        name="token-in-a-repeat",
        path="api/idempotency.py",
        before='            return {"token": None}\n',
        after="            return {}\n",
        wrong="the secret of a token is stored, and shown again",
        tests=("tests/api/test_idempotency.py::test_what_is_kept_holds_neither_values_nor_tokens",),
    ),
    Mutant(
        name="refusal-kept-for-repeats",
        path="api/idempotency.py",
        before="        idempotency.give_up(server, begun)\n        raise\n",
        after="        raise\n",
        wrong="a request that was refused cannot be sent again under its key",
        tests=(
            "tests/api/test_idempotency.py::test_a_refusal_is_not_kept_so_that_the_request_may_be_sent_again",
        ),
    ),
    Mutant(
        row="V82",
        name="trial-on-the-data",
        path="connectors/dummy_answers.py",
        before="            locate_path(path),\n            tuple(dataset.columns),\n",
        after="            locate_path(Path(dataset.source.uri or path)),\n"
        "            tuple(dataset.columns),\n",
        wrong="a query is tried on the data instead of made-up rows",
        tests=(
            (
                "tests/unit/services/previews/test_dummy_answers.py"
                "::test_the_answer_is_that_of_made_up_rows_whatever_is_in_the_file"
            ),
        ),
    ),
)
