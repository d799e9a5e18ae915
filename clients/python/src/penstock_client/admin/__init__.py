"""Administer a server: people, tiers, data, what takes two persons, and the log's proofs.

- ``client``: ``Admin``, a client with all of it.
- ``people``: users, their tokens, and tiers.
- ``data``: datasets with their budgets, queries, streams and schedules.
- ``decisions``: proposals under the two-person rule.
- ``proofs``: the log's events and its proofs, verified.
- ``sending``: requests that are sent again if their answer is lost, and acted on once.
- ``models``: the answers; ``documents``: their tables.
"""
