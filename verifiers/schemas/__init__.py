"""The published schemas of JSON documents, and of what people write, which follow from models.

`python -m dpassay.verifiers.schemas FOLDER` writes them, and `metrics.json`: what `dpassay monitor`
exports. They lie beside this file.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

MODELS = {
    "account": (1, "commands.charged_rows:ChargedRows"),
    "audit": (1, "findings.pair_bounds:Audit"),
    "audit-any": (1, "commands.audit_any:AnyAudit"),
    "audit-canaries": (1, "commands.audit_canaries:CanaryAudit"),
    "audit-gradient": (1, "gradients.audit:GradientAudit"),
    "audit-mechanism": (1, "commands.audit_mechanism:MechanismAudits"),
    "chain": (1, "commands.chain:ChainFigures"),
    "chain-own": (1, "commands.own_people:OwnPeople"),
    "compare": (1, "ledger.comparison:Comparison"),
    "exposure": (1, "commands.exposure:FoundExposures"),
    "instahide": (1, "commands.instahide:Attacked"),
    "monitor": (1, "kinds.labels.logs.alarms:Alarm"),
    "plan": (1, "commands.planned_run:PlannedRun"),
    "plan-each": (1, "commands.plan_each:NamedPlans"),
    "play": (1, "gradients.play:PlayedGames"),
    "probabilities": (1, "commands.probabilities:Probabilities"),
    "reconstruct": (1, "commands.reading_votes:ReadVotes"),
    "reconstruct-logs": (1, "commands.reading_votes:ReadLogs"),
    "replay": (1, "replay.replayed:Replayed"),
    "report": (2, "findings.report:Report"),
    "report-each": (1, "commands.verify_each:NamedReports"),
}
"""Documents by command and variant: the version of the schema, and the model, loaded late."""

WRITTEN = {"claim": "toml:claim_schema", "configuration": "toml:configuration_schema"}
"""What people write, a claim of any kind and a dpassay.toml: what makes the schema, loaded late."""

NAMES = (*WRITTEN, *MODELS, "metrics")
"""All that is published."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema by its name in `WRITTEN` or `MODELS`."""
    if name in WRITTEN:
        module, _, maker = WRITTEN[name].partition(":")
        version, found = 1, getattr(import_module(f".{module}", __package__), maker)()
    else:
        version, place = MODELS[name]
        module, _, model = place.partition(":")
        of = getattr(import_module(f"..{module}", __package__), model)
        found = of.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpassay:{name}:{version}",
        **found,
        "title": f"dpassay {name}",
    }


def schema_text(name: str) -> str:
    """The text of a published file, by its name in `NAMES`."""
    if name == "metrics":
        from ..kinds.labels.logs.snapshot import METRICS

        content: Any = [metric._asdict() for metric in METRICS]
    else:
        content = schema(name)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Writes all of them into a folder."""
    for name in NAMES:
        (folder / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
