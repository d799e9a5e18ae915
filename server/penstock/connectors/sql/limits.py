"""Split a statement into tokens, within limits, before a parser recurses into them.

SQLGlot's parser calls itself for each parenthesis, ``CASE`` and ``NOT``, some twenty calls each,
and Python ends at about a thousand calls.  So the calls that a text would take are counted first,
from above: every opening sign counts, and so do signs in front of an operand.
"""

from itertools import pairwise
from typing import Final

from sqlglot import Token, TokenType
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError
from sqlglot.parser import Parser

from penstock.connectors.sql.places import POINTER, SqlText
from penstock.errors import InvalidInput

LONGEST: Final = 16_384
"""The most bytes of a statement in UTF-8."""

MOST_TOKENS: Final = 4096
MOST_CALLS: Final = 560
"""The most calls of the parser on top of each other; what serves a request takes a hundred."""

_OPENING: Final = {
    TokenType.L_PAREN: 24,
    TokenType.L_BRACKET: 24,
    TokenType.L_BRACE: 24,
    TokenType.CASE: 20,
}
_CLOSING: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_SIGN: Final = 12
"""The calls for a sign or a word in front of an operand, such as ``NOT`` or ``-``."""

_OPERANDS: Final = frozenset(
    {TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.COMMA}
    | {TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.STAR, TokenType.END}
    | {TokenType.THEN, TokenType.ELSE, TokenType.WHERE, TokenType.GROUP_BY, TokenType.SELECT}
)
"""What ends a run of signs."""

_BETWEEN: Final = frozenset(
    {TokenType.AND, TokenType.OR, TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE}
    | {TokenType.GT, TokenType.GTE, TokenType.WHEN, TokenType.DOT, TokenType.IS, TokenType.IN}
)
"""What stands between operands, for which the parser loops."""

_BEFORE_LISTS: Final = frozenset({TokenType.L_PAREN, TokenType.COMMA, TokenType.ARRAY})

_PARTS: Final = {"'": "'", '"': '"', "--": "\n", "/*": "*/", "$$": "$$"}
"""What begins a text, a name or a comment, and what ends it."""

JOINED: Final = (
    "A statement reads one dataset. Join the data in a view that is registered, or group by the"
    " dataset's own column and put the other data beside the answer."
)
_ALTERNATIVES: Final = {
    TokenType.JOIN: JOINED,
    TokenType.UNION: "A statement is one SELECT. Write two statements.",
    TokenType.EXCEPT: "A statement is one SELECT. Say with WHERE which rows count.",
    TokenType.INTERSECT: "A statement is one SELECT. Say with AND which rows count.",
    TokenType.WITH: "There are no common table expressions. Write one SELECT from the dataset;"
    " what is computed from its answer costs nothing.",
    TokenType.HAVING: "Every group is answered, with noise. Leave HAVING out, and choose among the"
    " groups of the answer.",
    TokenType.LIMIT: "Every group is answered. Leave LIMIT out, and choose among the groups of"
    " the answer.",
    TokenType.FETCH: "Every group is answered. Leave FETCH out, and choose among the groups of"
    " the answer.",
    TokenType.QUALIFY: "There are no window functions. Leave QUALIFY out.",
    TokenType.WINDOW: "There are no window functions. Group with GROUP BY.",
    TokenType.PLACEHOLDER: "There are no parameters. Write the value itself.",
    TokenType.PARAMETER: "There are no parameters. Write the value itself.",
}
"""What to write in place of words that no statement here has."""


def tokens_of(source: SqlText) -> list[Token]:
    """Return the tokens of a statement, without a last semicolon.

    Raises ``InvalidInput`` for a text that is too long or nests too deep, that does not begin with
    ``SELECT``, and that has a word for which there is no place.
    """
    text = source.text
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise source.refusal(error.start, "This is no character of Unicode.") from None
    if size > LONGEST:
        raise InvalidInput(
            f"The statement has {size} bytes, and at most {LONGEST} are read. Write several"
            " statements, or send the query as a spec.",
            pointer=POINTER,
        )
    tokens = _split(source)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise InvalidInput(
            "There is no statement. Write one, for example SELECT COUNT(*) FROM and the dataset's"
            " name.",
            pointer=POINTER,
        )
    _require_select(source, tokens)
    _require_shallow(source, tokens)
    _require_single_reading(source, tokens)
    return tokens


def _split(source: SqlText) -> list[Token]:
    unended = False
    tokens: list[Token] = []
    try:
        tokens = DuckDB().tokenize(source.text)
    except TokenError:
        unended = True
    if unended:
        # Outside the block: the error quotes the text.
        raise source.refusal(
            _unended_part(source.text),
            "What begins here does not end. Close the text, the name or the comment.",
        )
    if len(tokens) > MOST_TOKENS:
        raise source.refusal(
            tokens[MOST_TOKENS],
            f"The statement has {len(tokens)} words and signs, and at most {MOST_TOKENS} are read."
            " Write several statements.",
        )
    return tokens


def _unended_part(text: str) -> int:
    """Return where the first text, name or comment begins that does not end."""
    place = 0
    while place < len(text):
        end = next((end for mark, end in _PARTS.items() if text.startswith(mark, place)), None)
        if end is None:
            place += 1
            continue
        after = text.find(end, place + len(end))
        if after < 0 and end != "\n":
            return place
        place = len(text) if after < 0 else after + len(end)
    return 0


def _require_select(source: SqlText, tokens: list[Token]) -> None:
    if tokens[0].token_type is TokenType.WITH:
        raise source.refusal(tokens[0], _ALTERNATIVES[TokenType.WITH])
    if tokens[0].token_type is not TokenType.SELECT:
        raise source.refusal(
            tokens[0],
            "A statement begins with SELECT and reads; nothing else can be done with SQL here.",
        )
    for token in tokens[1:]:
        kind = token.token_type
        if kind is TokenType.SELECT:
            raise source.refusal(
                token,
                "There are no subqueries. Write one SELECT from the dataset; what a subquery"
                " would compute is a statement of its own. A mean by person is a SUM, divided by a"
                " COUNT(DISTINCT person) once both are released.",
            )
        if kind is TokenType.SEMICOLON:
            raise source.refusal(token, "A query is one statement. Send the others by themselves.")
        if kind in _ALTERNATIVES:
            raise source.refusal(token, _ALTERNATIVES[kind])


def _require_single_reading(source: SqlText, tokens: list[Token]) -> None:
    """Raise ``InvalidInput`` for parts within each other that the parser reads in several ways.

    They take it twice as long for every level; a name before a parenthesis that may be a type is
    one, and so is a list.
    """
    several: list[bool] = []
    for before, token in pairwise(tokens):
        kind = token.token_type
        if kind in _CLOSING and several:
            several.pop()
        if kind is TokenType.L_BRACKET and before.token_type not in _BEFORE_LISTS:
            raise source.refusal(
                token,
                "A list stands here only as a whole argument of a function. Leave the brackets"
                " out.",
            )
        if kind in _OPENING and kind is not TokenType.CASE:
            type_or_list = kind is TokenType.L_BRACKET or before.token_type in Parser.TYPE_TOKENS
            if type_or_list and any(several):
                raise source.refusal(
                    token, "A type or a list stands in no other one here. Write it by itself."
                )
            several.append(type_or_list)


def _require_shallow(source: SqlText, tokens: list[Token]) -> None:
    """Raise ``InvalidInput`` for a text that would take the parser too many nested calls."""
    calls = run = 0
    opened: list[int] = []
    for token in tokens:
        kind = token.token_type
        if kind in _OPENING:
            opened.append(run + _OPENING[kind])
            calls, run = calls + opened[-1], 0
        elif kind in _CLOSING:
            # A CASE that does not end before its parenthesis is no statement.
            calls, run = calls - (opened.pop() if opened else 0), 0
        elif kind in _OPERANDS:
            run = 0
            if kind is TokenType.END and opened and opened[-1] >= _OPENING[TokenType.CASE]:
                calls -= opened.pop()
        elif kind not in _BETWEEN:
            run += _SIGN
        if calls + run > MOST_CALLS:
            raise source.refusal(
                token,
                "The statement nests deeper than is read. Write fewer parentheses, CASE and NOT"
                " inside each other.",
            )
