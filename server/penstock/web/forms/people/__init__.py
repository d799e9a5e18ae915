"""Read forms about people: what they may sign in with, and what is decided for them.

* ``user_form``      who they are
* ``token_form``     tokens
* ``decision_form``  decisions on requests of analysts
"""
