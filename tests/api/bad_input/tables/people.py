"""Provide invalid tiers, users and tokens."""

from typing import Any

from tests.api.bad_input.row import Absent, Flaw, Row, rows_of

TIERS = "/api/v1/tiers"
USERS = "/api/v1/users"
ANN = "/api/v1/users/ann"
TOKENS = "/api/v1/users/ann/tokens"
TIER: dict[str, Any] = {"name": "fresh", "rank": 20, "description": "For partners."}
USER: dict[str, Any] = {"name": "fresh", "roles": ["analyst"], "clearance": "public"}
CHANGE: dict[str, Any] = {"roles": ["analyst", "auditor"], "clearance": "internal"}
TOKEN: dict[str, Any] = {"expires_in": "30d", "scopes": ["analyst"]}

OF_TIERS = [
    Flaw("a name that is taken", {"name": "public"}, None, "choose another", 409, "NAME_TAKEN"),
    Flaw("a name in capitals", {"name": "PUBLIC"}, None, "tier 'public'", 409, "NAME_TAKEN"),
    Flaw("an empty name", {"name": ""}, "/name", "1 to 64"),
    Flaw("no name", {"name": Absent}, "/name", "Enter a name"),
    Flaw("a name in capitals of a field", {"name": Absent, "Name": "x"}, "/name", "Enter a name"),
    Flaw("a rank that is taken", {"rank": 10}, "/rank", "that of 'public'; choose a free one"),
    Flaw("half a rank", {"rank": 1.5}, "/rank", "an integer"),
    Flaw("a text for a rank", {"rank": "1"}, "/rank", "an integer"),
    Flaw("a boolean for a rank", {"rank": True}, "/rank", "an integer"),
    Flaw("a rank of 63 bits", {"rank": 2**63 - 1}, "/rank", "at most 1000000"),
    Flaw("a rank below all", {"rank": -(10**6) - 1}, "/rank", "at least -1000000"),
    Flaw("above nothing", {"rank": Absent, "above": "moon"}, "/above", "no tier 'moon'"),
    Flaw("a rank and a place", {"above": "public"}, "/above", "not both"),
    Flaw("a number to be above", {"rank": Absent, "above": 1}, "/above", "must be a string"),
    Flaw("an empty name above", {"rank": Absent, "above": ""}, "/above", "1 to 64"),
    Flaw("a huge name above", {"rank": Absent, "above": "x" * 10**5}, "/above", "1 to 64"),
    Flaw("a number to describe", {"description": 1}, "/description", "must be a string"),
    Flaw("an endless description", {"description": "y" * 1001}, "/description", "1000 or less"),
    Flaw("a zero byte to describe", {"description": "a\x00b"}, "/description", "control char"),
    Flaw("a field that is not known", {"ceiling": 1}, "/ceiling", "unknown"),
    Flaw("an id of one's own", {"id": 1}, "/id", "unknown"),
]
OF_USERS = [
    Flaw("a name that is taken", {"name": "ann"}, None, "'ann' is taken", 409, "NAME_TAKEN"),
    Flaw("a name in capitals", {"name": "ANN"}, None, "'ann' is taken", 409, "NAME_TAKEN"),
    Flaw("the operator's name", {"name": "Operator"}, None, "'operator' is", 409, "NAME_TAKEN"),
    Flaw("a disabled one's name", {"name": "gone"}, None, "taken", 409, "NAME_TAKEN"),
    Flaw("no roles", {"roles": []}, "/roles", "Choose at least one role"),
    Flaw("roles left out", {"roles": Absent}, "/roles", "Choose at least one role"),
    Flaw("a role that does not exist", {"roles": ["root"]}, "/roles/0", "'analyst', 'admin'"),
    Flaw("a role twice", {"roles": ["analyst", "analyst"]}, "/roles", "List every role once"),
    Flaw("a text for roles", {"roles": "analyst"}, "/roles", "must be a list"),
    Flaw("a clearance that does not exist", {"clearance": "moon"}, "/clearance", "no tier 'moon'"),
    Flaw("a number for a clearance", {"clearance": 1}, "/clearance", "must be a string"),
    Flaw("an empty clearance", {"clearance": ""}, "/clearance", "1 to 64"),
    Flaw("a huge clearance", {"clearance": "x" * 10**5}, "/clearance", "1 to 64"),
    Flaw("a password", {"password": "x"}, "/password", "unknown"),
]
OF_CHANGES = [
    Flaw("a clearance that does not exist", {"clearance": "moon"}, "/clearance", "no tier 'moon'"),
    Flaw("a list of clearances", {"clearance": ["public"]}, "/clearance", "must be a string"),
    Flaw("no roles", {"roles": []}, "/roles", "Choose at least one role"),
    Flaw("another name", {"name": "anne"}, "/name", "unknown"),
]
OF_TOKENS = [
    Flaw("no time", {"expires_in": 0}, "/expires_in", "at least 1"),
    Flaw("a negative time", {"expires_in": -1}, "/expires_in", "at least 1"),
    Flaw("a text of no unit", {"expires_in": "30"}, "/expires_in", '"30d", "12h"'),
    Flaw("a negative text", {"expires_in": "-1d"}, "/expires_in", '"30d", "12h"'),
    Flaw("other digits", {"expires_in": "\u0663d"}, "/expires_in", '"30d", "12h"'),
    Flaw("an endless text", {"expires_in": "9" * 10**5 + "d"}, "/expires_in", '"30d", "12h"'),
    Flaw("too long a time", {"expires_in": "999999999d"}, "/expires_in", "at most 3,650 days"),
    Flaw("too many seconds", {"expires_in": 2**62}, "/expires_in", "at most 3,650 days"),
    Flaw("a huge float", {"expires_in": 1e308}, "/expires_in", "an integer"),
    Flaw("half a second", {"expires_in": 0.5}, "/expires_in", "an integer"),
    Flaw("a boolean", {"expires_in": True}, "/expires_in", "an integer"),
    Flaw("no scopes", {"scopes": []}, "/scopes", "Choose at least one role"),
    Flaw("a scope beyond the roles", {"scopes": ["admin"]}, "/scopes", "some of analyst"),
    Flaw("an unknown scope", {"scopes": ["all"]}, "/scopes/0", "'analyst'"),
    Flaw("a text for scopes", {"scopes": "analyst"}, "/scopes", "must be a list"),
    Flaw("a token of one's own", {"token": "pst_x"}, "/token", "unknown"),
]

ROWS = [
    *rows_of("tier", TIERS, TIER, OF_TIERS),
    *rows_of("user", USERS, USER, OF_USERS),
    *rows_of("change", ANN, CHANGE, OF_CHANGES, verb="PATCH"),
    *rows_of("token", TOKENS, TOKEN, OF_TOKENS),
    Row("a token for nobody", "POST", f"{USERS}/moon/tokens", "no user 'moon'", 404, body={}),
    Row("a token for one shut out", "POST", f"{USERS}/gone/tokens", "disabled", 409, body={}),
    Row("no token to revoke", "DELETE", f"{TOKENS}/abcdefgh", "no token 'abcdefgh'", 404),
    Row("SQL to revoke", "DELETE", f"{TOKENS}/'%20OR%201=1", "no token", 404),
    Row("nobody to change", "PATCH", f"{USERS}/moon", "no user 'moon'", 404, body=CHANGE),
    Row("nobody to shut out", "DELETE", f"{USERS}/moon", "no user 'moon'", 404),
    Row("the last admin, gone", "DELETE", f"{USERS}/root", "root is the only admin", 409),
    Row("the last admin, demoted", "PATCH", f"{USERS}/ROOT", "another user an admin first", 409,
        body={"roles": ["analyst"]}),
    Row("roles of one's own", "PATCH", ANN, "takes the role admin", 403, body=CHANGE, by="ann"),
    Row("a scope that one lacks", "POST", TOKENS, "some of analyst", pointer="/scopes",
        body={"scopes": ["admin"]}, by="ann"),
]  # fmt: skip
