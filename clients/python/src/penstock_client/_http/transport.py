"""Send a request and parse the answer, or raise an error of this package."""

import json
from collections.abc import Generator, Mapping
from typing import NoReturn

import httpx

from penstock_client._http.address import checked_url, is_loopback
from penstock_client._http.problems import MEDIA_TYPE, refusal
from penstock_client._log.nesting import shallow
from penstock_client.errors import InvalidArgument, NotReachable, ProtocolError

LARGEST_ANSWER = 512 * 2**20
LARGEST_REFUSAL = 2**20
CONNECT_TIMEOUT = 10.0
JSON = "application/json"


class Bearer(httpx.Auth):
    """Add the token to each request, without showing it in any representation."""

    __slots__ = ("_header",)

    def __init__(self, token: str) -> None:
        # Checked here, because error messages of httpx would quote the header.
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise InvalidArgument(
                "The token contains characters that no token has; copy the whole token again."
            )
        self._header = f"Bearer {token}"

    def __repr__(self) -> str:
        return "Bearer(...)"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header; httpx calls this for each request."""
        request.headers["Authorization"] = self._header
        yield request


class Transport:
    """Send HTTP requests with a token to one server; never follow redirects."""

    def __init__(
        self,
        url: str,
        bearer: Bearer,
        *,
        agent: str,
        timeout: float,
        insecure: bool = False,
        largest_answer: int = LARGEST_ANSWER,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = checked_url(url, insecure=insecure)
        self._largest = largest_answer
        self._timeout = timeout
        if transport is None and is_loopback(self.url):
            # With an explicit transport, httpx does not send requests to this machine through
            # a proxy that the environment names.
            transport = httpx.HTTPTransport()
        try:
            self._http = httpx.Client(
                base_url=self.url,
                auth=bearer,
                headers={"Accept": JSON, "User-Agent": agent},
                timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
                follow_redirects=False,
                transport=transport,
            )
        except httpx.InvalidURL:
            raise InvalidArgument("The server's URL has a malformed host or port.") from None

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        largest: int | None = None,
    ) -> object:
        """Return the parsed answer to GET, of at most ``largest`` bytes; raise as ``post`` does."""
        return self._answer(self._http.build_request("GET", path, params=parameters), largest)

    def post(self, path: str, body: Mapping[str, object], key: str | None = None) -> object:
        """Return the parsed answer to POST; under the same ``key`` the server acts only once.

        Raises ``NotReachable``, ``ProtocolError``, or the ``ApiError`` that the server
        answered with.
        """
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._answer(self._http.build_request("POST", path, json=body, headers=headers))

    def patch(self, path: str, body: Mapping[str, object]) -> object:
        """Return the parsed answer to PATCH; raise as ``post`` does."""
        return self._answer(self._http.build_request("PATCH", path, json=body))

    def put(self, path: str, body: Mapping[str, object]) -> object:
        """Return the parsed answer to PUT; raise as ``post`` does."""
        return self._answer(self._http.build_request("PUT", path, json=body))

    def delete(self, path: str) -> object:
        """Return the parsed answer to DELETE; raise as ``post`` does."""
        return self._answer(self._http.build_request("DELETE", path))

    def file(self, path: str, parameters: Mapping[str, str | int], media_type: str) -> bytes:
        """Return the answer to GET as bytes of this media type; raise as ``post`` does."""
        headers = {"Accept": media_type}
        request = self._http.build_request("GET", path, params=parameters, headers=headers)
        return bytes(self._body_of(request, None, media_type))

    def _answer(self, request: httpx.Request, largest: int | None = None) -> object:
        return parsed(self._body_of(request, largest, JSON))

    def _body_of(self, request: httpx.Request, largest: int | None, media_type: str) -> bytearray:
        try:
            response = self._http.send(request, stream=True)
            try:
                limit = min(largest or self._largest, self._largest)
                return self._read(response, limit, media_type)
            finally:
                response.close()
        except httpx.TimeoutException as error:
            raise NotReachable(f"{self.url} did not answer within {self._timeout:g} s.") from error
        except (httpx.DecodingError, httpx.RemoteProtocolError) as error:
            raise _unreachable_or_garbled(self.url, error) from error
        except httpx.RequestError as error:
            raise NotReachable(f"{self.url} cannot be reached: {error}.") from error

    def _read(self, response: httpx.Response, largest: int, expected: str) -> bytearray:
        status = response.status_code
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if status < 200 or 300 <= status < 400:
            _refuse_redirect(status)
        if status >= 400:
            body = self._body(response, LARGEST_REFUSAL)
            answer = parsed(body) if media_type == MEDIA_TYPE else None
            raise refusal(status, media_type, answer, _seconds(response.headers))
        if media_type != expected:
            raise ProtocolError(
                f"The answer is {media_type or 'without a media type'}, not {expected};"
                " check that the URL is that of a Penstock server."
            )
        return self._body(response, largest)

    def _body(self, response: httpx.Response, limit: int) -> bytearray:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > limit:
                raise ProtocolError(f"The answer is larger than {limit:,} bytes.")
        return body


def parsed(body: bytes | bytearray) -> object:
    """Return the JSON value in ``body``.  Raises ``ProtocolError`` for anything else."""
    try:
        text = shallow(body.decode("utf-8-sig"))
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        raise ProtocolError("The answer is declared as JSON but cannot be parsed.") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # json.loads accepts NaN and Infinity, which JSON does not have


def _refuse_redirect(status: int) -> NoReturn:
    raise ProtocolError(
        f"The answer is a redirection (status {status}). It is not followed, because the token"
        " would be sent along. Set the URL to the server's own address (https instead of http?)."
    )


def _seconds(headers: httpx.Headers) -> float | None:
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _unreachable_or_garbled(url: str, error: httpx.RequestError) -> NotReachable | ProtocolError:
    # httpx raises RemoteProtocolError both for a connection that was closed early and for
    # bytes that are not HTTP.
    if "disconnected" in str(error) or "closed connection" in str(error):
        return NotReachable(f"{url} closed the connection before its answer was complete.")
    return ProtocolError(f"{url} did not answer with valid HTTP.")
