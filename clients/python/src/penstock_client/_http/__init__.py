"""Talk HTTP to a server.

* ``transport``  sends a request and parses the answer, or raises an error of this package
* ``address``    checks which servers a token may be sent to
* ``problems``   turns a refusal into the error to raise
* ``fields``     reads answers, and refuses fields whose type is not the one in the contract
* ``files``      fetches answers in the formats of tables
* ``pushing``    pushes a stream's elements in parts, so that each is stored exactly once
* ``version``    states the version of this package
"""
