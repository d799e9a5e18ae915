"""What the forms offer, each with the sentence that explains it to whoever chooses."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A value, what it is called, and what it means in one sentence."""

    value: str
    name: str
    sentence: str


AGGREGATES = (
    ("count", "how many rows"),
    ("count_units", "how many people (privacy units)"),
    ("sum", "the sum of a column"),
    ("mean", "the mean of a column"),
    ("histogram", "rows by the values of a column"),
    ("uncategorized", "the share of rows that no category of a column takes"),
)
COUNTS = AGGREGATES[:2]
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "not_in")

_GAUSSIAN = Option(
    "gaussian",
    "Gaussian",
    "The usual choice: the least noise where one person moves many numbers.",
)
_LAPLACE = Option("laplace", "Laplace", "The least noise where one person moves one number or few.")
MECHANISMS = (
    _GAUSSIAN,
    _LAPLACE,
    Option("poisson", "Poisson", "Noise of whole steps, for counts."),
    Option("skellam", "Skellam", "Noise of whole steps, as likely upward as downward."),
    Option(
        "generalized_gaussian",
        "generalized Gaussian",
        "Makes the largest of many errors small; its levels are drawn each on its own, so that a"
        " tier pays for every level at or below its own.",
    ),
)
STREAM_MECHANISMS = (_GAUSSIAN, _LAPLACE)

WISHES = (
    ("epsilon", "epsilon, for each tier"),
    ("half_width", "how far off a number may be, for each tier"),
    ("standard_deviation", "the standard deviation of the noise, for each tier"),
    ("rho", "rho (zero-concentrated), for each tier"),
    ("mu", "mu (Gaussian differential privacy), for each tier"),
    ("level", "the noise's own parameter, for each tier"),
    ("share", "one share of every tier's budget"),
)

DOMAINS = (
    Option("uint64", "whole numbers", "From 0 up to the number of keys, or up to 2^64."),
    Option("string", "texts of one length", "All texts of so many characters of an alphabet."),
    Option(
        "sha256_64",
        "texts of any length",
        "Each is known by the first 64 bits of its SHA-256, and reported by these alone.",
    ),
)

STRUCTURES = (
    Option("auto", "the best tree", "The tree with the least error for this length."),
    Option("binary", "binary tree", "Sums of 1, 2, 4, 8 ... elements, each with its noise."),
    Option(
        "kary",
        "tree of more branches",
        "Fewer layers of sums, each of k smaller ones; give k, or let the best be taken.",
    ),
    Option(
        "smooth_binary", "smooth binary tree", "Every total has the same error; needs a length."
    ),
    Option(
        "sqrt",
        "square root",
        "Less error than trees for few elements, with Gaussian noise; keeps the noise of all.",
    ),
)
