"""Parse a statement, and refuse every part that no query has.

What is not listed here is refused: a kind of node, or a part of one.  So nothing of a text is
dropped without a word.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ErrorLevel, ParseError

from penstock.connectors.sql.limits import tokens_of
from penstock.connectors.sql.places import SqlText
from penstock.errors import InvalidInput

Node = exp.Expr

_BOTH: Final = ("this", "expression")

_PARTS: Final[dict[type[Node], tuple[str, ...]]] = {
    exp.Select: ("expressions", "from_", "where", "group"),
    exp.From: ("this",),
    exp.Table: ("this", "alias"),
    exp.TableAlias: ("this",),
    exp.Where: ("this",),
    exp.Group: ("expressions", "all"),
    exp.Alias: ("this", "alias"),
    exp.Identifier: ("this", "quoted"),
    exp.Column: ("this", "table"),
    exp.Star: (),
    exp.Literal: ("this", "is_string"),
    exp.Boolean: ("this",),
    exp.Null: (),
    exp.Paren: ("this",),
    exp.Array: ("expressions",),
    exp.Cast: ("this", "to"),
    exp.DataType: ("this",),
    exp.And: _BOTH,
    exp.Or: _BOTH,
    exp.Not: ("this",),
    exp.In: ("this", "expressions"),
    exp.Between: ("this", "low", "high"),
    exp.Is: _BOTH,
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
    exp.Ordered: ("this", "nulls_first"),
}
"""The kinds of node that a statement has, with the parts that each may have."""

_OTHER_PARTS: Final = {
    "distinct": "Groups are listed once. Leave DISTINCT out, and name the columns in GROUP BY.",
    "joins": "A statement reads one dataset. Join the data in a view, and register that.",
    "laterals": "A statement reads one dataset. Join the data in a view, and register that.",
    "order": "The groups of an answer have an order already. Leave ORDER BY out.",
    "offset": "Every group is answered. Leave OFFSET out.",
    "sample": "Rows are never sampled. Leave the sample out.",
    "symmetric": "Write the smaller bound first, and leave SYMMETRIC out.",
    "db": "Name the dataset alone, without a schema.",
    "desc": "Leave DESC out, and write 1 minus the probability.",
    "columns": "Leave the names of columns out; the dataset declares them.",
}
"""What to write in place of parts that no statement here has."""

_OTHER_NODES: Final[dict[type[Node], str]] = {
    exp.Window: "There are no window functions. Group with GROUP BY.",
    exp.Subquery: "There are no subqueries. Write one SELECT from the dataset.",
    exp.Div: "There is no division. Ask for the parts, and divide what is released: that costs"
    " nothing. A mean is AVG.",
    exp.IntDiv: "There is no division. Make bins by WIDTH_BUCKET or CASE.",
    exp.Mod: "There is no remainder. Make groups by CASE.",
    exp.Like: "Texts are compared as a whole. Write IN with the texts.",
    exp.ILike: "Texts are compared as a whole. Write IN with the texts.",
    exp.Min: "A minimum is one row's own. Write PERCENTILE_CONT(0.01) WITHIN GROUP (ORDER BY ...),"
    " whose release also bounds the minimum.",
    exp.Max: "A maximum is one row's own. Write PERCENTILE_CONT(0.99) WITHIN GROUP (ORDER BY ...),"
    " whose release also bounds the maximum.",
    exp.Variance: "Write VAR_POP.",
    exp.Stddev: "Write STDDEV_POP.",
    exp.StddevSamp: "Write STDDEV_POP.",
    exp.CovarSamp: "Write COVAR_POP.",
    exp.PercentileDisc: "Write PERCENTILE_CONT.",
    exp.Quantile: "Write QUANTILE_CONT, or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ...).",
    exp.NullSafeEQ: "Write = and IS NULL.",
    exp.NullSafeNEQ: "Write <> and IS NOT NULL.",
    exp.Greatest: "Write CASE WHEN, which says what becomes of missing cells.",
    exp.Least: "Write CASE WHEN, which says what becomes of missing cells.",
}
"""What to write in place of nodes that no statement here has."""

_FUNCTION = (
    "There is no such function here. The aggregates are COUNT, SUM, AVG, VAR_POP, STDDEV_POP,"
    " COVAR_POP, CORR, MEDIAN, PERCENTILE_CONT, REGR_SLOPE and REGR_INTERCEPT."
)
_UNKNOWN = "A query cannot say this. Leave it out, or compute the column in a view."


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


def parsed(text: str) -> ParsedStatement:
    """Parse a statement.  Raises ``InvalidInput`` with the place of the first part it refuses."""
    source = SqlText(text)
    tree = _tree(source)
    if not isinstance(tree, exp.Select):
        raise source.refusal(tree, "Write one SELECT.")
    _require_known(source, tree)
    origin = tree.args.get("from_")
    if origin is None or not isinstance(origin.this, exp.Table):
        raise source.refusal(tree, "Name the dataset: FROM and its name.")
    table = origin.this.this
    alias = origin.this.args.get("alias")
    named = table if alias is None or alias.this is None else alias.this
    if not isinstance(table, exp.Identifier) or not isinstance(named, exp.Identifier):
        raise source.refusal(origin, "Name the dataset: FROM and its name.")
    return ParsedStatement(source, tree, table, named)


def unwrapped(node: Node) -> Node:
    """Return a node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _tree(source: SqlText) -> Node:
    tokens = tokens_of(source)
    refusal: InvalidInput | None = None
    trees: list[Node | None] = []
    try:
        trees = list(DuckDB().parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, source.text))
    except ParseError as error:
        refusal = source.refusal(_spot(source, error), "This is no SQL that can be read here.")
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
        if parts is None:
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
    for kind, sentence in _OTHER_NODES.items():
        if type(node) is kind:
            return sentence
    return _FUNCTION if isinstance(node, exp.Func) else _UNKNOWN
