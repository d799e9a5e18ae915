"""Read the names that a ``SELECT`` gives to its columns, and which statistic each one is.

The server alone parses SQL.  This reads the list between ``SELECT`` and ``FROM`` to name the
columns of a result as its author did; what it does not know keeps the name of the release.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock_client.tables.aggregates import Output

STATISTICS = {
    "AVG": "mean",
    "MEAN": "mean",
    "SUM": "sum",
    **dict.fromkeys(("VAR_POP", "VARIANCE", "VAR"), "variance"),
    **dict.fromkeys(("STDDEV_POP", "STDDEV", "STD"), "standard_deviation"),
    "COVAR_POP": "covariance",
    "CORR": "correlation",
}
NAMED = {"MEDIAN": "median", "MIN": "minimum", "MAX": "maximum"}


@dataclass(frozen=True)
class Token:
    """Hold a word, a number, a sign or a quoted text of SQL, and where it begins."""

    text: str
    place: int
    quoted: str = ""
    """The sign that quotes it; the text is without its quotes."""

    @property
    def word(self) -> str:
        """Return an unquoted word in capitals; an empty text for anything else."""
        return "" if self.quoted else self.text.upper()

    @property
    def end(self) -> int:
        """Return the place after the token, if it is not quoted."""
        return self.place + len(self.text)


def tokens(sql: str) -> Iterator[Token]:
    """Yield the tokens of SQL, without comments."""
    place = 0
    while place < len(sql):
        sign = sql[place]
        if sign.isspace():
            place += 1
        elif sql.startswith("--", place):
            place = _after(sql, "\n", place)
        elif sql.startswith("/*", place):
            place = _after(sql, "*/", place)
        elif sign in "'\"`":
            end = _quoted_end(sql, place)
            yield Token(sql[place + 1 : end - 1].replace(sign * 2, sign), place, sign)
            place = end
        else:
            end = place + 1
            while _is_word(sign) and end < len(sql) and _is_word(sql[end]):
                end += 1
            yield Token(sql[place:end], place)
            place = end


def outputs_of(sql: str) -> tuple[Output, ...] | None:
    """Return the name and the statistic of each aggregate of a ``SELECT``; None if unknown."""
    items = _items(list(tokens(sql)))
    outputs = []
    for item in items:
        output = _output(item)
        if output is not None:
            outputs.append(output)
        elif any(token.text == "(" for token in item) and _is_aggregate(item):
            return None
    return tuple(outputs) or None


def renamed_table(sql: str, name: str, dataset: str) -> str:
    """Return the SQL with the table ``name`` after ``FROM`` replaced by a dataset's name."""
    parts, rest, after_from = [], 0, False
    for token in tokens(sql):
        if after_from and token.text.casefold() == name.casefold() and token.quoted != "'":
            end = _quoted_end(sql, token.place) if token.quoted else token.end
            quoted = dataset.replace('"', '""')
            parts += [sql[rest : token.place], f'"{quoted}"']
            rest = end
        after_from = token.word == "FROM"
    return "".join((*parts, sql[rest:]))


def _after(sql: str, mark: str, place: int) -> int:
    end = sql.find(mark, place)
    return len(sql) if end < 0 else end + len(mark)


def _quoted_end(sql: str, place: int) -> int:
    """Return the place after a quoted text; a doubled quote is part of it."""
    sign, end = sql[place], place + 1
    while end < len(sql):
        if sql[end] == sign:
            if sql[end : end + 2] != sign * 2:
                return end + 1
            end += 1
        end += 1
    return end


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign in "_."


def _items(read: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens of each column between ``SELECT`` and ``FROM``."""
    items: list[list[Token]] = [[]]
    depth, inside = 0, False
    for token in read:
        if not inside:
            inside = token.word == "SELECT"
            continue
        if depth == 0 and token.word == "FROM":
            return [item for item in items if item]
        depth += {"(": 1, ")": -1}.get(token.word, 0)
        if depth == 0 and token.word == ",":
            items.append([])
        else:
            items[-1].append(token)
    return []


def _is_aggregate(item: Sequence[Token]) -> bool:
    known = {*STATISTICS, *NAMED, "COUNT", "PERCENTILE_CONT"}
    return any(token.word in known for token in item)


def _output(item: Sequence[Token]) -> Output | None:
    """Return what a column of a ``SELECT`` is, if it is one aggregate of columns."""
    end = _closing(item)
    if end is None:
        return None
    head, arguments, tail = item[0].word, item[2:end], item[end + 1 :]
    if [token.word for token in tail[:2]] == ["WITHIN", "GROUP"]:
        ordered = _closing(tail[1:])
        tail = () if ordered is None else tail[ordered + 2 :]
    statistic = _statistic(head, arguments)
    names = [token for token in tail if token.word != "AS"]
    if statistic is None or len(names) > 1:
        return None
    return Output(names[0].text if names else _text(item[: end + 1]), statistic)


def _closing(item: Sequence[Token]) -> int | None:
    """Return the position of the parenthesis that closes the one at position 1."""
    if len(item) < 3 or item[1].word != "(":
        return None
    depth = 0
    for position, token in enumerate(item):
        depth += {"(": 1, ")": -1}.get(token.word, 0)
        if position and depth == 0:
            return position
    return None


def _statistic(head: str, arguments: Sequence[Token]) -> str | None:
    """Return the name that an aggregate has in releases."""
    words = [token.word for token in arguments]
    if head == "COUNT":
        return "units" if words[:1] == ["DISTINCT"] else "n"
    if head in NAMED:
        return NAMED[head]
    if head == "PERCENTILE_CONT" and len(words) == 1:
        try:
            return f"quantile:{float(words[0])!r}"
        except ValueError:
            return None
    columns = [token.text for token in arguments if token.word != ","]
    if head in STATISTICS and len(columns) in {1, 2}:
        return f"{STATISTICS[head]}:{','.join(columns)}"
    return None


def _text(item: Sequence[Token]) -> str:
    return "".join(token.text for token in item).lower()
