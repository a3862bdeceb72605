"""Marker sets by name: on which segment each marker sits, and over which landmark.

Tables are facts of the sets' published descriptions: Plug-in Gait (Vicon), Helen Hayes (Kadaba et
al. 1990) in the names of OrthoTrak, OpenSim's Gait2392 (Delp et al. 1990) and Rajagopal (2016),
Stanford, the set of the recordings published with the latter, OpenCap (Uhlrich et al. 2023), and
the key points of Pose2Sim (HALPE 26), which are joint centres.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

# Landmarks of a side; "hip" to "wrist" are centres of joints, which key points are
LANDMARKS = (
    *("asis", "psis", "knee_lat", "knee_med", "ankle_lat", "ankle_med", "heel", "toe"),
    *("acromion", "elbow_lat", "elbow_med", "wrist_lat", "wrist_med"),
    *("hip", "knee", "ankle", "shoulder", "elbow", "wrist"),
)
SEGMENTS = ("pelvis", "trunk", "head", "thigh", "shank", "foot", "upper_arm", "forearm")
SIDED = SEGMENTS[3:]
FEWEST = 6  # landmarks by which a set is recognised
CLOSE = 0.8  # of the best set's score: another one that near is said

Site = tuple[str, str]  # segment with its side, landmark with its side or ""

# {set: {segment: {landmark or "": names}}}; * is the side, R or L (r or l)
_SETS: dict[str, dict[str, dict[str, str]]] = {
    "Plug-in Gait": {
        "pelvis": {"asis": "*ASI", "psis": "*PSI", "sacrum": "SACR"},
        "thigh": {"knee_lat": "*KNE", "knee_med": "*KNM *KNEM *MKNE *KNI", "": "*THI *THAP *THAD"},
        "shank": {"ankle_lat": "*ANK", "ankle_med": "*MED *ANM *MANK", "": "*TIB *TIAP *TIAD"},
        "foot": {"heel": "*HEE", "toe": "*TOE", "": "*MT5 *D1M *D5M *SMH *VMH *FMH"},
        "trunk": {"acromion": "*SHO", "": "C7 T10 T2 CLAV STRN RBAK"},
        "head": {"": "*FHD *BHD"},
        "upper_arm": {"elbow_lat": "*ELB", "": "*UPA"},
        "forearm": {"wrist_lat": "*WRA", "wrist_med": "*WRB", "": "*FRM *FRA"},
    },
    "Helen Hayes": {
        "pelvis": {"asis": "*.ASIS", "sacrum": "V.Sacral Sacral"},
        "thigh": {"knee_lat": "*.Knee", "knee_med": "*.Knee.Medial", "": "*.Thigh"},
        "shank": {"ankle_lat": "*.Ankle", "ankle_med": "*.Ankle.Medial", "": "*.Shank"},
        "foot": {"heel": "*.Heel", "toe": "*.Toe"},
        "trunk": {"acromion": "*.Shoulder", "": "Offset R.Offset"},
        "upper_arm": {"elbow_lat": "*.Elbow"},
        "forearm": {"wrist_lat": "*.Wrist"},
    },
    "Gait2392": {
        "pelvis": {"asis": "*.ASIS", "sacrum": "V.Sacral"},
        "thigh": {
            "knee_lat": "*.Knee.Lat",
            "knee_med": "*.Knee.Med",
            "": "*.Thigh.Upper *.Thigh.Front *.Thigh.Rear",
        },
        "shank": {
            "ankle_lat": "*.Ankle.Lat",
            "ankle_med": "*.Ankle.Med",
            "": "*.Shank.Upper *.Shank.Front *.Shank.Rear",
        },
        "foot": {
            "heel": "*.Heel",
            "toe": "*.Toe.Tip",
            "": "*.Midfoot.Sup *.Midfoot.Lat *.Toe.Lat *.Toe.Med",
        },
        "trunk": {"acromion": "*.Acromium", "": "Sternum"},
        "head": {"": "*.Temple Top.Head"},
        "upper_arm": {"elbow_lat": "*.Elbow", "": "*.Bicep"},
        "forearm": {"wrist_lat": "*.Wrist.Lat", "wrist_med": "*.Wrist.Med"},
    },
    "Rajagopal": {
        "pelvis": {"asis": "*ASI *ASIS", "psis": "*PSI *PSIS"},
        "thigh": {"knee_lat": "*LFC *KNE", "knee_med": "*MFC", "": "*TH1 *TH2 *TH3 *TH4"},
        "shank": {"ankle_lat": "*LMAL *ANK", "ankle_med": "*MMAL", "": "*TB1 *TB2 *TB3"},
        "foot": {"heel": "*CAL *HEE", "toe": "*TOE", "": "*MT5 *5MT"},
        "trunk": {"acromion": "*ACR *SHO", "": "C7 CLAV"},
        "upper_arm": {"elbow_lat": "*LEL", "elbow_med": "*MEL", "": "*UA1 *UA2 *UA3"},
        "forearm": {"wrist_lat": "*FAradius", "wrist_med": "*FAulna", "": "*FASUP"},
    },
    "Stanford": {
        "pelvis": {"asis": "*.ASIS", "psis": "*.PSIS", "": "S2"},
        "thigh": {"knee_lat": "*.Knee", "knee_med": "*.MKnee", "": "*.TH1 *.TH2 *.TH3 *.TH4"},
        "shank": {
            "ankle_lat": "*.Ankle",
            "ankle_med": "*.MAnkle",
            "": "*.SH1 *.SH2 *.SH3 *.SH4",
        },
        "foot": {"heel": "*.Heel", "toe": "*.Toe", "": "*.MT5"},
        "trunk": {"acromion": "*.Shoulder", "": "*.Clavicle"},
        "upper_arm": {"elbow_lat": "*.Elbow", "elbow_med": "*.MElbow", "": "*.Biceps"},
        "forearm": {"wrist_lat": "*.Wrist", "": "*.Forearm"},
    },
    "OpenCap": {
        "pelvis": {"asis": "*.ASIS_study", "psis": "*.PSIS_study"},
        "thigh": {
            "hip": "*HJC_reg",
            "knee_lat": "*_knee_study",
            "knee_med": "*_mknee_study",
            "": "*_thigh1_study *_thigh2_study *_thigh3_study",
        },
        "shank": {
            "ankle_lat": "*_ankle_study",
            "ankle_med": "*_mankle_study",
            "": "*_sh1_study *_sh2_study *_sh3_study",
        },
        "foot": {"heel": "*_calc_study", "toe": "*_toe_study", "": "*_5meta_study"},
        "trunk": {"acromion": "*_shoulder_study", "": "C7_study"},
        "upper_arm": {"elbow_lat": "*_lelbow_study", "elbow_med": "*_melbow_study"},
        "forearm": {"wrist_lat": "*_lwrist_study", "wrist_med": "*_mwrist_study"},
    },
    "Pose2Sim": {
        "pelvis": {"hip": "*Hip", "": "Hip"},
        "thigh": {"knee": "*Knee"},
        "shank": {"ankle": "*Ankle"},
        "foot": {"heel": "*Heel", "toe": "*BigToe", "": "*SmallToe"},
        "trunk": {"shoulder": "*Shoulder", "": "Neck"},
        "head": {"": "Head Nose"},
        "upper_arm": {"elbow": "*Elbow"},
        "forearm": {"wrist": "*Wrist"},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerSet:
    """Which markers of a recording sit where.

    Attributes:
        name: of the set, or "own".
        sites: {marker: (segment, landmark or "")}, both with their side, as ("thigh_r",
            "knee_lat_r"); only of markers that the recording has.
        doubts: sentences about what could be otherwise.
    """

    name: str
    sites: Mapping[str, Site]
    doubts: tuple[str, ...] = ()

    def landmark(self, name: str) -> str | None:
        """Return the marker over a landmark, None where there is none."""
        return next((marker for marker, (_, mark) in self.sites.items() if mark == name), None)

    def among(self, names: Collection[str]) -> "MarkerSet":
        """Return the set of these markers alone."""
        return replace(
            self, sites={name: site for name, site in self.sites.items() if name in names}
        )

    def segment(self, name: str) -> tuple[str, ...]:
        """Return the markers of a segment."""
        return tuple(marker for marker, (segment, _) in self.sites.items() if segment == name)


def known_sets() -> dict[str, dict[str, Site]]:
    """Return {set: {marker: (segment, landmark)}} of all marker sets known by name."""
    return {name: dict(_rows(table)) for name, table in _SETS.items()}


def recognise(names: Iterable[str], source: str, given: "MarkerTable" = "") -> MarkerSet:
    """Return the marker set that names of markers tell, or that is given.

    Names are compared without subjects' prefixes ("Anna:RASI") and capitals.

    Args:
        names: of a recording's markers.
        source: of the recording, for messages.
        given: the name of a set, or {marker: (segment, landmark)} of one's own.

    Raises:
        ValueError: no set has as many as half of its landmarks among the names; a table of one's
            own with an unknown segment or landmark or without markers of the recording.
    """
    here = {_plain(name): name for name in names}
    if not isinstance(given, str):
        return _own(here, given, source)
    sets = known_sets()
    if given and given not in sets:
        raise ValueError(f"markers: expected one of {', '.join(sets)}, got {given!r}")
    found = {name: _found(here, table) for name, table in sets.items() if given in ("", name)}
    marks = {
        name: len({mark for _, mark in sites.values() if mark}) for name, sites in found.items()
    }
    order = sorted(found, key=lambda name: (marks[name], len(found[name])), reverse=True)
    best = order[0]
    lower = {f"{mark}_{side}" for mark in ("knee", "knee_lat") for side in "rl"}
    if len(lower & {mark for _, mark in found[best].values()}) < 2 or marks[best] < FEWEST:
        raise ValueError(
            f"{source}: markers of no set that is known by name ({', '.join(sets)}): nearest is "
            f"{best} with {len(found[best])} names of {len(here)}; give table={{marker: (segment, "
            'landmark)}, as {"K": ("thigh_r", "knee_lat_r")}'
        )
    doubts = [
        f"the markers' names fit {other} nearly as well as {best}"
        for other in order[1:]
        if marks[other] >= CLOSE * marks[best]
        and found[other] != found[best]
        and not set(found[other]) <= set(found[best])
    ]
    left = [name for name in here.values() if name not in found[best]]
    if left:
        doubts.append(f"markers that {best} does not have are left out: {', '.join(left)}")
    return MarkerSet(name=best, sites=found[best], doubts=tuple(doubts))


MarkerTable = str | Mapping[str, Site]


def _own(here: Mapping[str, str], given: Mapping[str, Site], source: str) -> MarkerSet:
    """Return a table of one's own, checked against the markers."""
    segments = {each for name in SEGMENTS for each in _sides(name)}
    marks = {f"{mark}_{side}" for mark in LANDMARKS for side in "rl"} | {"", "sacrum"}
    for marker, (segment, mark) in given.items():
        if segment not in segments or mark not in marks:
            raise ValueError(
                f"markers: {marker!r}: expected a segment of {', '.join(sorted(segments))} and a "
                f'landmark as knee_lat_r or "", got ({segment!r}, {mark!r})'
            )
    found = _found(here, dict(given))
    if not found:
        raise ValueError(f"{source}: none of the markers {', '.join(given)} is in the recording")
    return MarkerSet(name="own", sites=found)


def _rows(table: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, Site]]:
    """Yield (marker, site) of a table with stars in place of sides."""
    for segment, marks in table.items():
        for mark, text in marks.items():
            for name in text.split():
                for side in "RL" if "*" in name else " ":
                    one = side.lower().strip()
                    own = f"{segment}_{one}" if segment in SIDED else segment
                    yield name.replace("*", side), (own, f"{mark}_{one}" if mark and one else mark)


def _sides(name: str) -> tuple[str, ...]:
    return (f"{name}_r", f"{name}_l") if name in SIDED else (name,)


def _found(here: Mapping[str, str], table: Mapping[str, Site]) -> dict[str, Site]:
    """Return the table's rows whose markers are here, by the recording's names."""
    return {here[_plain(name)]: site for name, site in table.items() if _plain(name) in here}


def _plain(name: str) -> str:
    return name.rpartition(":")[2].lower()
