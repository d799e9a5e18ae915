"""Test which URLs a token may be sent to."""

import pytest

from penstock_client import Client, InvalidArgument


@pytest.mark.parametrize(
    "url",
    [
        "http://penstock.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://10.0.0.1:8080",
        "HTTP://[2001:db8::1]/",
        "http://0.0.0.0",
    ],
)
def test_plain_http_to_another_machine_is_refused(url: str, token: str) -> None:
    with pytest.raises(InvalidArgument, match="insecure"):
        Client(url, token)
    Client(url, token, insecure=True).close()


@pytest.mark.parametrize(
    "url", ["http://localhost:1", "http://127.0.0.9", "http://[::1]:8080/x", "https://a.example"]
)
def test_this_machine_and_https_are_allowed(url: str, token: str) -> None:
    Client(url, token).close()


@pytest.mark.parametrize(
    "url",
    [
        "hunter2.example.org",
        "ftp://hunter2.example.org",
        "https://",
        "https://ann:hunter2@penstock.example.org",
        "https://a.example:port",
        "https://a.example:99999",
        "https://[::1",
        "https://a.example/?hunter2=1",
        "https://a.example/#hunter2",
        "https://a.example/hun\tter2",
        "https://a b.example",
        "javascript:alert(1)",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_and_not_repeated(url: str, token: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Client(url, token)
    assert "hunter2" not in str(caught.value)
