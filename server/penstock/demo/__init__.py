"""Make the demo: real data with their origin and licence, and a story told on them.

* ``data/``        the data, where they come from, and their licence
* ``dataset.json``, ``queries/``, ``later/``  what is registered
* ``calls``        the formulas of what is pushed: invented, as the story says
* ``cast``         tiers and people
* ``stage``        the demo's home folder
* ``story``        what happens: everything through the services, as any caller would
* ``history``      what else happens, so that every page has something on it
* ``pages``        the story in words
* ``tour``         where to sign in, and what to type
"""
