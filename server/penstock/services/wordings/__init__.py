"""Keep the texts that people write for readers about datasets, queries and streams.

* ``wordings``         titles, descriptions, units, tags, key labels and owners: changed
* ``stored``           those of many datasets or queries, read with one statement
* ``logged_wordings``  their leaves, compared with their table

No text is part of a spec, and none is read from data.
"""
