"""Why a store did not answer is said in words of our own."""

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, PreconditionError

from penstock.connectors.storage.failures import Missing, Replaced, failure, translated
from penstock.errors import PenstockError, SourceChanged, Unavailable

SECRET = "X-Amz-Signature=hush"


@pytest.mark.parametrize(
    ("problem", "kind", "word"),
    [
        (FileNotFoundError(SECRET), Missing, ""),
        (GenericError(f"{SECRET} status code: 404 Not Found"), Missing, ""),
        (PreconditionError(SECRET), Replaced, ""),
        (PermissionDeniedError(f"{SECRET} status code: 403 Forbidden"), Unavailable, "(403)"),
        (GenericError(f"{SECRET} status code: 401 Unauthorized"), Unavailable, "(401)"),
        (GenericError(f"{SECRET} status code: 503 Slow Down"), Unavailable, "status 503"),
        (OSError(f"non-2xx status code\n   \x1b[31m↳\x1b[0m : 403 {SECRET}"), Unavailable, "(403)"),
        (GenericError(f"{SECRET} operation timed out"), Unavailable, "cannot be reached"),
        (ValueError(SECRET), Unavailable, "cannot be reached"),
    ],
)
def test_an_error_has_its_reason_and_nothing_that_the_store_wrote(
    problem: Exception, kind: type[PenstockError], word: str
) -> None:
    error = failure(problem, "The store of s3://lake/")
    assert type(error) is kind
    assert word in error.detail
    assert SECRET not in error.detail


def test_the_first_error_is_not_kept_as_the_cause() -> None:
    with pytest.raises(Unavailable) as raised, translated("The store"):
        raise GenericError(SECRET)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_errors_of_our_own_pass() -> None:
    with pytest.raises(SourceChanged), translated("The store"):
        raise SourceChanged("changed")
