"""Test a server below a path of its host: requests with the path and without it are answered."""

from typing import Any

import pytest

from penstock.http.mount import Mounted, prefix_of


def mounted(prefix: str, path: str) -> tuple[str, str]:
    """Return the root and the path that the application sees."""
    seen: dict[str, Any] = {}

    def application(environ: dict[str, Any], _: object) -> list[bytes]:
        seen.update(environ)
        return []

    Mounted(application, prefix)({"PATH_INFO": path}, lambda *_: lambda _: None)
    return seen["SCRIPT_NAME"], seen["PATH_INFO"]


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("https://example.org", ""),
        ("https://example.org/", ""),
        ("https://example.org/penstock/", "/penstock"),
        ("https://example.org/a/b", "/a/b"),
        ("https://example.org/k%C3%A4se", "/käse"),
    ],
)
def test_a_prefix_is_the_path_of_the_public_url(url: str, prefix: str) -> None:
    assert prefix_of(url) == prefix


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/penstock/catalogue", "/catalogue"),
        ("/penstock", "/"),
        ("/penstock/", "/"),
        ("/healthz", "/healthz"),
        ("/penstocks/catalogue", "/penstocks/catalogue"),
    ],
)
def test_the_application_sees_the_path_without_the_prefix(path: str, seen: str) -> None:
    assert mounted("/penstock", path) == ("/penstock", seen)


def test_without_a_prefix_nothing_changes() -> None:
    assert mounted("", "/catalogue") == ("", "/catalogue")


def test_a_prefix_is_bytes_in_utf_8_as_wsgi_has_it() -> None:
    wsgi = "/käse".encode().decode("latin-1")
    assert mounted("/käse", f"{wsgi}/catalogue") == (wsgi, "/catalogue")
