"""How values and numbers of things are written."""

import pytest

from contend.common.spelling import counted, parameters_text, printable, value_text


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (1, "1"), (0.5, "0.5"), ("10 us", "10 us"), (None, "None")]
)
def test_values_are_spelt_as_in_scenarios(value: object, text: str) -> None:
    assert value_text(value) == text


def test_parameters() -> None:
    assert parameters_text({"pairs": 4, "overtaking": True}) == "pairs=4 overtaking=true"
    assert parameters_text({"pairs": 4, "overtaking": True}, ", ") == "pairs=4, overtaking=true"
    assert parameters_text({}) == ""


def test_what_cannot_be_printed_stands_as_in_json() -> None:
    assert printable("a\x1b[31m\nb\x9b\u202ec") == r"a\u001b[31m\nb\u009b\u202ec"
    assert printable("é 1 µs") == "é 1 µs"


def test_one_thing_has_no_s() -> None:
    assert [counted(number, "point") for number in (0, 1, 2)] == ["0 points", "1 point", "2 points"]
