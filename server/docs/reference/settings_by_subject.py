"""List the settings by subject, from the class that declares them."""

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
    "Monitoring and webhook": ("metrics_", "webhook_"),
}
"""Beginnings of names, or endings where they begin with an underscore; the first that fits."""

REST = "More"


def subject_of(name: str) -> str:
    """Return the subject under which a setting is listed."""
    for subject, parts in SUBJECTS.items():
        if any(name.endswith(part) if part[0] == "_" else name.startswith(part) for part in parts):
            return subject
    return REST


def page() -> str:
    """Return the page of all settings."""
    _, settings = load({}, None)
    text = [
        "# Settings\n",
        (
            "Variables of the environment override `penstock.toml` (or the file that"
            " `PENSTOCK_CONFIG` names), which overrides the defaults. `penstock config show` shows"
            " where each value came from, and never a secret. How connections to warehouses and"
            " buckets are written is in [Settings and"
            " connections](../operate/settings.md#connections).\n"
        ),
    ]
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
    return "\n".join(text)
