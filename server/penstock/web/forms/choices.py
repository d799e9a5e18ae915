"""Define the options in forms, each with a sentence that explains it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """Represent an option: its value, its name, and its meaning in one sentence."""

    value: str
    name: str
    sentence: str


AGGREGATES = (
    ("count", "number of rows"),
    ("count_units", "number of people (privacy units)"),
    ("sum", "sum of a column"),
    ("mean", "mean of a column"),
    ("histogram", "histogram: number of rows per bin of a column"),
    ("uncategorized", "share of rows whose value is in no category of a column"),
    ("moments", "means, variances and correlations of several columns"),
    ("regression", "regression of a column on others, by least squares"),
    ("quantiles", "quantiles and distribution of a column"),
    ("marginals", "number of rows by every set of a few of the columns under Group by"),
    ("workload", "answers to queries of your own over the columns under Group by"),
)
QUERIES = (
    ("identity", "each key"),
    ("total", "all keys together"),
    ("marginals", "each key and all keys"),
    ("prefix", "the first keys up to each one"),
    ("all_ranges", "all ranges of keys"),
)
STRATEGIES = (
    ("identity", "each key"),
    ("tree", "a tree: sums of 1, 4, 16 ... keys"),
    ("marginals", "each key and all keys"),
    ("total", "all keys together"),
)
COUNTS = AGGREGATES[:2]
SCALES = (
    ("", "of one width, between the bounds"),
    ("log", "between powers of two: shows which bounds fit"),
)
SIZES = (
    ("", "released, except for groups if one person is in at most half of them"),
    ("true", "released"),
    ("false", "not released: less noise on the counts"),
)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "not_in", "is_null", "is_not_null")

_GAUSSIAN = Option(
    "gaussian",
    "Gaussian",
    "The usual choice: the least noise if one person can change many numbers.",
)
_LAPLACE = Option(
    "laplace", "Laplace", "The least noise if one person can change only one number or a few."
)
MECHANISMS = (
    _GAUSSIAN,
    _LAPLACE,
    Option("poisson", "Poisson", "Noise in whole steps, for counts."),
    Option("skellam", "Skellam", "Noise in whole steps, symmetric around zero."),
    Option(
        "generalized_gaussian",
        "generalized Gaussian",
        "Keeps the largest of many errors small; its levels are drawn independently, so a tier is"
        " charged for every level at or below its own.",
    ),
)
STREAM_MECHANISMS = (_GAUSSIAN, _LAPLACE)

TARGET_FIELDS = (
    ("epsilon", "epsilon for each tier"),
    ("half_width", "margin of error for each tier"),
    ("standard_deviation", "standard deviation of the noise for each tier"),
    ("rho", "rho (zero-concentrated differential privacy) for each tier"),
    ("mu", "mu (Gaussian differential privacy) for each tier"),
    ("level", "noise level (the mechanism's parameter) for each tier"),
    ("share", "the same share of every tier's budget"),
)
OWN_TARGET_FIELDS = tuple(
    (field, name.removesuffix(" for each tier")) for field, name in TARGET_FIELDS[:-1]
)
"""The ways to give the level of one tier."""

DOMAINS = (
    Option("uint64", "whole numbers", "From 0 up to the number of keys, or up to 2^64."),
    Option(
        "string",
        "texts of one length",
        "All texts with a given number of characters from an alphabet.",
    ),
    Option(
        "sha256_64",
        "texts of any length",
        "Each text is identified and reported by the first 64 bits of its SHA-256 only.",
    ),
)

STRUCTURES = (
    Option(
        "auto",
        "best structure",
        "The one with the least error for this length: a tree for Laplace noise, mostly buffers for"
        " Gaussian.",
    ),
    Option("binary", "binary tree", "Sums of 1, 2, 4, 8 ... elements, each with its own noise."),
    Option(
        "kary",
        "tree with more branches",
        "Fewer layers, each sum of k smaller ones; enter k, or leave it empty for the best k.",
    ),
    Option(
        "smooth_binary", "smooth binary tree", "The same error for every total; needs a length."
    ),
    Option(
        "sqrt",
        "square root",
        "Less error than trees for few elements, Gaussian noise only; stores the noise of every"
        " element.",
    ),
    Option(
        "buffered",
        "buffers",
        "Nearly the error of the square root for any number of elements, also without an end;"
        " Gaussian noise only; stores few numbers.",
    ),
)
