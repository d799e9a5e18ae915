"""Provide the server with a mistake: it logs what the header says, which holds the token."""

from flask import Flask

from penstock import application
from penstock.http import access_log


def create_app() -> Flask:
    """Return the application, whose log says too much."""
    app = application.create_app()
    app.before_request(_tell)
    return app


def _tell() -> None:
    from flask import request

    access_log.ACCESS.info("asked: %s", request.headers.get("Authorization"))
