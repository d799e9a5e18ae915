"""Test what is kept of earlier answers: each person's apart, bounded in number and size."""

from penstock.computing import answers
from penstock.computing.answers import EACH, LARGEST, PERSONS, Answers, digest


def test_an_answer_is_found_by_whoever_had_it_and_by_nobody_else() -> None:
    known = Answers()
    known.keep("ann", "preview", {"epsilon": 1}, {"level": [2.5, 1]})
    assert known.find("ann", "preview", {"epsilon": 1}) == {"level": [2.5, 1]}
    assert known.find("ben", "preview", {"epsilon": 1}) is None
    assert known.find("ann", "advice", {"epsilon": 1}) is None
    assert known.find("ann", "preview", {"epsilon": 2}) is None


def test_a_question_is_the_same_in_any_order_of_its_fields() -> None:
    assert digest("preview", {"a": 1, "b": [2]}) == digest("preview", {"b": [2], "a": 1})
    assert digest("preview", {"a": 1}) != digest("preview", {"a": "1"})
    assert digest("preview", {}) != digest("preview ", {})


def test_an_answer_that_is_too_large_is_not_kept() -> None:
    known = Answers()
    whole = "x" * (LARGEST - 2)  # and two quotation marks
    known.keep("ann", "preview", 1, whole)
    known.keep("ann", "preview", 2, whole + "x")
    assert known.find("ann", "preview", 1) == whole
    assert known.find("ann", "preview", 2) is None


def test_the_answer_that_was_asked_for_longest_ago_goes_first() -> None:
    known = Answers()
    for number in range(EACH):
        known.keep("ann", "preview", number, number)
    known.find("ann", "preview", 0)
    known.keep("ann", "preview", EACH, EACH)
    assert known.find("ann", "preview", 0) == 0
    assert known.find("ann", "preview", 1) is None
    assert known.find("ann", "preview", EACH) == EACH


def test_whoever_asks_much_drives_out_whole_persons_and_keeps_the_active_ones() -> None:
    known = Answers()
    for number in range(PERSONS):
        known.keep(f"person {number}", "preview", 1, number)
    assert known.find("person 0", "preview", 1) == 0
    known.keep("one more", "preview", 1, "new")
    assert known.find("person 0", "preview", 1) == 0
    assert known.find("person 1", "preview", 1) is None


def test_what_is_kept_is_a_copy() -> None:
    known = Answers()
    answer = {"levels": [1]}
    known.keep("ann", "preview", 1, answer)
    answer["levels"].append(2)
    first = known.find("ann", "preview", 1)
    assert first == {"levels": [1]}
    first["levels"].clear()
    assert known.find("ann", "preview", 1) == {"levels": [1]}
    assert answers.LARGEST * EACH * PERSONS <= 128 * 2**20
