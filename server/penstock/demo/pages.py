"""Print the story in words, for a person who knows nothing but this output."""

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Final

from penstock.demo.cast import TIERS
from penstock.demo.story import HEADLINE, Seen, Story
from penstock.figures import aligned

WIDTH: Final = 96
"""The width of prose in columns; no line is wider than 100."""

COUNTS: Final = {2: "two", 3: "three", 4: "four", 5: "five"}

_AGAIN = """\
(The home {home} was made by an earlier run, so nothing is drawn: every number is the one that was
handed out then. The tokens are new; older ones still work.)"""

_WHAT = """\
The data are yearly records of 5,912 people in the RAND Health Insurance Experiment, 1974 to 1982
(public domain). The question: how many of these people went to hospital in at least one year?
Penstock counted them once, blurred the count with random noise for its most trusted reader, and
forgot the exact count. Every less trusted reader is given that same number with more noise on
top."""

_FAR_OFF = """\
How far off may a number be? With probability {confidence:.0%} the true count lies in the interval
beside it. Epsilon is the privacy loss of the people in the data: whether or not the records of any
one of them are there, no answer is more than e^epsilon times as likely ({first_odds:.1f} times for
{first}, {best_odds:.1f} times for {best}), except for a chance of {delta:g} (delta). Smaller
protects
more, and blurs more."""

_TOGETHER = """\
Together they know what {best} knows alone: the other {others} numbers are hers with noise added,
and comparing them removes none of hers. Had each reader been answered with noise of their own, as
other systems do, they could average it away, and the same {count} accuracies would have cost every
person epsilon {independent} instead of {released}."""

_MORE = """\
(By now these readers were given {handed_out} releases of this number; both epsilons count all.)"""

_LATER = """\
What else do they know? They hold {release_count} releases of {queries} queries about these people:
together epsilon {released}, and {independent} had each been drawn independently. What could they
learn later? All that is registered, at their best levels: epsilon {could_be} together. Whatever
is registered from now on, they never get beyond the budget of the highest tier among them:
epsilon {reach} for {top}."""


def story(tale: Story, home: Path) -> str:
    """Say who saw what, its margin of error, and what the readers learned together."""
    count = COUNTS.get(len(tale.seen), str(len(tale.seen)))
    sections = [
        [f"PENSTOCK DEMO: one number, {count} readers, the privacy loss of one"],
        [filled(_AGAIN, home=home)] if tale.again else [],
        [filled(_WHAT)],
        [f"WHO SAW WHAT (query {HEADLINE})", *_seen(tale.seen)],
        [_far_off(tale)],
        ["WHAT THEY ALL LEARN TOGETHER", *_joint(tale, count)],
        [_together(tale, count)],
        [filled(_MORE, handed_out=tale.handed_out)] if tale.handed_out > len(tale.seen) else [],
        [_later(tale)],
    ]
    return joined(sections)


def filled(text: str, **fields: object) -> str:
    """Return a paragraph, broken into lines."""
    return fill(text.format(**fields) if fields else text, WIDTH, break_on_hyphens=False)


def joined(sections: Sequence[Sequence[str]]) -> str:
    """Join sections of lines, with an empty line after each; empty sections are left out."""
    return "".join("\n".join(section) + "\n\n" for section in sections if section)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> list[str]:
    """Return aligned columns, indented by two; those in ``right`` are aligned to the right."""
    return [f"  {line}" for line in aligned([header, *rows], right)]


def averaged(seen: Sequence[Seen]) -> float:
    """Return the margin of error of the average of Gaussian numbers with independent noise.

    Each has the inverse of its variance as weight, which gives the least variance of all unbiased
    combinations (Gauss, Markov).
    """
    precision = sum(reading.release.error.standard_deviation**-2 for reading in seen)
    error = seen[0].release.error
    return error.half_width / error.standard_deviation / math.sqrt(precision)


def _seen(seen: Sequence[Seen]) -> list[str]:
    digits = max(_decimals(reading.release.error.standard_deviation) for reading in seen)
    header = ("reader", "tier", "held by", "epsilon", "value", "95% interval", "off by")
    rows = []
    for reading in seen:
        release = reading.release
        low, value, high = (
            f"{x:,.{digits}f}" for x in (reading.lower, reading.value, reading.upper)
        )
        rows.append(
            (
                *(reading.reader, release.tier, TIERS.get(release.tier, "")),
                *(short(release.guarantee.epsilon), value, f"{low} to {high}"),
                f"±{release.error.half_width:.{digits}f}",
            )
        )
    return table(header, rows, right=(3, 4, 5, 6))


def _joint(tale: Story, count: str) -> list[str]:
    best = _best(tale).release.error.half_width
    rows = [
        (f"as these {count} numbers were released: lossless", tale.together.released, best),
        (
            "had each been drawn independently",
            tale.together.independent,
            averaged(tale.seen),
        ),
    ]
    return table(
        ("joint loss of all readers", "epsilon", "they know the count to"),
        [(name, short(loss.epsilon), f"±{half:.1f}") for name, loss, half in rows],
        right=(1, 2),
    )


def _far_off(tale: Story) -> str:
    first, best = tale.seen[0], _best(tale)
    return filled(
        _FAR_OFF,
        confidence=best.release.error.confidence,
        first=first.reader,
        first_odds=math.exp(first.release.guarantee.epsilon),
        best=best.reader,
        best_odds=math.exp(best.release.guarantee.epsilon),
        delta=tale.together.released.delta,
    )


def _together(tale: Story, count: str) -> str:
    return filled(
        _TOGETHER,
        best=_best(tale).reader,
        others=COUNTS.get(len(tale.seen) - 1, ""),
        count=count,
        independent=short(tale.together.independent.epsilon),
        released=short(tale.together.released.epsilon),
    )


def _later(tale: Story) -> str:
    everything = tale.everything
    reach = everything.reach
    return (
        filled(
            _LATER,
            release_count=tale.release_count,
            queries=len(everything.queries),
            released=short(everything.released.epsilon),
            independent=short(everything.independent.epsilon),
            could_be=short(everything.could_be.epsilon),
            top=reach.tier,
            reach=f"{reach.epsilon:g}",
        )
        if reach
        else ""
    )


def short(epsilon: float) -> str:
    """Return an epsilon as tables show it."""
    return f"{epsilon:.2f}"


def _best(tale: Story) -> Seen:
    return min(tale.seen, key=lambda reading: reading.release.error.half_width)


def _decimals(standard_deviation: float) -> int:
    """Return the digits after the point that show two significant digits of the error."""
    return max(1 - math.floor(math.log10(standard_deviation)), 0)
