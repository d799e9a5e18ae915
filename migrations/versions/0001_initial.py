"""Create the first schema."""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ALIVE = sa.text("deleted_at IS NULL")


def upgrade() -> None:
    for make in TABLES:
        make()
    dialect = op.get_context().dialect.name
    for statement in append_only.preparation(dialect):
        op.execute(statement)
    for table in ("clearance", "tier_budget", "query_level", "release", "grant", "charge"):
        for statement in append_only.triggers(dialect, table):
            op.execute(statement)
    leaf = ("id", "bytes", "hash", "kind", "at", "actor", "user", "dataset", "query")
    for statement in append_only.triggers(dialect, "leaf", once="index", fixed=leaf):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")


def identifier() -> sa.Column[int]:
    """Return an id column; SQLite numbers rows by itself only if the type is INTEGER."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)


def reference(name: str, target: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(target), nullable=nullable)


def text_(name: str, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=nullable)


def integer(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def moment(name: str, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def check(name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=name)


def names() -> tuple[sa.Column[str], sa.Column[str], sa.CheckConstraint, sa.CheckConstraint]:
    return (
        text_("name"),
        text_("folded"),
        check("name", "length(name) BETWEEN 1 AND 64"),
        check("folded", "length(folded) >= 1"),
    )


def tier() -> None:
    op.create_table(
        "tier",
        identifier(),
        *names(),
        integer("rank"),
        text_("description"),
        moment("created_at"),
        moment("deleted_at", nullable=True),
        check("rank", "rank BETWEEN -1000000000 AND 1000000000"),
        sqlite_autoincrement=True,
    )
    for column in ("folded", "rank"):
        op.create_index(
            f"uq_tier_{column}",
            "tier",
            [column],
            unique=True,
            sqlite_where=ALIVE,
            postgresql_where=ALIVE,
        )


def user() -> None:
    op.create_table(
        "user",
        identifier(),
        *names(),
        sa.Column("analyst", sa.Boolean(), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("auditor", sa.Boolean(), nullable=False),
        moment("created_at"),
        moment("disabled_at", nullable=True),
        sa.UniqueConstraint("folded"),
        check("a_role", "analyst OR admin OR auditor"),
        sqlite_autoincrement=True,
    )


def clearance() -> None:
    op.create_table(
        "clearance",
        identifier(),
        reference("user_id", "user.id"),
        integer("version"),
        reference("tier_id", "tier.id", nullable=True),
        moment("at"),
        text_("by"),
        sa.UniqueConstraint("user_id", "version"),
        check("version", "version >= 1"),
        check("by", 'length("by") >= 1'),
    )
    op.create_index("ix_clearance_tier_id", "clearance", ["tier_id"])


def token() -> None:
    op.create_table(
        "token",
        identifier(),
        text_("prefix"),
        reference("user_id", "user.id"),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        text_("scopes"),
        moment("created_at"),
        moment("expires_at"),
        moment("revoked_at", nullable=True),
        sa.UniqueConstraint("prefix"),
        check("prefix", "length(prefix) >= 1"),
        check("digest", "length(digest) = 32"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_token_user_id", "token", ["user_id"])


def dataset() -> None:
    op.create_table(
        "dataset",
        identifier(),
        *names(),
        integer("version"),
        text_("spec"),
        text_("neighboring"),
        sa.Column("delta", sa.Float(), nullable=False),
        sa.Column("wrapped_kek", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_fingerprint", sa.LargeBinary(), nullable=True),
        sa.Column("sealed_salt", sa.LargeBinary(), nullable=True),
        moment("created_at"),
        text_("by"),
        sa.UniqueConstraint("folded", "version"),
        check("version", "version >= 1"),
        check("neighboring", "neighboring IN ('add_remove', 'replace')"),
        check("delta", "delta >= 0 AND delta < 1"),
        check("by", 'length("by") >= 1'),
        sqlite_autoincrement=True,
    )


def tier_budget() -> None:
    op.create_table(
        "tier_budget",
        identifier(),
        reference("dataset_id", "dataset.id"),
        reference("tier_id", "tier.id"),
        integer("version"),
        sa.Column("epsilon", sa.Float(), nullable=False),
        sa.Column("delta", sa.Float(), nullable=False),
        sa.Column("order", sa.Float(), nullable=False),
        sa.Column("limit_loss", sa.BigInteger(), nullable=False),
        sa.Column("limit_failure", sa.BigInteger(), nullable=False),
        moment("at"),
        text_("by"),
        sa.UniqueConstraint("dataset_id", "tier_id", "version"),
        check("version", "version >= 1"),
        check("epsilon", "epsilon > 0"),
        check("delta", "delta >= 0 AND delta < 1"),
        check("order", '"order" > 1'),
        check("limit_loss", "limit_loss > 0"),
        check("limit_failure", "limit_failure >= 0"),
        check("by", 'length("by") >= 1'),
    )
    op.create_index("ix_tier_budget_tier_id", "tier_budget", ["tier_id"])


def query() -> None:
    op.create_table(
        "query",
        identifier(),
        *names(),
        reference("dataset_id", "dataset.id"),
        text_("canonical_hash", nullable=True),
        text_("spec"),
        text_("sql", nullable=True),
        text_("sql_hash", nullable=True),
        text_("mechanism"),
        integer("calibration"),
        text_("granularity"),
        integer("dimension"),
        text_("keys", nullable=True),
        text_("sensitivity_l1"),
        text_("sensitivity_l2_squared"),
        text_("sensitivity_linf"),
        text_("ladder_finest"),
        text_("ladder_unit"),
        integer("ladder_doubling"),
        integer("ladder_last"),
        integer("ceiling"),
        integer("max_levels"),
        text_("status"),
        integer("seq"),
        sa.Column("wrapped_dek", sa.LargeBinary(), nullable=False),
        text_("asserted_by", nullable=True),
        moment("created_at"),
        text_("by"),
        sa.UniqueConstraint("folded"),
        sa.UniqueConstraint("canonical_hash"),
        *query_checks(),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_query_dataset_id", "query", ["dataset_id"])


def query_checks() -> list[sa.CheckConstraint]:
    return [
        check("mechanism", "length(mechanism) >= 1"),
        check("calibration", "calibration >= 1"),
        check("dimension", "dimension >= 1"),
        check("ladder_doubling", "ladder_doubling >= 1"),
        check("ladder_last", "ladder_last >= 0"),
        check("ceiling", "ceiling BETWEEN 0 AND ladder_last"),
        check("max_levels", "max_levels >= 1"),
        check("status", "status IN ('pending', 'active', 'retired')"),
        check("seq", "seq >= -1"),
        check("anchored", "status <> 'active' OR seq >= 0"),
        check("wrapped_dek", "length(wrapped_dek) >= 1"),
        check("by", 'length("by") >= 1'),
    ]


def query_level() -> None:
    op.create_table(
        "query_level",
        identifier(),
        reference("query_id", "query.id"),
        reference("tier_id", "tier.id"),
        integer("version"),
        integer("rung"),
        moment("at"),
        text_("by"),
        sa.UniqueConstraint("query_id", "tier_id", "version"),
        check("version", "version >= 1"),
        check("rung", "rung >= 0"),
        check("by", 'length("by") >= 1'),
    )
    op.create_index("ix_query_level_tier_id", "query_level", ["tier_id"])


def release() -> None:
    op.create_table(
        "release",
        identifier(),
        text_("public_id"),
        reference("query_id", "query.id"),
        integer("rung"),
        integer("seq"),
        integer("accurate_rung", nullable=True),
        integer("noisy_rung", nullable=True),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        moment("created_at"),
        sa.UniqueConstraint("public_id"),
        sa.UniqueConstraint("query_id", "rung"),
        sa.UniqueConstraint("query_id", "seq"),
        check("public_id", "length(public_id) >= 1"),
        check("rung", "rung >= 0"),
        check("seq", "seq >= 0"),
        check("accurate_rung", "accurate_rung >= 0 AND accurate_rung < rung"),
        check("noisy_rung", "noisy_rung > rung"),
        check("ciphertext", "length(ciphertext) >= 1"),
    )


def leaf() -> None:
    op.create_table(
        "leaf",
        identifier(),
        sa.Column("index", sa.BigInteger(), nullable=True),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        text_("kind"),
        moment("at"),
        text_("actor"),
        text_("user", nullable=True),
        text_("dataset", nullable=True),
        text_("query", nullable=True),
        sa.UniqueConstraint("index"),
        check("index", '"index" >= 0'),
        check("bytes", 'length("bytes") >= 1'),
        check("hash", "length(hash) = 32"),
        check("kind", "length(kind) >= 1"),
        check("actor", "length(actor) >= 1"),
    )
    for column in ("kind", "at", "user", "query"):
        op.create_index(f"ix_leaf_{column}", "leaf", [column])


def grant() -> None:
    op.create_table(
        "grant",
        identifier(),
        reference("user_id", "user.id"),
        reference("release_id", "release.id"),
        reference("tier_id", "tier.id"),
        reference("leaf_id", "leaf.id"),
        moment("at"),
        sa.UniqueConstraint("user_id", "release_id"),
    )
    op.create_index("ix_grant_release_id", "grant", ["release_id"])


def charge() -> None:
    op.create_table(
        "charge",
        identifier(),
        reference("dataset_id", "dataset.id"),
        reference("tier_id", "tier.id"),
        integer("seq"),
        reference("query_id", "query.id"),
        integer("rung"),
        sa.Column("order", sa.Float(), nullable=False),
        sa.Column("loss", sa.BigInteger(), nullable=False),
        sa.Column("failure", sa.BigInteger(), nullable=False),
        sa.Column("loss_total", sa.BigInteger(), nullable=False),
        sa.Column("failure_total", sa.BigInteger(), nullable=False),
        moment("at"),
        sa.UniqueConstraint("dataset_id", "tier_id", "seq"),
        check("seq", "seq >= 0"),
        check("rung", "rung >= 0"),
        check("order", '"order" > 1'),
        check("loss_total", "loss_total >= 0 AND loss_total >= loss"),
        check("failure_total", "failure_total >= 0 AND failure_total >= failure"),
    )
    for column in ("tier_id", "query_id"):
        op.create_index(f"ix_charge_{column}", "charge", [column])


TABLES: tuple[Callable[[], None], ...] = (
    tier,
    user,
    clearance,
    token,
    dataset,
    tier_budget,
    query,
    query_level,
    release,
    leaf,
    grant,
    charge,
)
