"""Read the answers of a workload as values, which quantities are derived from like from others."""

from dataclasses import replace

from penstock_client._http.fields import Fields
from penstock_client._values.value_errors import ValueErrors
from penstock_client.errors import CovarianceUnknown, InvalidArgument
from penstock_client.models import ErrorBars
from penstock_client.release import Release

_NAME = "answer"
_STATED = "answers_covariance"


def answers(release: Release) -> Release:
    """Return a release of a workload with its answers as values, and their joint covariance.

    Answers are combinations of the sums that were released, and share their noise.  Pass what is
    returned to ``difference``, ``combination`` and the others; its keys are those of the answers.
    Raises ``InvalidArgument`` for a release of no workload, and ``CovarianceUnknown`` where the
    server does not state how much noise they share: a column may have too many queries for that.
    """
    shown = [each for each in release.estimates if each.name == _NAME]
    numbers = [
        (each.key, each.value, each.standard_deviation, each.upper - each.value)
        for each in shown
        if each.key is not None
        and each.value is not None
        and each.upper is not None
        and each.standard_deviation is not None
    ]
    if not numbers:
        raise InvalidArgument(
            f"{release.query!r} has no answers of a workload; combine its values themselves."
        )
    document = Fields(dict(release.answer), "release")
    if _STATED not in document.whole:
        raise CovarianceUnknown(
            f"The server does not state the covariance of the answers of {release.query!r}; combine"
            " the values themselves, whose noise is independent."
        )
    stated = document.child_or_none(_STATED)
    if stated is not None and stated.whole.get("factors") is None:
        raise CovarianceUnknown(stated.text("omitted"))
    keys, values, deviations, widths = zip(*numbers, strict=True)
    confidence, worst = release.error.confidence, deviations.index(max(deviations))
    joint = None if stated is None else {_NAME + "s": dict(stated.whole)}
    return replace(
        release,
        keys=keys,
        values=values,
        error=ErrorBars(deviations[worst], confidence, widths[worst]),
        errors=ValueErrors(confidence, deviations, widths),
        part=None,
        answer={**release.answer, "covariance": joint},
    )
