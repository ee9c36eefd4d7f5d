"""The conditions, one file each: its words, and its rule where rollouts decide it."""

from __future__ import annotations

from miles_tui.core.alerting.conditions import (
    clipped_on_policy,
    crashed,
    cut_share_high,
    gap_jump,
    grad_norm_growth,
    known_message,
    no_signal,
    not_finite,
    off_policy_at_start,
    out_of_range,
    restarted,
    reward_collapse,
    reward_down_length_up,
    rollout_slowdown,
    secret_in_log,
    signal_lost,
    stalled,
)
from miles_tui.core.alerting.conditions.base import Condition

# In the order of `explain` and of the manual: its five first, then what else can be raised.
ALL: tuple[Condition, ...] = tuple(
    module.CONDITION
    for module in (
        gap_jump,
        grad_norm_growth,
        reward_down_length_up,
        clipped_on_policy,
        rollout_slowdown,
        not_finite,
        stalled,
        crashed,
        signal_lost,
        off_policy_at_start,
        reward_collapse,
        cut_share_high,
        no_signal,
        out_of_range,
        secret_in_log,
        restarted,
        known_message,
    )
)
CONDITIONS: dict[str, Condition] = {condition.id: condition for condition in ALL}

# condition -> those that make it say nothing new: it would only follow from them
INHIBITED_BY = {
    "gap-jump": ("not-finite",),
    "grad-norm-growth": ("not-finite",),
    "cut-share-high": ("reward-down-length-up",),
    "off-policy-at-start": ("clipped-on-policy",),
}
OF_LINES = frozenset({"known-message", "secret-in-log"})  # each line of the log that says it counts
