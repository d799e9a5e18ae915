"""The pages for people.

So far one, which says what answers here and how to get a token; it takes no sign-in and
works without a script.
"""

from collections.abc import Mapping

from flask import Blueprint, Response, render_template

import penstock
from penstock.settings import Settings

STYLESHEET_SECONDS = 3600

POLICIES: Mapping[str, str] = {
    "front": "anybody, without a token",
    "stylesheet": "anybody, without a token",
}
"""Who may see each page of the blueprint."""

PATHS: Mapping[str, str] = {"front": "/", "stylesheet": "/static/penstock.css"}
"""Where each page is."""


def blueprint(settings: Settings) -> Blueprint:
    """The pages of a server with these settings."""
    made = Blueprint("web", __name__, template_folder="templates", static_folder=None)

    def front() -> str:
        return render_template(
            "front.html", version=penstock.__version__, public_url=settings.public_url
        )

    def stylesheet() -> Response:
        with made.open_resource("static/penstock.css") as file:
            answer = Response(file.read(), mimetype="text/css")
        answer.cache_control.max_age = STYLESHEET_SECONDS
        return answer

    for name, view in (("front", front), ("stylesheet", stylesheet)):
        made.add_url_rule(PATHS[name], name, view, methods=["GET"], provide_automatic_options=False)
    return made
