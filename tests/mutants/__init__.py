"""Provide faults that the ordinary suite must find: a measure of what it sees (README.md)."""
