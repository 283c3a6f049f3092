"""What pydantic finds wrong with a document, as messages say it: place, what was found, what is allowed."""

from __future__ import annotations

import inspect
import json
import re
import typing
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from contend.common.nearest import proposal
from contend.common.spelling import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import ValidationError

_INPUT = "Input should be "
_OWN = "Value error, "
_KINDS = [
    (re.compile(_INPUT + form), kind)
    for form, kind in (
        ("(a valid dictionary|an object)( or instance of .*)?", "an object"),
        ("a valid (list|tuple|array)", "a list"),
        ("a valid string", "a text"),
        ("a valid integer", "a whole number"),
        ("a valid number", "a number"),
        ("a valid boolean", "true or false"),
    )
]


def pointer(keys: Iterable[int | str]) -> str:
    """A JSON pointer (RFC 6901), fit for a terminal: long keys are cut."""
    return "".join("/" + printable(shortened(str(key))).replace("~", "~0").replace("/", "~1") for key in keys)


def shown(value: object) -> str:
    """A value of a document as messages echo it."""
    return printable(shortened(json.dumps(value, ensure_ascii=False, default=str)))


def misfit_of(error: ValidationError, document: object, model: type[BaseModel]) -> str:
    """The first thing that is wrong, with its JSON path.

    A key that is not known comes before one that is missing: it is likely that one, misspelled.

    Args:
        error: What checking the document ended with.
        document: The document.
        model: What it was checked against.
    """
    found = error.errors(include_url=False)
    one = min(found, key=lambda entry: entry["type"] != "extra_forbidden")
    kind = one["type"]
    keys = _keys(one["loc"], document)
    if kind == "missing":
        return f"{pointer([*keys, one['loc'][-1]])}: is missing"
    where = f"{pointer(keys)}: " if keys else ""
    if kind == "extra_forbidden":
        name = str(one["loc"][-1])
        known = list(_model_at(model, one["loc"][:-1]).model_fields)
        return f"{where}unknown key {shown(name)}; allowed: {', '.join(known)}{proposal(name, known)}"
    message = str(one["msg"])
    if message.startswith(_OWN):
        return where + message.removeprefix(_OWN)
    is_key = one["loc"][-1:] == ("[key]",)
    value = one["input"] if is_key else _value(keys, document)
    what = f"{where}{'unknown key' if is_key else 'found'} {shown(value)}"
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(one.get("ctx", {}).get("expected", "")))
        return f"{what}; allowed: {', '.join(words) or _allowed(message)}{proposal(value, words)}"
    if is_key:
        return f"{what}; allowed: {_allowed(message)}"
    # A union says what each of its members wants.
    wanted = dict.fromkeys(_allowed(str(other["msg"])) for other in found if _keys(other["loc"], document) == keys)
    return f"{what}; allowed: {' or '.join(wanted)}"


def _allowed(message: str) -> str:
    """What pydantic wants, in the words of JSON."""
    for form, kind in _KINDS:
        if form.fullmatch(message):
            return kind
    return message.removeprefix(_INPUT) if message.startswith(_INPUT) else message[:1].lower() + message[1:]


def _keys(location: Sequence[int | str], document: object) -> list[int | str]:
    """The part of pydantic's location that is a path of the document: it names members of unions, too."""
    keys: list[int | str] = []
    for key in location:
        is_index = isinstance(document, list) and isinstance(key, int) and key < len(document)
        if is_index or (isinstance(document, dict) and key in document):
            document = _value([key], document)
            keys.append(key)
    return keys


def _value(keys: Iterable[int | str], document: Any) -> Any:  # noqa: ANN401 - any JSON value
    for key in keys:
        document = document[key]
    return document


def _model_at(model: type[BaseModel], location: Iterable[int | str]) -> type[BaseModel]:
    """The model of an object within a document that is checked against another."""
    for key in location:
        if isinstance(key, str) and key in model.model_fields:
            model = next(_models_in(model.model_fields[key].annotation), model)
    return model


def _models_in(annotation: object) -> typing.Iterator[type[BaseModel]]:
    """The models that a field's type is made of: of lists and dictionaries those of their values."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models_in(part)
