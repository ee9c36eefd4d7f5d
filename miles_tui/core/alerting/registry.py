"""The rules that a run is judged by, each with what a profile knows for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miles_tui.core.alerting.conditions.base import Rule
from miles_tui.core.alerting.conditions.clipped_on_policy import ClippedOnPolicy
from miles_tui.core.alerting.conditions.cut_share_high import CutShareHigh
from miles_tui.core.alerting.conditions.gap_jump import GapJump
from miles_tui.core.alerting.conditions.grad_norm_growth import GradNormGrowth
from miles_tui.core.alerting.conditions.no_signal import NoSignal
from miles_tui.core.alerting.conditions.not_finite import NotFinite
from miles_tui.core.alerting.conditions.off_policy_at_start import OffPolicyAtStart
from miles_tui.core.alerting.conditions.out_of_range import OutOfRange
from miles_tui.core.alerting.conditions.reward_collapse import RewardCollapse
from miles_tui.core.alerting.conditions.reward_down_length_up import RewardDownLengthUp
from miles_tui.core.alerting.conditions.rollout_slowdown import RolloutSlowdown
from miles_tui.core.alerting.conditions.signal_lost import SignalLost

if TYPE_CHECKING:
    from miles_tui.core.alerting.profile import Profile


def rules_of(profile: Profile | None) -> list[Rule]:
    """Fresh rules, in the order in which they are asked: what silences another one comes before it."""
    if profile is None:
        statistical: list[Rule] = [GapJump(), GradNormGrowth(), RewardDownLengthUp(), RolloutSlowdown()]
    else:
        statistical = [
            GapJump(profile.norm("gap")),
            GradNormGrowth(profile.norm("gradient norm")),
            RewardDownLengthUp(profile.start_of("reward"), profile.start_of("answer length")),
            RolloutSlowdown(profile.time_norm()),
        ]
    rules: list[Rule] = [NotFinite(), *statistical, ClippedOnPolicy(), OffPolicyAtStart()]
    rules += [RewardCollapse(), CutShareHigh(), NoSignal(), SignalLost()]
    if profile is not None:
        rules += [OutOfRange(name, s.low, s.high, profile.name) for name, s in profile.signals.items()]
    return rules
