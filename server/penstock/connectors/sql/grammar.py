"""Parse a statement, and refuse every part that no query has.

What is not listed here is refused: a kind of node, or a part of one.  So nothing of a text is
dropped without a word.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from sqlglot import TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.parsers.duckdb import DuckDBParser

from penstock.connectors.sql.limits import JOINED, tokens_of
from penstock.connectors.sql.places import SqlText
from penstock.connectors.sql.synonyms import rewritten
from penstock.errors import InvalidInput

Node = exp.Expr

_BOTH: Final = ("this", "expression")

SETS: Final = (exp.GroupingSets, exp.Cube, exp.Rollup)
"""The parts of ``GROUP BY`` that stand for several sets of groupings."""

_PARTS: Final[dict[type[Node], tuple[str, ...]]] = {
    exp.Select: ("expressions", "from_", "where", "group", "order"),
    exp.From: ("this",),
    exp.Table: ("this", "alias"),
    exp.TableAlias: ("this",),
    exp.Where: ("this",),
    exp.Group: ("expressions", "all"),
    **dict.fromkeys((*SETS, exp.Tuple), ("expressions",)),
    exp.Alias: ("this", "alias"),
    exp.Identifier: ("this", "quoted"),
    exp.Column: ("this", "table"),
    exp.Star: (),
    exp.Literal: ("this", "is_string"),
    exp.Var: ("this",),
    exp.Boolean: ("this",),
    exp.Null: (),
    exp.Paren: ("this",),
    exp.Array: ("expressions",),
    exp.Cast: ("this", "to"),
    exp.DataType: ("this", "expressions"),
    exp.DataTypeParam: ("this",),
    exp.And: _BOTH,
    exp.Or: _BOTH,
    exp.Not: ("this",),
    exp.In: ("this", "expressions"),
    exp.Between: ("this", "low", "high"),
    exp.Is: _BOTH,
    exp.Like: (*_BOTH, "negate"),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), _BOTH),
    exp.Year: ("this",),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _BOTH),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _BOTH),
    exp.Neg: ("this",),
    exp.Case: ("ifs", "default"),
    exp.If: ("this", "true"),
    exp.Coalesce: ("this", "expressions"),
    exp.WidthBucket: ("this", "min_value", "max_value", "num_buckets"),
    exp.Count: ("this", "big_int"),
    exp.CountIf: ("this",),
    exp.Distinct: ("expressions",),
    exp.Filter: _BOTH,
    **dict.fromkeys((exp.Sum, exp.Avg, exp.Median, exp.VariancePop, exp.StddevPop), ("this",)),
    **dict.fromkeys((exp.CovarPop, exp.Corr), _BOTH),
    **dict.fromkeys((exp.RegrSlope, exp.RegrIntercept, exp.RegrCount), _BOTH),
    exp.PercentileCont: _BOTH,
    exp.WithinGroup: _BOTH,
    exp.Order: ("expressions",),
    exp.Ordered: ("this", "nulls_first", "desc"),
}
"""The kinds of node that a statement has, with the parts that each may have."""

_OTHER_PARTS: Final = {
    "distinct": "Groups are listed once. Leave DISTINCT out, and name the columns in GROUP BY.",
    "joins": JOINED,
    "laterals": JOINED,
    "offset": "Every group is answered. Leave OFFSET out.",
    "sample": "Rows are never sampled. Leave the sample out.",
    "symmetric": "Write the smaller bound first, and leave SYMMETRIC out.",
    "db": "Name the dataset alone, without a schema.",
    "columns": "Leave the names of columns out; the dataset declares them.",
    **dict.fromkeys(("rollup", "cube"), "Write the columns in parentheses after ROLLUP or CUBE."),
    "totals": "Write GROUPING SETS with a set for each table.",
}
"""What to write in place of parts that no statement here has."""

_UNBIASED: Final = "To divide by n - 1, multiply what is released by"

_OTHER_NODES: Final[dict[type[Node], str]] = {
    exp.Window: "There are no window functions. Group with GROUP BY; shares, ranks and differences"
    " between groups are computed from what is released, at no charge.",
    exp.Subquery: "There are no subqueries. Write one SELECT from the dataset.",
    exp.IntDiv: "There is no division. Make bins by FLOOR(x / 10) * 10, WIDTH_BUCKET or CASE.",
    exp.Mod: "There is no remainder. Make groups by CASE.",
    exp.ILike: "Texts are compared as a whole. Write IN with the texts.",
    **dict.fromkeys(
        (exp.Upper, exp.Lower, exp.Left, exp.Right, exp.Substring, exp.Trim, exp.StartsWith),
        "Texts are compared as a whole. Write IN with the texts.",
    ),
    **dict.fromkeys(
        (
            *(exp.TimestampTrunc, exp.DateTrunc, exp.Extract, exp.Month, exp.Quarter, exp.Week),
            *(exp.Day, exp.DayOfWeek, exp.DayOfYear, exp.CurrentDate, exp.Interval),
        ),
        "Of dates there is only YEAR, in conditions. Write BETWEEN with two dates, make groups by"
        " CASE WHEN with dates, or use a column that is declared for it.",
    ),
    exp.Min: "A minimum is one row's own. Write PERCENTILE_CONT(0.01) WITHIN GROUP (ORDER BY ...),"
    " whose release also bounds the minimum.",
    exp.Max: "A maximum is one row's own. Write PERCENTILE_CONT(0.99) WITHIN GROUP (ORDER BY ...),"
    " whose release also bounds the maximum.",
    exp.Variance: f"Write VAR_POP, which divides by n. {_UNBIASED} n / (n - 1).",
    exp.CovarSamp: f"Write COVAR_POP, which divides by n. {_UNBIASED} n / (n - 1).",
    **dict.fromkeys(
        (exp.Stddev, exp.StddevSamp),
        f"Write STDDEV_POP, which divides by n. {_UNBIASED} the root of n / (n - 1).",
    ),
    exp.RegrR2: "Write CORR, and square what is released.",
    exp.PercentileDisc: "Write PERCENTILE_CONT.",
    **dict.fromkeys(
        (exp.Quantile, exp.ApproxQuantile),
        "Write QUANTILE_CONT, or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ...).",
    ),
    **dict.fromkeys(
        (exp.Grouping, exp.GroupingId),
        "Keys have 'all' for the columns that a table does not have. Leave this out.",
    ),
    exp.Greatest: "Write CASE WHEN, which says what becomes of missing cells.",
    exp.Least: "Write CASE WHEN, which says what becomes of missing cells.",
    exp.Tuple: "Name the columns one by one, without parentheses around them.",
}
"""What to write in place of nodes that no statement here has."""

_DIVIDED = (
    "There is no division. Ask for the parts, and divide what is released: that costs nothing. A"
    " mean is AVG."
)
_DIVIDED_CELLS = (
    "There is no division of columns. Make bins by FLOOR(x / 10) * 10, WIDTH_BUCKET or CASE, divide"
    " what is released, or have the column computed in a view."
)
_ROUNDED = (
    "What is released has noise. Ask for the aggregate by itself, and round what is released."
)
_FUNCTION = (
    "There is no such function here. The aggregates are COUNT, SUM, AVG, VAR_POP, STDDEV_POP,"
    " COVAR_POP, CORR, MEDIAN, PERCENTILE_CONT, REGR_SLOPE and REGR_INTERCEPT; columns are computed"
    " by + - *, CASE and COALESCE."
)
_UNKNOWN = "A query cannot say this. Leave it out, or compute the column in a view."
_UNREADABLE = (
    "This is no SQL that can be read here. Put double quotes around the name of a column that is"
    " also a word of SQL, or has other characters than letters, digits and underscores."
)


@dataclass(frozen=True)
class ParsedStatement:
    """Hold a statement that has only parts which queries may have, not yet read by its dataset.

    ``table`` is the name of the dataset, and ``alias`` what it is called in the statement.
    """

    source: SqlText
    select: exp.Select
    table: exp.Identifier
    alias: exp.Identifier

    @property
    def expressions(self) -> list[Node]:
        """Return what is selected."""
        return list(self.select.expressions)


class _Parser(DuckDBParser):
    """Parse as DuckDB does, and keep the places of constants, which SQLGlot's parser drops."""

    PRIMARY_PARSERS: ClassVar[Any] = {
        **DuckDBParser.PRIMARY_PARSERS,
        TokenType.NULL: lambda self, token: self.expression(exp.Null(), token),
        TokenType.TRUE: lambda self, token: self.expression(exp.Boolean(this=True), token),
        TokenType.FALSE: lambda self, token: self.expression(exp.Boolean(this=False), token),
    }


_UNNAMED: Final = (
    "Name the dataset itself: FROM and the name by which it is registered, for example FROM visits."
    " Files, functions and lists of values are not read."
)


def parsed(text: str) -> ParsedStatement:
    """Parse a statement.  Raises ``InvalidInput`` with the place of the first part it refuses."""
    source = SqlText(text)
    tree = _tree(source)
    if not isinstance(tree, exp.Select):
        raise source.refusal(tree, "Write one SELECT.")
    origin = tree.args.get("from_")
    if origin is None:
        raise source.refusal(tree, "Name the dataset: FROM and its name.")
    table = origin.this.this
    if not isinstance(origin.this, exp.Table) or not isinstance(table, exp.Identifier):
        raise source.refusal(origin, _UNNAMED)
    _require_known(source, rewritten(tree))
    alias = origin.this.args.get("alias")
    named = table if alias is None or alias.this is None else alias.this
    if not isinstance(named, exp.Identifier):
        raise source.refusal(origin, _UNNAMED)
    return ParsedStatement(source, tree, table, named)


def _tree(source: SqlText) -> Node:
    tokens = tokens_of(source)
    refusal: InvalidInput | None = None
    trees: list[Node | None] = []
    try:
        trees = list(_Parser(ErrorLevel.IMMEDIATE, dialect=DuckDB()).parse(tokens, source.text))
    except ParseError as error:
        refusal = source.refusal(_spot(source, error), _UNREADABLE)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # Some of the parser's functions take arguments that need not be there.
        refusal = source.refusal(0, _UNREADABLE)
    except RecursionError:
        refusal = source.refusal(0, "The statement nests deeper than is read. Write it flatter.")
    # Outside the blocks: the parser's errors quote the text.
    if refusal is not None:
        raise refusal
    if len(trees) != 1 or trees[0] is None:
        raise source.refusal(0, "Write one SELECT.")
    return trees[0]


def _spot(source: SqlText, error: ParseError) -> int:
    """Return where the parser stopped; it counts columns by the ends of tokens."""
    place = error.errors[0] if error.errors else {}
    line, column = place.get("line") or 1, place.get("col") or 1
    words = place.get("highlight") or " "
    before = sum(len(each) + 1 for each in source.text.split("\n")[: line - 1])
    return max(before + column - len(words), 0)


def _require_known(source: SqlText, tree: Node) -> None:
    for node in tree.walk():
        parts = _PARTS.get(type(node))
        if parts is None or (isinstance(node, exp.Tuple) and not isinstance(node.parent, SETS)):
            raise source.refusal(node, _alternative(node))
        for name, spot in _given(node):
            if name not in parts:
                raise source.refusal(spot, _OTHER_PARTS.get(name, _UNKNOWN))


def _given(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the parts that a node has, each with a node of it."""
    for name, value in node.args.items():
        first = value[0] if isinstance(value, list) and value else value
        if value not in (None, False, []):
            yield name, first if isinstance(first, Node) else node


def _alternative(node: Node) -> str:
    of_aggregates = node.find(exp.AggFunc) is not None
    match node:
        case exp.Div():
            return _DIVIDED if of_aggregates else _DIVIDED_CELLS
        case exp.Round() | exp.Floor() | exp.Ceil() | exp.Cast() if of_aggregates:
            return _ROUNDED
    sentence = _OTHER_NODES.get(type(node))
    return sentence or (_FUNCTION if isinstance(node, exp.Func) else _UNKNOWN)
