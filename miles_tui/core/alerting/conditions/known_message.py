"""`known-message`: a line that the manual explains."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import Condition, Severity

CONDITION = Condition(
    id="known-message",
    severity=Severity.NOTICE,
    title="A message that the manual explains",
    signals=(),
    likely_cause="The manual explains this line.",
    first_check="Nothing to do.",
    rule="Lines that the manual names: the Weights & Biases TypeError without a group, offline mode, the TensorBoard "
    "folder. And a log whose newest line comes first.",
)

# message id -> (likely cause, first check)
MESSAGES: dict[str, tuple[str, str]] = {
    "wandb-group": (
        "Weights & Biases was turned on without a group, so Miles joins a missing name with a text.",
        "Add --wandb-group NAME to the arguments.",
    ),
    "wandb-offline": (
        "Weights & Biases runs offline: the data stay on this machine.",
        "Look for an offline-run- folder below the folder given with --wandb-dir.",
    ),
    "tensorboard": (
        "The TensorBoard writer is on: the data go to the folder in this line.",
        "Open it with: tensorboard --logdir FOLDER",
    ),
    "reverse-order": (
        "What wrote this log down gives the newest line first (Grafana's download and gcloud do so as a rule).",
        "Turn it: tac LOG > NEW.log; of a JSON array: jq reverse LOG > NEW.json",
    ),
}
