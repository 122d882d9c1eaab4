"""Why an input of counts or records is asked."""

from enum import StrEnum, unique


@unique
class Role(StrEnum):
    """One reason for each input of a plan; the value is how messages call it."""

    TYPICAL = "typical"
    CHANGED_IN_THE_MIDDLE = "typical but for one in the middle"
    # of counts
    MOVED = "moved by 17"
    REVERSED = "reversed"
    EMPTY = "empty"
    FEW = "few"
    HUNDREDS = "hundreds, and one that has nearly all"
    THOUSANDS = "thousands"
    TENS_OF_THOUSANDS = "tens of thousands"
    MILLIONS = "millions"
    ONE_LARGE_COUNT = "one large count"
    # of records
    REORDERED = "in another order"
    ONE_RECORD = "one record"
    NO_RECORDS = "no records"
    ALIKE = "alike"
    AT_THE_BOUNDS = "at the bounds"
    MANY = "many"
