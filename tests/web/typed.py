"""Provide the forms of a page, as somebody sends them who types nothing."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

CHOSEN = frozenset({"checkbox", "radio", "submit"})


@dataclass
class Form:
    """Hold a form; ``fields`` are what a browser sends: hidden ones, choices, and empty texts."""

    method: str
    actions: list[str]
    fields: dict[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    """Hold the forms of a page, in its order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._select: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        name, value = named.get("name"), named.get("value") or ""
        if tag == "form":
            self.found.append(Form(named.get("method") or "get", [named.get("action") or ""]))
            return
        if not self.found:
            return
        form = self.found[-1]
        if tag == "option" and self._select is not None:
            if "selected" in named or self._select not in form.fields:
                form.fields[self._select] = value
        elif tag == "select":
            self._select = name
        elif tag == "textarea" and name:
            form.fields[name] = ""
        elif tag == "input" and name and named.get("type", "text") not in CHOSEN:
            form.fields[name] = value if named.get("type") == "hidden" else ""
        elif tag == "button" and named.get("formaction"):
            form.actions.append(str(named["formaction"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
