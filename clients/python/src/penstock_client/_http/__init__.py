"""Talk HTTP to a server.

* ``transport``  one request, one parsed answer, or one error of this package
* ``address``    which servers a token may be sent to
* ``problems``   from a refusal to the error that says so
* ``fields``     reads an answer: each field has the type that the contract states, or it is
                 refused
* ``pushing``    sends a stream's elements in parts, each taken in once
* ``version``    the version of this package
"""
