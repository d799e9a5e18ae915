"""List the settings by subject, from the class that declares them, within the guide to them."""

import re

from docs.reference import included
from docs.reference.markdown import code, plain, table
from penstock.setting_connections import SENTENCE
from penstock.setting_sources import load
from penstock.settings import PREFIX

SUBJECTS = {
    "Address and processes": ("public_url", "host", "port", "workers", "log_level"),
    "Home and folders": ("home", "database_folder", "keys_folder", "chunks_", "data_", "ray_"),
    "Database": ("database_", "migration_", "replicas", "busy_", "room_", "statement_"),
    "Keys": ("key_", "pkcs11_"),
    "Audit log": ("witness_", "log_", "cosigners"),
    "Sign-in, tokens and sessions": ("oidc_", "token", "session_", "failed_", "two_person"),
    "Limits": ("_limit", "_day", "_minute", "request_", "processor_", "client_", "time_quantum"),
    "Computations": ("computing_",),
    "Monitoring and webhook": ("metrics_", "webhook_", "traces_"),
}
"""Beginnings of names, or endings where they begin with an underscore; the first that fits."""

REST = "More"

GUIDE = "deploy/settings.md"
_LIST = re.compile(r"(?m)^\| variable \|.*\n(?:\|.*\n)+")
"""The guide's list of all settings, which the lists by subject replace."""


def subject_of(name: str) -> str:
    """Return the subject under which a setting is listed."""
    for subject, parts in SUBJECTS.items():
        if any(name.endswith(part) if part[0] == "_" else name.startswith(part) for part in parts):
            return subject
    return REST


def page() -> str:
    """Return the guide to the settings, with a list of them for each subject."""
    _, settings = load({}, None)
    text = list[str]()
    for subject in (*SUBJECTS, REST):
        rows = [
            (
                code(PREFIX + setting.name.upper()),
                code(setting.value) if setting.value else "empty",
                plain(setting.sentence),
            )
            for setting in settings
            if subject_of(setting.name) == subject and setting.name != "connections"
        ]
        if subject == REST:
            rows.append((code(f"{PREFIX}CONNECTION_NAME"), "empty", plain(SENTENCE)))
        text += [f"## {subject}\n", table(("Variable", "Default", "Meaning"), rows)]
    written, replaced = _LIST.subn(lambda _: "\n".join(text), included.page(GUIDE))
    if replaced != 1:
        raise ValueError(f"{GUIDE} must have one list of settings, and it has {replaced}.")
    return written
