"""Trials of a made-up laboratory: virtual markers and plates of a human whose motion is known."""

from dataclasses import replace
from functools import cache

import numpy as np

from ocp import Point, Series, measured_torques
from ocp.estimation.marker_residuals import point_places
from ocp.mechanics import poses
from ocp.models.human import human
from ocp.problems.lab.joint_centres import RAB
from ocp.problems.lab.marker_sets import known_sets
from ocp.problems.lab.measured_person import CLAVICLES, STIFF, link_of

SEGMENTS = {"thigh": {"length": 0.40}, "shank": {"length": 0.41}, "pelvis": {"length": 0.11}}
MASS, STATURE, DEPTH = 65.0, 1.70, 0.15
Z_UP = np.array(((0, 1.0, 0), (0, 0, 1), (1, 0, 0)))  # from x ahead, y left, z up to the human's
FRAMES, RATE = 81, 100.0


@cache
def truth():
    """The human with markers of Plug-in Gait, hips where the regression has them."""
    stiff = [name for name in STIFF if name not in CLAVICLES]
    stiff += ["head_flex", "head_rot", "elb_pron_r", "elb_pron_l"]
    tree = human(STATURE, MASS, segments=SEGMENTS, frozen=stiff)
    frames = [np.array(pose) for pose in poses(tree, np.zeros(tree.dof))]
    here = {
        point.name: (frames[tree.link_index(point.link)] @ (*point.position, 1.0))[:3]
        for point in tree.points
    }
    hip = here["hip_l"]
    width = (hip[0] - 7.3e-3) / 0.33
    up, ahead = hip[1] + 0.30 * width + 10.9e-3, hip[2] + 0.24 * DEPTH + 9.9e-3
    chest, places = here["C7T1"], {}
    places |= {"CLAV": chest + (0, -0.08, 0.06), "STRN": chest + (0, -0.25, 0.1)}
    places |= {"C7": chest + (0, 0, -0.06), "T10": chest + (0, -0.3, -0.09)}
    for side, way in (("R", -1), ("L", 1)):
        at = {name[:-2]: place for name, place in here.items() if name.endswith(f"_{side.lower()}")}
        places |= {
            f"{side}ASI": np.array((way * width / 2, up, ahead)),
            f"{side}PSI": np.array((way * 0.04, up, ahead - DEPTH)),
            f"{side}KNE": at["knee"] + (way * 0.05, 0, 0),
            f"{side}KNM": at["knee"] - (way * 0.05, 0, 0),
            f"{side}THI": at["knee"] + (way * 0.06, 0.2, 0.02),
            f"{side}ANK": at["ankle"] + (way * 0.035, 0, 0),
            f"{side}MED": at["ankle"] - (way * 0.035, 0, 0),
            f"{side}TIB": at["ankle"] + (way * 0.05, 0.2, 0.02),
            f"{side}HEE": at["ankle"] + (0, -0.04, -0.05),
            f"{side}TOE": at["ankle"] + (0, -0.04, 0.15),
            f"{side}MT5": at["ankle"] + (way * 0.04, -0.04, 0.1),
            f"{side}SHO": at["shoulder"] + (0, RAB * 2 * abs(at["shoulder"][0]), 0),
            f"{side}ELB": at["elbow"] + (way * 0.04, 0, 0),
            f"{side}WRA": at["wrist"] + (way * 0.03, 0, 0),
            f"{side}WRB": at["wrist"] - (way * 0.03, 0, 0),
        }
    sites = known_sets()["Plug-in Gait"]
    points = []
    for name, place in places.items():
        link = link_of(*sites[name])
        frame = frames[tree.link_index(link)]
        spot = tuple(frame[:3, :3].T @ (place - frame[:3, 3]))
        points.append(Point(name=name, link=link, position=spot))
    return replace(tree, points=(*tree.points, *points)), tuple(places)


def seen(q, source="walk.trc", noise=0.0, rate=RATE):
    """Markers along coordinates (n, N), in axes with z up."""
    tree, names = truth()
    places = point_places(tree, names, q)[0]
    places = places + noise * np.random.default_rng(0).standard_normal(places.shape)
    t = np.arange(q.shape[1]) / rate
    values = dict(zip(names, np.split(places, len(names))))
    return Series(t=t, values=values, source=source).rotate(Z_UP.T)


def standing():
    """The static trial."""
    return seen(np.zeros((truth()[0].dof, 10)), "static.trc")


def _motion(shares):
    """Coordinates, rates, accelerations (n, N) of sines {joint: (mean, amplitude, Hz, phase)}."""
    tree, _ = truth()
    t = np.arange(FRAMES) / RATE
    rows = np.zeros((3, tree.dof, FRAMES))
    for name, (mean, size, rate, phase) in shares.items():
        k, w = tree.coordinate(name), 2 * np.pi * rate
        rows[:, k] = (
            mean + size * np.sin(w * t + phase),
            size * w * np.cos(w * t + phase),
            (-size * w**2 * np.sin(w * t + phase)),
        )
    return t, rows


@cache
def one_leg():
    """Somebody on the right leg who bends it and swings the left: t, q, torques, plates' wrench."""
    tree, _ = truth()
    t, (q, qd, qdd) = _motion(
        {
            "glob_rz": (0.09, 0, 0, 0),
            "glob_rx": (0.05, 0.03, 1.0, 1.0),
            "hip_flex_r": (0.2, 0.1, 1.2, 0.0),
            "knee_flex_r": (0.3, 0.15, 1.2, 0.3),
            "ankle_df_r": (0.1, 0.05, 1.2, 0.2),
            "hip_flex_l": (0.1, 0.3, 0.9, 0.5),
            "knee_flex_l": (1.2, 0.3, 0.9, 0.0),
        }
    )
    free = measured_torques(tree, t, q, qd, qdd)
    root = [k for k, joint in enumerate(tree.moving) if not joint.actuated]
    columns = []
    for unit in np.eye(6):
        plate = Series(t=t, values={"p": np.repeat(unit[:, None], len(t), axis=1)})
        with_it = measured_torques(tree, t, q, qd, qdd, plate, {"p": "ankle_inv_r"})
        columns.append((free - with_it)[root].T)
    effects = np.stack(columns, axis=2)  # (N, 6, 6)
    wrench = np.linalg.solve(effects, free[root].T[:, :, None])[:, :, 0].T
    plate = Series(t=t, values={"plate_1": wrench}, source="walk_grf.mot")
    torques = measured_torques(tree, t, q, qd, qdd, plate, {"plate_1": "ankle_inv_r"})
    return t, q, torques, plate.rotate(Z_UP.T)


@cache
def striding(noise=0.0):
    """Legs that swing below a pelvis that moves ahead, a bit over two strides of a second."""
    tree, _ = truth()
    t = np.arange(0, 231, 3) / RATE
    q = np.zeros((tree.dof, len(t)))
    q[tree.coordinate("glob_tz")] = 1.2 * t
    for side, phase in (("r", 0.0), ("l", np.pi)):
        q[tree.coordinate(f"hip_flex_{side}")] = 0.1 + 0.4 * np.cos(2 * np.pi * t + phase)
        q[tree.coordinate(f"knee_flex_{side}")] = 0.5 + 0.45 * np.sin(2 * np.pi * t + phase + 3.5)
    return t, q, seen(q, noise=noise, rate=RATE / 3)


@cache
def treading():
    """Striding on two belts, a plate under each: markers and wrenches, in axes with z up."""
    tree, _ = truth()
    t, q, markers = striding(noise=1e-3)
    plates = {}
    for side, phase in (("r", 0.0), ("l", 0.5)):
        names = tuple(f"{side.upper()}{end}" for end in ("HEE", "TOE"))
        heel, toe = np.split(point_places(tree, names, q)[0], 2)
        share = np.clip(((t - 0.06 + phase) % 1.0) / 0.52, 0, 1)
        push = np.zeros((3, len(t)))
        push[1] = 1.1 * MASS * 9.81 * np.sin(np.pi * share)
        place = heel + (0.2 + 0.6 * share) * (toe - heel)
        place[1] = 0.0
        plates[f"plate_{side}"] = np.vstack([np.cross(place.T, push.T).T, push])
    return markers, Series(t=t, values=plates, source="walk_grf.mot").rotate(Z_UP.T)
