"""State the version of this package, which every request names."""

__version__ = "0.1.0"
