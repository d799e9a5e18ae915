"""Sign users in with the tokens of an OpenID provider.

* ``issuer``  verifies a token against the keys that its issuer publishes
"""
