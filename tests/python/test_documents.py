"""Documents with other values at some paths."""

import copy

import pytest

from contend.common.documents import set_path, with_values
from contend.common.jsontypes import JsonObject

DOCUMENT: JsonObject = {"a": {"b": {"c": 1, "d": 2}, "e": {"f": 3}}, "g": [1]}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"g": 2},
        {"a.b.d": 5, "a.b.c": 4, "a.e.f": 6},
        {"a.b.new": 1, "a.x.y.z": 2, "a.x.y.w": 3},
        {"a.b": {"c": 7}},
    ],
)
def test_a_document_with_other_values_is_as_if_they_were_set(values: JsonObject) -> None:
    """In the same order, too, as it is the name of a simulation; and the document itself stays as it is."""
    before = copy.deepcopy(DOCUMENT)
    expected = copy.deepcopy(DOCUMENT)
    for path, value in values.items():
        set_path(expected, path, value)
    assert repr(with_values(DOCUMENT, values)) == repr(expected)
    assert before == DOCUMENT


def test_what_is_beside_them_is_shared() -> None:
    changed = with_values(DOCUMENT, {"a.b.c": 4})
    assert changed["a"]["e"] is DOCUMENT["a"]["e"]
    assert changed["a"]["b"] is not DOCUMENT["a"]["b"]
