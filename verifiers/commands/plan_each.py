"""`dpassay plan` of one target, and of all targets of a configuration."""

import sys
from contextlib import ExitStack, chdir, closing
from typing import Any, NoReturn

from pydantic import Field

from ...reference import BudgetExhausted
from ..cli.configuration import Chosen
from ..cli.exit_statuses import MISUSE, CommandFailed, fail, open_or_fail, print_found
from ..findings.document import Document
from ..inputs.input_error import OptionsError
from ..kinds.reading import read_claim
from ..run.selection import select
from ..targets import Refused, TargetError
from .planned_run import PlannedRun, planned_run


class NamedPlans(Document):
    """Plans of the targets of a configuration, each as `dpassay plan NAME --json` prints it."""

    configuration: str = Field(description="The file that names the targets.")
    profile: str | None
    plans: dict[str, PlannedRun] = Field(description="By name, those that there are.")
    errors: dict[str, tuple[str, ...]] = Field(description="By name, why a target has no plan.")

    def as_text(self) -> str:
        """The plans, each under the name of its target."""
        plans = {name: plan.as_text() for name, plan in self.plans.items()}
        plans |= {name: "no plan: " + "; ".join(lines) for name, lines in self.errors.items()}
        return "\n\n".join(f"== {name}\n{text}" for name, text in plans.items())

    def public(self) -> dict[str, Any]:
        """The JSON object; a plan leaves out keys that were not given."""
        plans = {name: plan.public() for name, plan in self.plans.items()}
        return {**super().public(), "plans": plans}


def plan_each(chosen: Chosen, as_json: bool) -> NoReturn:
    """Prints the plans of the targets that a command line has chosen; status 2 without one."""
    file, plans, errors = chosen.file, dict[str, PlannedRun](), dict[str, tuple[str, ...]]()
    with chdir(chosen.folder):
        for name in chosen.names:
            try:
                plans[name] = plan_target(chosen.given(name), named=True)
            except CommandFailed as failed:
                errors[name] = tuple(failed.lines)
    found = NamedPlans(configuration=file, profile=chosen.profile, plans=plans, errors=errors)
    print_found(found, as_json)
    sys.exit(MISUSE if errors else 0)


def plan_target(given: dict[str, Any], *, named: bool) -> PlannedRun:
    """A plan, by the parameters of the command; named: whether the configuration has the target."""
    queries, seconds = given["queries"], given["seconds"]
    target = None if named and seconds is None else given["target"]
    try:
        if seconds is not None and (target is None or queries is not None):
            raise OptionsError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(given["claim_file"]).with_limits(given.get("max_queries"), None)
        checks, skipped = given.get("checks", ()), given.get("skipped", ())
        selection = select(checks, skipped, of=claim.kind.checks.ids)
        with ExitStack() as stack:
            asked = (
                None
                if target is None
                else stack.enter_context(closing(open_or_fail(target, claim)))
            )
            return planned_run(claim, queries, seconds, asked, selection)
    except (TargetError, ValueError) as error:
        fail(error)
    except (Refused, BudgetExhausted) as error:
        code = "input-refused" if isinstance(error, Refused) else "budget-exhausted"
        fail(f"the target answers nothing: {error}", code=code)
