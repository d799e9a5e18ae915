"""Show problem documents as pages to browsers.

The words are the document's own, so a page reveals no more than the API does.
"""

import json
from collections.abc import Callable

from flask import Response, make_response, render_template, request

from penstock.web.http.request_context import Visit

PROBLEM = "application/problem+json"
API = "/api/"
FILES = "web.static"


def as_page(response: Response, visitor: Callable[[], Visit]) -> Response:
    """Return a problem at a page or at an unknown address as a page, and others unchanged."""
    if response.mimetype != PROBLEM or not _is_page_requested():
        return response
    problem = json.loads(response.get_data())
    page = make_response(
        render_template("shared/problem.html", visit=visitor(), problem=problem),
        response.status_code,
    )
    for name in ("Retry-After", "Allow"):
        if name in response.headers:
            page.headers[name] = response.headers[name]
    return page


def _is_page_requested() -> bool:
    """Return True if the request is for a page, or accepts one at an unknown address."""
    if request.endpoint is not None and request.endpoint != FILES:
        return request.blueprint == "web"
    return not request.path.startswith(API) and "text/html" in request.accept_mimetypes.values()
