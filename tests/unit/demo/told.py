"""Provide a demo that has been told, quietly."""

PORT = 8123


def quiet(step: str) -> None:
    """Take in progress that nobody watches."""
