"""Read datasets that are views in ClickHouse: inside this process (chdb), or of a server.

* ``session``      what both have in common: settings, and one SELECT over relations of ours
* ``reading``      opens a session at an address
* ``embedded``     ClickHouse in this process, on a folder of its tables
* ``server``       a server, by its HTTP interface
* ``failures``     what ClickHouse refuses or fails at, in our own words
* ``views``        a view's columns, their types, and what it is recognized by
* ``relations``    what surrounds a statement: its source, declared keys, the salt
* ``dialect``      how statements are written for it
* ``conformance``  asks it the questions with known answers
* ``connector``    reads views with it
"""
