"""Test a server whose witness is in a bucket: no answer leaves before the bucket has its record."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.databases.object_store import ObjectStore
from tests.faults import stage
from tests.unit.transparency_log.witness.front import Front, launched, locked_bucket

from penstock.errors import Conflict, InvalidInput, LogUnavailable, Unavailable
from penstock.services import witnesses
from penstock.services.operations import home
from penstock.settings import Settings

LAKE = "lake"


def written(front: Front) -> str:
    """Return the connection's setting."""
    return json.dumps({"store": "s3", **front.options()})


@pytest.fixture
def front(object_store: ObjectStore) -> Iterator[Front]:
    with launched(object_store) as running:
        yield running


def settings_in(folder: Path, front: Front, bucket: str, **changes: Any) -> Settings:
    own: dict[str, Any] = {
        "witness_bucket": f"s3://{bucket}/logs/one",
        "witness_connection": LAKE,
        "connections": {LAKE: SecretStr(written(front))},
    }
    return Settings(**{**stage.settings_of(folder).model_dump(), **own, **changes})


@pytest.mark.slow
def test_no_answer_leaves_before_the_bucket_has_confirmed_it(
    tmp_path: Path, object_store: ObjectStore, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, bucket = tmp_path / "home", locked_bucket(object_store)
    stage.write_urls(folder, {})
    settings = settings_in(folder, front, bucket)
    monkeypatch.setattr(stage, "settings_of", lambda _: settings)
    stage.build(folder, analysts=1, names=["visits"])
    assert not settings.witness_path.exists()
    server = home.open_server(settings.model_copy(update={"log_patience": 1.0}))
    first, second = stage.asks(server, "visits", [1, 2])
    held = front.let_go["PUT"] = threading.Event()
    with pytest.raises(LogUnavailable):
        stage.answer(server, stage.analyst(0), first)
    front.let_go.pop("PUT")
    held.set()
    server.database.close()

    patient = home.open_server(settings)
    told = stage.answer(patient, stage.analyst(0), first)
    assert not told.first, "it was drawn by the request that was refused"
    front.came.clear()
    stage.answer(patient, stage.analyst(0), second)
    # It is looked at before the transaction; on PostgreSQL once more, by the batch of the log.
    assert front.came == ["GET", "PUT"]
    patient.database.close()
    with pytest.raises(Conflict, match="the witness of another log"):
        home.create(settings_in(tmp_path / "other", front, bucket, home=tmp_path / "other"))


@pytest.mark.slow
def test_a_bucket_without_a_lock_is_not_served_from(
    tmp_path: Path, object_store: ObjectStore, front: Front
) -> None:
    folder = tmp_path / "home"
    stage.write_urls(folder, {})
    settings = settings_in(folder, front, object_store.bucket())
    home.create(settings)
    with pytest.raises(Unavailable, match="does not lock"):
        home.open_server(settings)


@pytest.mark.parametrize(
    "secret", ["canary", '{"store": "gcs", "region": "canary"}', '{"store": "s3", "canary": "x"}']
)
def test_a_connection_that_cannot_be_used_is_named_and_not_quoted(secret: str) -> None:
    settings = Settings(
        witness_bucket="s3://bucket/logs",
        witness_connection=LAKE,
        connections={LAKE: SecretStr(secret)},
    )
    with pytest.raises(InvalidInput, match="PENSTOCK_CONNECTION_LAKE") as refused:
        witnesses.of(settings, lambda: pytest.fail("no secret is needed"))
    assert "canary" not in refused.value.detail
    unknown = settings.model_copy(update={"connections": {}})
    with pytest.raises(InvalidInput, match="'lake'"):
        witnesses.of(unknown, lambda: pytest.fail("no secret is needed"))
