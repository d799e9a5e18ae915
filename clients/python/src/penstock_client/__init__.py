"""Python client of a Penstock server."""

__version__ = "0.1.0"
