"""What answers decide: which way a difference goes, whether a gate lets pass, whether a published claim holds."""

from __future__ import annotations

from enum import StrEnum

from clonometer.errors import EXIT_CANNOT_TELL, EXIT_REGRESSION

#: Direction -> what people say of a time, and of what is no time.
_WORDS = {"more": ("slower", "higher"), "less": ("faster", "lower"), "equal": ("the same", "the same")}


class Direction(StrEnum):
    """What the data says of the second side over the first; `UNKNOWN` is not `EQUAL`."""

    MORE = "more"
    LESS = "less"
    #: Surely within a bound.
    EQUAL = "equal"
    #: The data bears none of the others.
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, change: float) -> Direction:
        """The direction of a change that is sure, from its sign."""
        return cls.MORE if change > 0 else cls.LESS

    @property
    def is_change(self) -> bool:
        """Whether it is a difference."""
        return self in (Direction.MORE, Direction.LESS)

    def word(self, *, is_time: bool) -> str:
        """What people call it; what is no time is neither faster nor slower.

        Examples
        --------
        >>> Direction.MORE.word(is_time=True), Direction.LESS.word(is_time=False), Direction.EQUAL.word(is_time=True)
        ('slower', 'lower', 'the same')
        >>> Direction.UNKNOWN.word(is_time=True)
        'open'
        """
        of_time, of_other = _WORDS.get(self, ("open", "open"))
        return of_time if is_time else of_other


#: Those that a test of a difference can give: it never shows that there is none.
OF_DIFFERENCES = (Direction.MORE, Direction.LESS, Direction.UNKNOWN)


class Word(StrEnum):
    """How sure a difference is, in the reader's word."""

    SURE = "sure"
    #: Of all that are called so, some are wrong.
    LIKELY = "likely"
    OPEN = "open"


class Gate(StrEnum):
    """Whether a gate lets pass."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def exit_status(self) -> int:
        """How the command ends."""
        return {Gate.PASS: 0, Gate.FAIL: EXIT_REGRESSION, Gate.UNKNOWN: EXIT_CANNOT_TELL}[self]


class Status(StrEnum):
    """What is said of a published claim on a machine, and of each of its parts."""

    HOLDS = "holds"
    #: Its direction holds here; the size that it gives does not, or cannot be told.
    HOLDS_IN_DIRECTION = "holds_in_direction"
    FAILS = "fails"
    #: It holds under some conditions and fails under others.
    DEPENDS = "depends"
    UNKNOWN = "unknown"
    NOT_MEASURABLE = "not_measurable"
    #: Of a figure, which claims nothing.
    MEASURED = "measured"
