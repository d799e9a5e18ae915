"""Test what every provider of keys must do, whatever it keeps them in."""

from collections.abc import Callable

import pytest
from tests.support.forked import in_child

from penstock.encryption import Key, KeyProvider, KeyRing, wrapping_key
from penstock.errors import IntegrityViolation, KeysUnavailable

Another = Callable[[], KeyProvider]


def test_a_wrapped_key_comes_back_also_elsewhere(another: Another, context: bytes) -> None:
    key = Key.fresh()
    wrapped = another().wrap(key, context)
    assert key.material not in wrapped
    assert another().unwrap(wrapped, context).material == key.material


def test_a_key_is_wrapped_differently_every_time(provider: KeyProvider, context: bytes) -> None:
    key = Key.fresh()
    assert provider.wrap(key, context) != provider.wrap(key, context)


def test_a_key_unwraps_in_its_context_only(provider: KeyProvider, context: bytes) -> None:
    wrapped = provider.wrap(Key.fresh(), context)
    provider.wrap(Key.fresh(), context + b" and more")
    with pytest.raises(IntegrityViolation):
        provider.unwrap(wrapped, context + b" and more")


def test_whatever_byte_is_altered_nothing_is_unwrapped(
    provider: KeyProvider, context: bytes
) -> None:
    wrapped = provider.wrap(Key.fresh(), context)
    for place in range(len(wrapped)):
        altered = wrapped[:place] + bytes([wrapped[place] ^ 1]) + wrapped[place + 1 :]
        with pytest.raises((IntegrityViolation, KeysUnavailable)):
            provider.unwrap(altered, context)


@pytest.mark.parametrize("length", [0, 1, 9, 40])
def test_what_is_cut_short_is_refused(provider: KeyProvider, context: bytes, length: int) -> None:
    wrapped = provider.wrap(Key.fresh(), context)
    with pytest.raises(IntegrityViolation, match="cut short"):
        provider.unwrap(wrapped[:length], context)


def test_contexts_have_keys_of_their_own(provider: KeyProvider, context: bytes) -> None:
    one, other = (provider.wrap(Key.fresh(), context + end) for end in (b"1", b"2"))
    assert wrapping_key(one) != wrapping_key(other)
    assert {wrapping_key(one), wrapping_key(other)} <= set(provider.health().keys)


def test_keys_rotate_while_others_are_at_work(another: Another, context: bytes) -> None:
    operator, server, key = another(), another(), Key.fresh()
    wrapped = server.wrap(key, context)
    writer = another()
    assert server.rewrap(wrapped, context) is wrapped
    old, new = wrapping_key(wrapped), operator.renew(context)
    assert old != new
    assert wrapping_key(writer.wrap(Key.fresh(), context)) == new  # else it were soon lost
    rewrapped = operator.rewrap(wrapped, context)
    assert wrapping_key(rewrapped) == new
    for one in (wrapped, rewrapped):
        assert server.unwrap(one, context).material == key.material
    assert wrapping_key(server.wrap(Key.fresh(), context)) == new
    assert operator.keys_of(context)[:-1] == (old,)
    assert operator.drop([old]) == (old,)
    assert operator.drop([old]) == ()
    assert len(operator.keys_of(context)) == 1
    assert another().unwrap(rewrapped, context).material == key.material
    with pytest.raises(KeysUnavailable, match=f"lacks key {old}"):
        another().unwrap(wrapped, context)


def test_a_rotation_that_was_interrupted_goes_on(another: Another, context: bytes) -> None:
    key = Key.fresh()
    wrapped = another().wrap(key, context)
    another().renew(context)  # here the first one was cut off
    again = another()
    again.renew(context)
    rewrapped = again.rewrap(wrapped, context)
    assert len(again.drop(again.keys_of(context)[:-1])) == 2
    assert another().unwrap(rewrapped, context).material == key.material


def test_the_tenth_key_is_the_newest_as_well(provider: KeyProvider, context: bytes) -> None:
    for _ in range(11):
        newest = provider.renew(context)
        assert wrapping_key(provider.wrap(Key.fresh(), context)) == newest


def test_what_is_destroyed_is_gone_and_nothing_else(another: Another, context: bytes) -> None:
    provider, kept = another(), Key.fresh()
    wrapped = provider.wrap(Key.fresh(), context)
    other = provider.wrap(kept, context + b" other")
    provider.renew(context)
    assert len(provider.destroy(context)) == 2
    assert provider.destroy(context) == ()
    with pytest.raises(KeysUnavailable, match="lacks key"):
        another().unwrap(wrapped, context)
    assert another().unwrap(other, context + b" other").material == kept.material


def test_a_provider_that_can_tell_has_another_version_after_every_change(
    another: Another, context: bytes
) -> None:
    provider, other = another(), another()
    versions = [provider.version()]
    for act in (other.renew, other.renew, other.destroy):
        act(context)
        versions.append(provider.version())
        assert versions[-1] == other.version()
    assert len(set(versions)) == (4 if isinstance(provider, KeyRing) else 1)


def test_a_child_process_opens_the_provider_for_itself(
    provider: KeyProvider, context: bytes
) -> None:
    key = Key.fresh()
    wrapped = provider.wrap(key, context)
    assert in_child(lambda: provider.unwrap(wrapped, context).material == key.material)
    assert provider.unwrap(wrapped, context).material == key.material


def test_a_provider_is_not_serialized(provider: KeyProvider) -> None:
    with pytest.raises(TypeError, match="not serialized"):
        provider.__reduce__()
