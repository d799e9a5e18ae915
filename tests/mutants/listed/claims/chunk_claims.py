"""Provide faults of long vectors, which are drawn and stored in chunks."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

LONG: Final = "tests/unit/services/noise/long_vectors"
SEALING: Final = f"{LONG}/test_chunk_sealing.py::test_it_opens_under_no_other_number_length_or_key"
KEYS: Final = f"{LONG}/test_attempts.py::test_no_attempt_uses_a_key_stream_or_a_nonce_of_another"
STREAMS: Final = f"{LONG}/test_chunk_draws.py::test_every_key_and_number_has_a_stream_of_its_own"
RELEASES: Final = "tests/unit/services/releases/test_long_releases.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="chunk-of-any-number",
        path="services/noise/long_vectors/chunk_sealing.py",
        before="            index=index,\n",
        after="            index=0,\n",
        wrong="a chunk opens in the place of another of the same vector",
        tests=(SEALING,),
        row="V71",
    ),
    Mutant(
        name="chunk-of-any-attempt",
        path="services/noise/long_vectors/chunk_sealing.py",
        before="            attempt=self.attempt,\n",
        after='            attempt="",\n',
        wrong="a chunk opens in the place of one of another attempt",
        tests=(f"{LONG}/test_chunk_sealing.py",),
    ),
    Mutant(
        name="chunk-key-of-every-attempt",
        path="services/noise/long_vectors/attempts.py",
        before="os.urandom(NAME_SIZE).hex(), Key.fresh()",
        after='os.urandom(NAME_SIZE).hex(), Key(b"k" * 32)',
        wrong="what an interrupted attempt left opens under the key of the next one",
        tests=(KEYS,),
        row="V71",
    ),
    Mutant(
        name="chunk-noise-repeated",
        path="services/noise/long_vectors/chunk_draws.py",
        before='        number = index.to_bytes(8, "big")\n',
        after="        number = bytes(8)\n",
        wrong="all chunks of a vector have the same noise",
        tests=(STREAMS,),
        row="V71",
    ),
    Mutant(
        name="chunks-not-synced",
        path="persistence/chunks/folder.py",
        before="            _sync(self.folder)\n            _sync(self.folder.parent)\n",
        after="            _sync(self.folder.parent)\n",
        wrong="a manifest is committed before the names of its chunks outlast a loss of power",
        tests=(
            "tests/unit/persistence/chunks/test_folder.py::test_contents_and_names_are_synced_in_this_order",
        ),
        row="V71",
    ),
    Mutant(
        name="chunks-not-settled",
        path="services/noise/long_vectors/attempts.py",
        before="        writing.settle()\n",
        after="",
        wrong="a manifest is committed before its chunks are durable",
        tests=(f"{RELEASES}::test_chunks_are_durable_before_their_row_is_committed",),
    ),
    Mutant(
        name="neighbors-in-one-place",
        path="services/noise/long_vectors/drawing.py",
        before='rooms, "accurate")',
        after='rooms, "noisy")',
        wrong="a long level is drawn from one neighbor twice",
        tests=(f"{LONG}/test_drawing.py::test_a_level_is_drawn_from_its_nearest_neighbors",),
        row="V71",
    ),
    Mutant(
        name="work-with-the-noise-of-another",
        path="services/noise/long_vectors/spread/chunk_work.py",
        before='"stream": attempt.draws.chunk_key(index).hex()',
        after='"stream": attempt.draws.chunk_key(0).hex()',
        wrong="chunks that other processes draw have the same noise",
        tests=(
            f"{LONG}/spread/test_chunk_work.py::test_every_mechanism_is_drawn_elsewhere_as_here",
        ),
        row="V71",
    ),
    Mutant(
        name="drawn-from-former-neighbors",
        path="services/releases/long_releases.py",
        before="        if drawn_from != (accurate and accurate.id, noisy and noisy.id):\n",
        after="        if drawn_from[0] != (accurate and accurate.id):\n",
        wrong="a long level is stored that was drawn without the neighbor that came meanwhile",
        tests=(
            f"{RELEASES}::test_a_level_overtaken_by_another_is_drawn_again_from_the_true_neighbors",
        ),
        row="V71",
    ),
    Mutant(
        name="drawn-from-a-former-anchor",
        path="services/releases/long_releases.py",
        before="        if drawn_from != (accurate and accurate.id, noisy and noisy.id):\n",
        after="        if drawn_from[1] != (noisy and noisy.id):\n",
        wrong="a long level is stored that was drawn beside a better one that came meanwhile",
        tests=(
            f"{RELEASES}::test_a_level_overtaken_by_another_is_drawn_again_from_the_true_neighbors",
        ),
    ),
    Mutant(
        name="written-chunks-swept",
        path="services/noise/long_vectors/abandoned.py",
        before="            if not mine:\n                continue\n",
        after="",
        wrong="chunks are removed that somebody is writing",
        tests=(f"{LONG}/test_abandoned.py",),
    ),
    Mutant(
        name="objects-of-others-swept",
        path="persistence/chunks/bucket.py",
        before="        yield from (name for name in names if ATTEMPT.fullmatch(name))\n",
        after="        yield from names\n",
        wrong="all that others keep in the chunks' bucket is removed before the next draw",
        tests=(
            "tests/unit/persistence/chunks/test_bucket.py::test_what_others_keep_in_the_bucket_is_no_attempt_and_stays",
        ),
        row="V71",
    ),
    Mutant(
        name="root-not-logged",
        path="services/verification/verification.py",
        before='            if steps.root != fields.get("chunks"):\n',
        after="            if not steps.root:\n",
        wrong="the log may state another root than that of the chunks that are served",
        tests=(RELEASES,),
    ),
)
