"""Provide invalid streams and elements."""

from typing import Any

from tests.api.bad_input.row import Absent, Flaw, Row, rows_of

STREAMS = "/api/v1/streams"
STREAM: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "structure": "kary",
    "length": 100,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.01}},
}
FLAWS = [
    Flaw("another mechanism", {"mechanism": "poisson"}, "/mechanism", "must be"),
    Flaw("no structure of ours", {"structure": "heap"}, "/structure", "must be"),
    Flaw("a square root of Laplace noise", {"structure": "sqrt"}, "/structure", "gaussian noise"),
    Flaw("a square root of too many steps",
         {"mechanism": "gaussian", "structure": "sqrt", "length": 20_000}, "/length", "16384"),
    Flaw("a square root of too many numbers",
         {"mechanism": "gaussian", "structure": "sqrt", "length": 9000, "dimension": 9},
         "/dimension", "65,536"),
    Flaw("buffers of Laplace noise", {"structure": "buffered"}, "/structure", "gaussian noise"),
    Flaw("k of another tree", {"structure": "binary", "k": 3}, "/k", "with structure kary"),
    Flaw("k of 1", {"k": 1}, "/k", "at least 2"),
    Flaw("no word on the length", {"length": Absent}, "/length", "Enter how many elements"),
    Flaw("no step", {"length": 0}, "/length", "at least 1"),
    Flaw("half a step", {"length": 1.5}, "/length", "integer"),
    Flaw("a smooth tree without an end", {"structure": "smooth_binary", "length": None}, "/length",
         "needs a length"),
    Flaw("no numbers", {"dimension": 0}, "/dimension", "at least 1"),
    Flaw("a third for a step", {"step": 1 / 3}, "/step", "power of two"),
    Flaw("a bound below the step", {"bound": 0.5}, "/bound", "lies between"),
    Flaw("norms that no vector has", {"sensitivity": {"l1": 1, "l2": 2}}, "/sensitivity/l2",
         "no vector allows"),
    Flaw("no word on steps of a unit", {"max_steps_per_unit": Absent}, "/max_steps_per_unit",
         "privacy unit of sites is not the event"),
    Flaw("units in no step", {"max_steps_per_unit": 0}, "/max_steps_per_unit", "at least 1"),
    Flaw("too many numbers of a unit", {"max_steps_per_unit": 2**20, "dimension": 2000},
         "/max_steps_per_unit", "this server allows"),
    Flaw("levels and a share", {"share": 0.1}, "", "either share or levels"),
    Flaw("a tier that does not exist", {"levels": {"moon": {"rho": 1}}}, "/levels/moon", "no tier"),
    Flaw("no dataset", {"dataset": "nothing"}, None, "no dataset", 404),
    Flaw("a query's name", {"name": "visits"}, None, "already", 409, "NAME_TAKEN"),
    Flaw("more than the budget", {"levels": {"public": {"epsilon": 50}}}, None,
         "does not allow it", 409, "BUDGET_EXHAUSTED"),
    Flaw("values", {"values": [1]}, "/values", "unknown"),
]  # fmt: skip

ROWS = [
    *rows_of("stream", STREAMS, STREAM, FLAWS),
    Row("elements of no stream", "POST", f"{STREAMS}/nothing/elements", "no stream", 404,
        body={"from": 1, "values": [1]}),
    Row("elements of a query", "POST", f"{STREAMS}/visits/elements", "no stream", 404,
        body={"from": 1, "values": [1]}),
    Row("elements without a number", "POST", f"{STREAMS}/nothing/elements", "number of the first",
        pointer="/from", body={"values": [1]}),
    Row("elements from no number on", "POST", f"{STREAMS}/nothing/elements", "integer",
        pointer="/from", body={"from": 1.5, "values": [1]}),
    Row("elements that are no list", "POST", f"{STREAMS}/nothing/elements", "must be a list",
        pointer="/values", body={"from": 1, "values": "1"}),
    Row("levels of no stream", "PATCH", f"{STREAMS}/nothing", "no stream", 404,
        body={"levels": {"public": {"rho": 1}}}),
]  # fmt: skip
