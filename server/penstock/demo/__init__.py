"""The demo: real data with their origin and licence, and a story told on them.

* ``data/``        the data, where they come from, and their licence
* ``dataset.json``, ``queries/``  what is registered
* ``cast``           tiers and people
* ``stage``          the demo's home folder
* ``story``          what happens: everything through the services, as any caller would
* ``pages``        the story in words
"""
