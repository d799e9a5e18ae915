"""Test the witness in a bucket: it only goes forward, whoever writes, and notices what is gone."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
import obstore
import pytest
from obstore.store import S3Store
from tests.databases.object_store import ACCESS_KEY, ObjectStore
from tests.unit.transparency_log.witness.front import Front, launched, locked_bucket

from penstock.errors import LogUnavailable, Unavailable
from penstock.transparency_log.sights import NOTHING, Sight
from penstock.transparency_log.witness.bucket import Bucket, Name
from penstock.transparency_log.witness.bucket_witness import BucketWitness

pytestmark = pytest.mark.slow

SIGNED = f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/us-east-1/s3/aws4_request"
"""Who asks; the tests' server checks no signature."""

KEY, PREFIX = b"k" * 32, "logs/one"
HANG = 300.0


def sight(size: int, **accounts: tuple[int, int]) -> Sight:
    return Sight(size, hashlib.sha256(str(size).encode()).digest(), accounts)


@dataclass
class Place:
    """Hold a bucket, and the server before it."""

    store: ObjectStore
    front: Front
    bucket: str

    def witness(self, *, patience: float = HANG, keys: tuple[bytes, ...] = (KEY,)) -> BucketWitness:
        """Return the witness as another host opens it."""
        bucket = Bucket(self.bucket, PREFIX, self.front.options(), patience)
        return BucketWitness(bucket, patience, lambda: keys)

    def path(self, number: int) -> str:
        return f"{PREFIX}/{number:020d}.json"

    def names(self) -> list[str]:
        pages = obstore.list(self.store.opened(self.bucket), f"{PREFIX}/")
        return [item["path"] for page in pages for item in page]

    def content(self, number: int) -> bytes:
        found = obstore.get(self.store.opened(self.bucket), self.path(number))
        return bytes(found.bytes())

    def write_over(self, number: int, content: bytes) -> None:
        """Put another version in the place of an object."""
        options = {**self.front.options(), "client_options": {"allow_http": True}}
        options.pop("allow_http")
        store = S3Store(self.bucket, checksum_algorithm="SHA256", **options)  # type: ignore[arg-type]  # a test's
        obstore.put(store, self.path(number), content)

    def delete_version(self, number: int) -> int:
        """Delete the first version of an object for good, and return the answer's status."""
        address = f"{self.store.url}/{self.bucket}"
        versions = httpx.get(f"{address}?versions", trust_env=False, timeout=HANG).text
        entry = versions.split(f"<Key>{self.path(number)}</Key>")[1]
        version = entry.split("<VersionId>")[1].split("<")[0]
        return httpx.delete(
            f"{address}/{self.path(number)}?versionId={version}",
            headers={"Authorization": SIGNED},
            trust_env=False,
            timeout=HANG,
        ).status_code


@pytest.fixture
def place(object_store: ObjectStore) -> Iterator[Place]:
    with launched(object_store) as front:
        yield Place(object_store, front, locked_bucket(object_store))


@pytest.fixture
def begun(place: Place) -> BucketWitness:
    witness = place.witness()
    witness.begin()
    return witness


def test_it_begins_once_and_goes_forward_with_one_object_for_each_record(place: Place) -> None:
    witness = place.witness()
    assert not witness.exists()
    with pytest.raises(LogUnavailable, match=r"has no record.*acknowledge-restore"):
        witness.seen()
    witness.begin()
    witness.begin()
    assert witness.seen() == NOTHING
    witness.advance(sight(5, a=(1, 2)))
    witness.advance(sight(3, a=(4, 1)))
    assert place.witness().seen() == sight(5, a=(4, 2))
    assert place.names() == [place.path(number) for number in (1, 2, 3)]
    witness.advance(sight(5))
    assert len(place.names()) == 3, "what is witnessed already takes no object"


def test_advancing_is_one_request_where_nobody_else_writes(
    place: Place, begun: BucketWitness
) -> None:
    before = len(place.front.came)
    begun.advance(sight(1))
    assert place.front.came[before:] == ["PUT"]


def test_of_hosts_that_write_at_once_nobody_takes_another_back(place: Place) -> None:
    place.witness().begin()
    sizes = [range(host, 24, 4) for host in range(1, 5)]

    def write(host: int) -> None:
        witness = place.witness()
        for size in sizes[host]:
            witness.advance(sight(size, **{f"a{host}": (size, 0)}))

    threads = [threading.Thread(target=write, args=(host,)) for host in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = place.witness().seen()
    assert last.size == 23
    assert last.accounts == {f"a{host}": (max(sizes[host]), 0) for host in range(4)}
    records = [place.content(number + 1) for number in range(len(place.names()))]
    seen = [int(record.split(b'"size": ')[1].split(b",")[0]) for record in records]
    assert seen == sorted(seen)


def test_a_record_whose_deletion_hides_it_is_missed_by_all(
    place: Place, begun: BucketWitness
) -> None:
    begun.advance(sight(1))
    begun.advance(sight(2))
    obstore.delete(place.store.opened(place.bucket), place.path(3))
    assert len(place.names()) == 2, "the lock keeps an object, and not its name"
    with pytest.raises(LogUnavailable, match="has record 3 no more"):
        begun.seen()
    with pytest.raises(LogUnavailable, match="had a record 3, which was deleted"):
        place.witness().seen()
    with pytest.raises(LogUnavailable, match="which was deleted"):
        place.witness().begin()


def test_a_locked_record_is_not_deleted_for_good(place: Place, begun: BucketWitness) -> None:
    begun.advance(sight(1))
    assert place.delete_version(2) == 403
    assert begun.seen() == sight(1)
    without = Place(place.store, place.front, place.store.bucket(versions=True))
    witness = without.witness()
    witness.begin()
    witness.advance(sight(1))
    assert without.delete_version(2) == 204
    with pytest.raises(LogUnavailable, match="has record 2 no more"):
        witness.seen()


def test_a_record_that_is_written_over_is_noticed(place: Place, begun: BucketWitness) -> None:
    """A lock keeps the earlier version of an object, and a reader is given the newest."""
    begun.advance(sight(1))
    begun.advance(sight(2))
    whole = place.content(3)
    for other, says in (
        (place.content(2), "another record in the place of number 3"),
        (whole.replace(b'"size": 2', b'"size": 1'), "does not authenticate"),
        (b"{}", "no server wrote"),
    ):
        place.write_over(3, other)
        with pytest.raises(LogUnavailable, match="no more, or another in its place"):
            begun.seen()
        with pytest.raises(LogUnavailable, match=says):
            place.witness().seen()
    place.write_over(3, whole)
    with pytest.raises(LogUnavailable, match="does not authenticate"):
        place.witness(keys=(b"other",)).seen()


def test_objects_of_others_hide_nothing(place: Place, begun: BucketWitness) -> None:
    httpx.put(
        f"{place.store.url}/{place.bucket}/{PREFIX}/00000000000000000001a",
        headers={"x-amz-sdk-checksum-algorithm": "SHA256"},
        content=b"",
        trust_env=False,
        timeout=HANG,
    ).raise_for_status()
    with pytest.raises(LogUnavailable, match="objects that no server wrote"):
        begun.seen()


def test_a_bucket_that_refuses_or_is_away_stops_what_is_new_and_loses_nothing(
    place: Place, begun: BucketWitness
) -> None:
    begun.advance(sight(1))
    place.front.refused = frozenset({"GET", "PUT", "HEAD"})
    for act in (begun.seen, lambda: begun.advance(sight(2)), place.witness().seen):
        with pytest.raises(LogUnavailable, match=r"refuses access \(403\).*nothing new is"):
            act()
    place.front.refused = frozenset()
    begun.advance(sight(2))
    assert place.witness().seen() == sight(2)
    away = Bucket(
        place.bucket, PREFIX, {**place.front.options(), "endpoint": "http://127.0.0.1:1"}, 1
    )
    with pytest.raises(LogUnavailable, match="cannot be reached"):
        BucketWitness(away, 1, lambda: (KEY,)).seen()


def test_a_bucket_that_does_not_answer_is_given_up(place: Place, begun: BucketWitness) -> None:
    place.front.let_go["PUT"] = threading.Event()
    impatient = place.witness(patience=0.5)
    with pytest.raises(LogUnavailable):
        impatient.advance(sight(1))
    place.front.let_go.pop("PUT").set()
    begun.advance(sight(2))
    assert begun.seen().size == 2


def test_a_record_whose_answer_was_lost_is_found_and_not_added_twice(
    place: Place, begun: BucketWitness
) -> None:
    place.front.cut.add("PUT")
    begun.advance(sight(1))
    assert begun.seen() == place.witness().seen() == sight(1)
    assert len(place.names()) == 2


def test_suspensions_and_restores_are_records_too(place: Place, begun: BucketWitness) -> None:
    begun.advance(sight(3, a=(1, 1)))
    begun.suspend(sight(2), "2026-01-01T00:00:00Z")
    assert not place.witness().seen().suspended_at, "of another state than the newest"
    begun.suspend(sight(3, a=(1, 1)), "2026-01-01T00:00:00Z")
    assert place.witness().seen().suspended_at == "2026-01-01T00:00:00Z"
    begun.resume()
    assert not place.witness().seen().suspended_at
    begun.start_over(sight(1), instead_of=sight(2))
    assert place.witness().seen() == sight(3, a=(1, 1))
    begun.start_over(sight(1), instead_of=sight(3, a=(1, 1)))
    assert place.witness().seen() == sight(1)
    place.write_over(len(place.names()), b"{}")
    place.witness().start_over(sight(2))
    assert place.witness().seen() == sight(2)


def test_another_key_is_used_from_its_first_record_on(place: Place, begun: BucketWitness) -> None:
    begun.advance(sight(1))
    place.witness(keys=(b"new", KEY)).renew()
    assert place.witness(keys=(b"new",)).seen() == sight(1)


def test_only_a_bucket_that_locks_in_compliance_mode_is_taken(
    place: Place, begun: BucketWitness, object_store: ObjectStore
) -> None:
    now = datetime.now(UTC)
    begun.require_locked(now)
    assert len(place.names()) == 1
    begun.require_locked(now + timedelta(days=31))
    assert len(place.names()) == 2, "a record whose lock has ended is added again"
    others = object_store.bucket(), locked_bucket(object_store, "GOVERNANCE")
    for other in others:
        witness = Place(object_store, place.front, other).witness()
        witness.begin()
        with pytest.raises(Unavailable, match=r"does not lock.*compliance mode"):
            witness.require_locked(now)


def test_a_store_that_takes_objects_over_others_is_refused(
    place: Place, begun: BucketWitness, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    begun.require_locked(now)

    def careless(_: Bucket, number: int, content: bytes) -> Name:
        place.write_over(number, content)
        return Name(number, "another tag")

    before = place.content(1)
    monkeypatch.setattr(Bucket, "create", careless)
    with pytest.raises(Unavailable, match="stores an object over another"):
        begun.require_locked(now)
    assert place.content(1) == before


def test_the_newest_of_thousands_is_found_by_few_lists(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.transparency_log.witness import bucket_witness

    monkeypatch.setattr(bucket_witness, "PAGE", 10)
    lists: list[int] = []

    def after(_: Bucket, number: int) -> list[Name]:
        lists.append(number)
        return [Name(each, None) for each in range(number + 1, min(number + 11, last + 1))]

    monkeypatch.setattr(Bucket, "after", after)
    for last in (0, 1, 9, 10, 11, 25, 12345):
        lists.clear()
        assert place.witness()._highest() == last
        assert len(lists) < 60
