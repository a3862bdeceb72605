"""Motions of the human: what a row of the table is called, its problem and that one's arguments."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

UP = {"rise": 0.17, "step": 0.29, "speed": 0.5}
DOWN = {"rise": -0.17, "step": 0.29, "speed": 0.45}
MOTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "walk": ("gait", {}),
        "walk, free timing": ("gait", {"free_timing": True}),
        "walk at 0.6 m/s": ("gait", {"speed": 0.6}),
        "walk at 2.0 m/s": ("gait", {"speed": 2.0, "free_timing": True}),
        "walk, 10 % up": ("gait", {"slope": 5.71}),
        "walk, 10 % down": ("gait", {"slope": -5.71}),
        "walk, knees bent by 20 deg": ("gait", {"crouch": 20.0}),
        "walk with 16 kg on the back": ("gait", {"backpack": 16.0}),
        "both steps, 10 kg in one hand": ("gait", {"stride": "full", "load": "hand_r=10"}),
        "both steps, one weak ankle": ("gait", {"stride": "full", "ankle_strength": 0.5}),
        "stairs up": ("gait", UP),
        "stairs down": ("gait", DOWN),
        "start of a walk": ("gait_start", {}),
        "stop of a walk": ("gait_stop", {}),
        "a box carried": ("carry", {}),
        "a cart pushed": ("cart_push", {}),
        "a cart pulled": ("cart_push", {"pull": True, "bar": 0.8}),
        "run at 2.5 m/s": ("running", {"speed": 2.5}),
        "run at 3 m/s": ("running", {}),
        "run at 4 m/s": ("running", {"speed": 4.0}),
        "run at 5 m/s": ("running", {"speed": 5.0}),
        "rise from a seat": ("sit_to_stand", {}),
        "jump, arms swing": ("jump", {}),
        "jump, counter-movement": ("counter_movement", {}),
        "somersault": ("somersault", {}),
        "box lifted": ("lifting", {}),
        "box lifted by a squat": ("lifting", {"style": "squat"}),
        "box lifted and put aside": ("lift_aside", {}),
        "box lifted with a step": ("lift_step", {}),
        "squat by muscles": ("squat_to_stand", {}),
        "walk by muscles, in a plane": ("muscle_walk", {}),
        "walk by muscles, legs": ("muscle_gait", {}),
        "recorded walk followed": ("track_walk", {}),
        "walk of Barman (2020)": ("barman_gait", {}),
    }
)
