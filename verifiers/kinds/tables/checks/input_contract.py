"""`input-contract` of tables: it is that of numbers."""

from ...numbers.checks.input_contract import SPECS

__all__ = ["SPECS"]
