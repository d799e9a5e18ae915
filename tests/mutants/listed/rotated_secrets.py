"""Provide faults of rotating the secrets that tokens, rows, files and leaves are digested under."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V57",
        name="token-never-moved",
        path="services/access/peppers.py",
        before="            row.pepper = secrets.newest\n",
        after="            row.pepper = stored.pepper\n",
        wrong="a token that is used is not known to rest on the newest pepper",
        tests=(
            "tests/unit/services/operations/test_secret_rotation.py::test_tokens_and_sessions_go_on_in_every_worker_and_tokens_move",
        ),
    ),
    Mutant(
        row="V57",
        name="resting-tokens-kept",
        path="services/operations/secret_rotation.py",
        before="        token_lineage.end_all(session, principal, resting, now)\n",
        after="        token_lineage.end_all(session, principal, [], now)\n",
        wrong="tokens under a destroyed pepper are still called valid",
        tests=(
            "tests/unit/services/operations/test_secret_rotation.py::test_tokens_that_rest_on_a_dropped_pepper_are_revoked_and_no_others",
        ),
    ),
    Mutant(
        row="V57",
        name="older-secrets-open",
        path="services/operations/secret_checks.py",
        before="    names = {name: _called(name, newest(kept, name)) for name in NAMES}\n",
        after="    names = {name: name for name in NAMES}\n",
        wrong="a server opens with secrets from before the rotation",
        tests=(
            "tests/unit/services/operations/test_secret_rotation.py::test_a_host_whose_secrets_are_older_says_so",
        ),
    ),
    Mutant(
        row="V57",
        name="pepper-kept-when-dropped",
        path="encryption/secrets.py",
        before="                peppers = {secrets.newest: secrets.peppers[secrets.newest]}\n",
        after="                peppers = dict(secrets.peppers)\n",
        wrong="a dropped pepper stays in the file",
        tests=(
            "tests/unit/services/operations/test_secret_rotation.py::test_a_digest_under_a_dropped_pepper_is_refused_whoever_put_it_back",
        ),
    ),
    Mutant(
        row="V58",
        name="earlier-row-key-believed",
        path="encryption/secrets.py",
        before="        return tuple(key for number, key in numbered if number >= self.rows)\n",
        after="        return tuple(key for number, key in numbered)\n",
        wrong="whoever has an earlier key signs rows",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_who_has_the_earlier_key_forges_no_row",
        ),
    ),
    Mutant(
        row="V58",
        name="altered-row-signed-anew",
        path="persistence/row_authentication_upgrade.py",
        before="        if any(is_signed(old, name, signed, values) for old in known)\n",
        after="        if known\n",
        wrong="a rotation signs what somebody altered",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_a_row_that_was_altered_before_stays_refused",
        ),
    ),
    Mutant(
        row="V58",
        name="witness-under-the-earlier-key",
        path="transparency_log/sights.py",
        before="for key in secrets.of_rows())\n",
        after='for key in reversed(secrets.every("values")))\n',
        wrong="whoever has an earlier key writes the witness",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_the_witness_is_under_the_new_key_alone",
        ),
    ),
    Mutant(
        row="V58",
        name="database-of-before-opened",
        path="services/operations/secret_checks.py",
        before="    if signed < secrets.rows:\n",
        after="    if signed < 0:\n",
        wrong="a database of before is served, and refused row by row",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_a_database_from_before_is_signed_anew_by_an_upgrade_and_by_nothing_else",
        ),
    ),
    Mutant(
        row="V58",
        name="twin-under-an-earlier-key",
        path="services/datasets/fingerprints.py",
        before="server.secrets.kept[FINGERPRINT].items()\n",
        after="list(server.secrets.kept[FINGERPRINT].items())[:1]\n",
        wrong="a file that was registered before the rotation cannot be compared",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_a_file_is_known_again_under_every_key_of_its_day",
        ),
    ),
    Mutant(
        row="V58",
        name="request-under-the-newest-key-alone",
        path="services/jobs/idempotency.py",
        before="for key in server.secrets.every(FINGERPRINT)\n    ]\n    for part in parts:\n",
        after="for key in server.secrets.every(FINGERPRINT)[:1]\n    ]\n    for part in parts:\n",
        wrong="a request that is sent again after a rotation is refused",
        tests=(
            "tests/unit/services/operations/test_digest_rotation.py::test_exact_values_and_requests_are_known_again",
        ),
    ),
)
