"""Make the demo: real data with their origin and license, and an example told with them.

* ``data/``        the data, their origin and their license
* ``dataset.json``, ``queries/``, ``later/``  what is registered
* ``calls``        the formulas of the invented numbers that are pushed
* ``cast``         tiers and people
* ``stage``        the demo's home folder
* ``story``        the main steps, all through the services, as any caller would
* ``history``      further actions, so that every page shows something
* ``pages``        the story in words
* ``tour``         where to sign in, and which commands to type
"""
