"""`dpassay plan` of all targets of a configuration."""

import sys
from contextlib import chdir
from typing import Any, NoReturn

from pydantic import Field

from ..cli.configuration import Chosen
from ..cli.exit_statuses import MISUSE, CommandFailed, print_found
from ..findings.document import Document
from .plan import plan_target
from .planned_run import PlannedRun


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
