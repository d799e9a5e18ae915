"""Serve the document for programs at ``/openapi.json``; its pages are part of the documentation."""

from flask import Blueprint, Response, request

from penstock.api.openapi import document
from penstock.api.operations import ANYBODY
from penstock.http.answers import json_answer

DOCUMENT = "openapi"
PATH = "/openapi.json"
POLICIES = {DOCUMENT: ANYBODY}


def add_document(blueprint: Blueprint) -> None:
    """Add the route of the document."""
    blueprint.add_url_rule(
        PATH, DOCUMENT, _openapi, methods=["GET"], provide_automatic_options=False
    )


def _openapi() -> Response:
    described = document()
    if request.script_root:
        described = {**described, "servers": [{"url": request.script_root}]}
    return json_answer(described, 200)
