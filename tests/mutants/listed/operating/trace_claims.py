"""Provide faults that break claims of traces (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

CANARIES: Final = (
    "tests/api/tracing/test_trace_canaries.py"
    "::test_spans_say_nothing_of_people_names_data_or_values"
)
JOBS: Final = (
    "tests/api/tracing/test_traced_jobs.py"
    "::test_a_job_is_named_by_its_kind_and_an_error_by_its_class"
)
INSIDE: Final = (
    "tests/api/tracing/test_traced_jobs.py::test_a_job_inside_the_server_has_a_span_of_its_kind_too"
)
SENDING: Final = "tests/api/tracing/test_sending.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V93",
        name="span-of-a-path",
        path="tracing/traced_requests.py",
        before="        return OTHER, attributes\n",
        after="        return f\"{verb} {environ['PATH_INFO']}\", attributes\n",
        wrong="a request that fits no route has its path, with whatever is typed there, in a span",
        tests=(CANARIES,),
    ),
    Mutant(
        row="V93",
        name="span-of-an-errors-text",
        path="tracing/spans.py",
        before="            record_exception=False,\n",
        after="            record_exception=True,\n",
        wrong="the text of an error, with its names and its statement, is an event of a span",
        tests=(CANARIES,),
    ),
    Mutant(
        row="V93",
        name="span-of-a-jobs-fields",
        path="tracing/traced_jobs.py",
        before="            with tracing.job(kind):\n",
        after='            with tracing.job(f"{kind} {fields}"):\n',
        wrong="a job's span has the names that the job is about",
        tests=(JOBS,),
    ),
    Mutant(
        row="V93",
        name="span-of-a-jobs-subject",
        path="services/jobs/runner.py",
        before="            with self._watching(job_request.kind):\n",
        after="            with self._watching(job_request.subject):\n",
        wrong="the span of a job inside the server has the name of what it makes",
        tests=(INSIDE,),
    ),
    Mutant(
        row="V93",
        name="library-quoted",
        path="tracing/sending.py",
        before='{**vars(record), "msg": message, "args": (), "fields": fields}',
        after='{**vars(record), "fields": fields}',
        wrong="the log quotes the header with which the collector is asked, or its answer",
        tests=(
            f"{SENDING}::test_a_mistake_in_a_variable_is_a_sentence_that_does_not_quote_it",
            f"{SENDING}::test_a_refusal_is_a_line_with_the_status_and_nothing_of_the_answer",
        ),
    ),
)
