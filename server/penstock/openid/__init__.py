"""Sign users in with the tokens of an OpenID provider.

* ``issuer``         verifies a token against the keys that its issuer publishes
* ``relying_party``  signs people in at the issuer, by the authorization code flow
* ``transport``      reads the issuer's documents and sends it forms, within bounds
"""
