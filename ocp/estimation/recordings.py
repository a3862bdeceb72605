"""Recordings: measured times, coordinates and outputs of a motion, and its spline."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_type, positive, set_fields
from ocp.motion import BSpline, cross_validate
from ocp.pickling import portable
from ocp.spelling import suggest_fields, suggestion

DEGREE = 5  # of splines through measured coordinates: their accelerations are smooth
Motion = tuple[np.ndarray, np.ndarray, np.ndarray]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Recording:
    """Measurements of one trial.

    Attributes:
        t: times (N,) s.
        q: coordinates (n, N), rad or m; None where outputs alone were measured.
        outputs: {name: (rows, N)} of a problem's outputs, nan where one was not measured.
        deviations: {name: number, or one per row}: standard deviations of the outputs' noise,
            estimated from the residuals where they are missing.
        bandwidth: of the noise (Hz), white up to it: of samples that follow faster than twice that,
            as many count as are independent.
        encoder: standard deviation of q's white noise, one number or one per coordinate (rad or m);
            None where q is exact.
        qd, qdd: rates and accelerations (n, N); by default those of a spline through q.
        motion: basis of that spline, by default chosen by generalised cross-validation.
        name: its name in messages.

    Raises:
        ValueError: naming the recording, what was expected and what came.
    """

    t: Numbers
    q: Numbers = None
    outputs: Mapping[str, Numbers] = field(default_factory=dict)
    deviations: Mapping[str, Numbers] = field(default_factory=dict)
    bandwidth: float = inf
    encoder: Numbers = None
    qd: Numbers = None
    qdd: Numbers = None
    motion: BSpline | None = None
    name: str = "recording"

    def __post_init__(self) -> None:
        what = check_type("recording: name", self.name, str)
        t = _array(f"{what}: t", self.t, 1)
        if len(t) <= DEGREE or not np.isfinite(t).all() or not (np.diff(t) > 0).all():
            raise ValueError(f"{what}: t: expected {DEGREE + 1} or more times (s) in order")
        q = None if self.q is None else _coordinates(f"{what}: q", self.q, t)
        rates = {}
        for each in ("qd", "qdd", "encoder"):
            if getattr(self, each) is not None and q is None:
                raise ValueError(f"{what}: {each}: given without q")
        for each in ("qd", "qdd"):
            if q is not None and getattr(self, each) is not None:
                rates[each] = _rates(f"{what}: {each}", getattr(self, each), q, t)
        outputs = {
            name: _output(f"{what}: output {name!r}", values, t)
            for name, values in check_type(f"{what}: outputs", self.outputs, Mapping).items()
        }
        check_type(f"{what}: motion", self.motion, BSpline, type(None))
        if self.bandwidth != inf:
            positive(f"{what}: bandwidth (Hz)", self.bandwidth)
        if q is not None and self.encoder is not None:
            set_fields(self, encoder=_per_row(f"{what}: encoder", self.encoder, len(q)))
            if rates:
                raise ValueError(
                    f"{what}: {', '.join(rates)}: given beside coordinates whose noise has an "
                    "encoder's deviation, with which the motion is sought; leave out either"
                )
        set_fields(
            self,
            t=t,
            q=q,
            **rates,
            outputs=MappingProxyType(outputs),
            deviations=MappingProxyType(_deviations(what, self.deviations, outputs)),
        )

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} ({len(values)})" for name, values in self.outputs.items())
        return f"Recording({self.name!r}: {len(self.t)} times in {self.duration:g} s; {rows})"

    @property
    def duration(self) -> float:
        """The time from the first sample to the last (s)."""
        return float(self.t[-1] - self.t[0])

    @property
    def instants(self) -> np.ndarray:
        """The samples' times as parts of the duration (N,)."""
        return (self.t - self.t[0]) / self.duration

    @property
    def shares(self) -> np.ndarray:
        """Weight of each sample in independent samples of the noise (N,)."""
        return np.minimum(1.0, 2 * self.bandwidth * np.gradient(self.t))

    def curve(self) -> Motion:
        """Return q, qd and qdd (n, N) at the samples: given, or those of the spline."""
        if self.qd is not None and self.qdd is not None:
            return self.q, self.qd, self.qdd
        s, basis = self.instants, self.motion or validated_basis(self)
        points = basis.fit(self.q, s)
        q, qd, qdd = (
            points @ basis.values(s, order).T / self.duration**order for order in range(3)
        )
        return q, qd if self.qd is None else self.qd, qdd if self.qdd is None else self.qdd


def validated_basis(recording: Recording) -> BSpline:
    """Return the basis whose spline through q errs least by generalised cross-validation."""
    return cross_validate(recording.instants, recording.q, DEGREE)


def noisy(recording: Recording, seed: int) -> Recording:
    """Return a recording with seeded Gaussian noise on its outputs and coordinates.

    The outputs' noise has the recording's `deviations` and is white up to its `bandwidth`; the
    coordinates' noise has the deviation of its `encoder`, if any.

    Raises:
        ValueError: for outputs without deviations, and for a bandwidth where times are not equally
            spaced.
    """
    rng = np.random.default_rng(seed)
    outputs = {}
    for name, values in recording.outputs.items():
        if name not in recording.deviations:
            raise ValueError(
                f"{recording.name}: output {name!r}: noise is asked for, but deviations has "
                f"{', '.join(recording.deviations) or 'none'}"
            )
        noise = _band_limited(recording, rng.standard_normal(values.shape))
        outputs[name] = values + recording.deviations[name][:, None] * noise
    if recording.encoder is None:
        return replace(recording, outputs=outputs)
    noise = recording.encoder[:, None] * rng.standard_normal(recording.q.shape)
    return replace(recording, outputs=outputs, q=recording.q + noise)


def _band_limited(recording: Recording, white: np.ndarray) -> np.ndarray:
    """Return white noise (m, N) without what is above the bandwidth, and as strong as before."""
    steps = np.diff(recording.t)
    if 2 * recording.bandwidth * steps.mean() >= 1:
        return white
    if np.ptp(steps) > 1e-6 * steps.mean():
        raise ValueError(
            f"{recording.name}: noise of a bandwidth needs equally spaced times, got steps from "
            f"{steps.min():g} to {steps.max():g} s"
        )
    count = white.shape[1]
    spectrum = np.fft.rfft(white, axis=1)
    above = np.fft.rfftfreq(count, steps.mean()) > recording.bandwidth
    spectrum[:, above] = 0.0
    kept = (2 * (~above).sum() - 1) / count
    return np.fft.irfft(spectrum, count, axis=1) / np.sqrt(kept)


def _array(what: str, value: Numbers, *ranks: int) -> np.ndarray:
    """Return a read-only array of floats of one of these numbers of dimensions."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, got {value!r:.80}") from None
    if array.ndim not in ranks:
        raise ValueError(
            f"{what}: expected {' or '.join(map(str, ranks))} dimensions, got shape {array.shape}"
        )
    array.setflags(write=False)
    return array


def _coordinates(what: str, value: Numbers, t: np.ndarray) -> np.ndarray:
    q = _array(what, value, 2)
    if q.shape[1] != len(t):
        raise ValueError(f"{what}: expected (n, {len(t)}), a column for each time, got {q.shape}")
    if not np.isfinite(q).all():
        raise ValueError(f"{what}: expected finite numbers, a motion without gaps")
    return q


def _rates(what: str, value: Numbers, q: np.ndarray, t: np.ndarray) -> np.ndarray:
    rates = _coordinates(what, value, t)
    if rates.shape != q.shape:
        raise ValueError(f"{what}: expected {q.shape} as of q, got {rates.shape}")
    return rates


def _output(what: str, value: Numbers, t: np.ndarray) -> np.ndarray:
    values = np.atleast_2d(_array(what, value, 1, 2))
    if values.shape[1] != len(t):
        raise ValueError(
            f"{what}: expected (rows, {len(t)}), a column for each time, got {values.shape}"
        )
    if np.isinf(values).any():
        raise ValueError(f"{what}: expected finite numbers, or nan where nothing was measured")
    return values


def _deviations(
    what: str, value: Mapping[str, Numbers], outputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the deviations of each row (rows,) of the outputs that have any."""
    deviations = {}
    for name, given in check_type(f"{what}: deviations", value, Mapping).items():
        if name not in outputs:
            raise ValueError(
                f"{what}: deviations: unknown output {name!r}{suggestion(name, outputs)}; it "
                f"has {', '.join(outputs) or 'none'}"
            )
        deviations[name] = _per_row(f"{what}: deviation of {name!r}", given, len(outputs[name]))
    return deviations


def _per_row(what: str, value: Numbers, rows: int) -> np.ndarray:
    """Return deviations (rows,), of one number or one per row."""
    each = _array(what, value, 0, 1)
    if each.ndim and len(each) != rows:
        raise ValueError(f"{what}: expected a number or {rows}, got {len(each)}")
    if not ((each > 0) & (each < inf)).all():
        raise ValueError(f"{what}: expected above 0, got {value!r}")
    return np.broadcast_to(each, rows)
