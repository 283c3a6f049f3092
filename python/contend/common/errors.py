"""What can go wrong, as the user sees it: one message and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.explanations.explanation import Explanation
    from contend.results.results import Results

EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


class ContendError(Exception):
    """Something failed; the message is for the user, complete in itself."""

    exit_code = EXIT_FAILURE


class InputError(ContendError):
    """What the user gave (a file, an option, a value) cannot be used."""

    exit_code = EXIT_BAD_INPUT


class SimulationFailedError(ContendError):
    """A simulation ended with an error, for example a deadlock in the modelled library."""


class InterruptedRunError(ContendError):
    """The user stopped a run; what had finished was kept.

    Attributes:
        results: What had finished, where a function of the package would have returned results.
        explanation: What had finished of an explanation.
    """

    exit_code = EXIT_INTERRUPTED

    def __init__(self, message: str, results: Results | None = None, explanation: Explanation | None = None) -> None:
        super().__init__(message)
        self.results = results
        self.explanation = explanation
