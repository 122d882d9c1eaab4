"""What a run has drawn, call by call, and how the draws are played back in another run.

A draw is known by the line that asks for it, by the function, and by how many such draws came
before it, so that draws which only one run makes do not shift those of other lines. Noise about a
centre is played back about the centre of the other run.
"""

import copy
import sys
import sysconfig
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
_INSTALLED = "site-packages", "dist-packages"
_OURS = str(Path(__file__).parents[1])
_SHOWN = 60


@dataclass(frozen=True)
class DrawRequest:
    """What a draw was asked for.

    Attributes:
        fixed: arguments on which the law depends, `size` for the shape.
        centre, scale: of noise about a value, where the function takes them.
        noise: whether such a draw can be nothing but noise.
    """

    fixed: Mapping[str, Any]
    centre: Any = None
    scale: Any = None
    noise: bool = True


@dataclass(frozen=True)
class Draw:
    """One draw: the line `file.py:12` that made it, the function, and what came of it."""

    line: str
    function: str
    given: DrawRequest
    result: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what was drawn."""
        return tuple(np.shape(self.result))

    @property
    def of_value(self) -> bool:
        """Whether it may make up noise: a choice of records, or their order, does not."""
        return "of" not in self.given.fixed


@dataclass(frozen=True)
class Parting:
    """A draw that is not the same in two runs: what each asked for, in words.

    Attributes:
        noise: whether it is noise that one run does not draw, or draws in another shape or scale.
        scale: whether only the scale is another, so that the draw was played back all the same.
        absent: whether one run does not make it.
    """

    line: str
    function: str
    one: str
    other: str
    noise: bool
    scale: bool = False
    absent: bool = False


@dataclass
class Tape:
    """Records the draws of a run, or plays back `recorded` ones.

    folders: where the target's code lies, should it lie among libraries.
    """

    recorded: tuple[Draw, ...] | None = None
    folders: tuple[str, ...] = ()
    draws: list[Draw] = field(default_factory=list)
    partings: list[Parting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()  # held by the thread that draws
        self._inside = False
        self._counts: Counter[tuple[str, str]] = Counter()
        self._by_place: defaultdict[tuple[str, str], list[Draw]] = defaultdict(list)
        for draw in self.recorded or ():
            self._by_place[draw.line, draw.function].append(draw)

    def draw(
        self,
        function: str,
        given: DrawRequest,
        real: Callable[[], Any],
        native: Callable[[Any], Any] = copy.deepcopy,
        plain: Callable[[Any], Any] = copy.deepcopy,
    ) -> Any:
        """What the draw gives: of `real`, or as it was recorded.

        native: makes an object of a library of what `plain` made of it.
        """
        with self._lock:
            if self._inside:  # a draw that makes up another one
                return real()
            self._inside = True
            try:
                return self._keep(function, given, real, native, plain)
            finally:
                self._inside = False

    def _keep(
        self,
        function: str,
        given: DrawRequest,
        real: Callable[[], Any],
        native: Callable[[Any], Any],
        plain: Callable[[Any], Any],
    ) -> Any:
        """What the draw gives, which is kept."""
        place = self.own_line(), function
        turn, before = self._counts[place], self._by_place[place]
        self._counts[place] += 1
        earlier = before[turn] if turn < len(before) else None
        found, result = self._play(place, given, earlier, real, native)
        kept = plain(result) if found is None else found
        self.draws.append(Draw(*place, given, kept))
        return result

    def _play(
        self,
        place: tuple[str, str],
        given: DrawRequest,
        earlier: Draw | None,
        real: Callable[[], Any],
        native: Callable[[Any], Any],
    ) -> tuple[Any, Any]:
        """What is kept of the draw, None where that is still to be made, and its result."""
        if earlier is None:
            if self.recorded is not None:
                absent = Parting(*place, "nothing", describe(given), given.noise, absent=True)
                self.partings.append(absent)
            return None, real()
        was = earlier.given
        if not same(was.fixed, given.fixed):
            others = ({**each.fixed, "size": None} for each in (was, given))
            noise = given.noise and same(*others)  # of another shape alone
            self.partings.append(Parting(*place, describe(was), describe(given), noise))
            return None, real()
        kept = copy.deepcopy(earlier.result)
        if not same(was.scale, given.scale):
            words = describe(was), describe(given)
            self.partings.append(Parting(*place, *words, given.noise, scale=True))
            with np.errstate(divide="ignore", invalid="ignore"):
                unit = (np.asarray(kept) - was.centre) / np.asarray(was.scale)
            kept = given.centre + np.nan_to_num(unit) * given.scale
            kept = float(kept) if np.ndim(kept) == 0 else kept
        elif not same(was.centre, given.centre):
            kept = kept + (np.asarray(given.centre) - was.centre)
            kept = float(kept) if np.ndim(kept) == 0 else kept
        return kept, native(kept)

    def finish(self) -> None:
        """Notes the recorded draws that this run did not make."""
        for place, before in self._by_place.items():
            for draw in before[self._counts[place] :]:
                noise = draw.given.noise
                self.partings.append(
                    Parting(*place, describe(draw.given), "nothing", noise, absent=True)
                )

    def own_line(self) -> str:
        """The innermost line that is not of a library, as `file.py:12`."""
        frame: FrameType | None = sys._getframe(1)
        innermost: FrameType | None = None
        while frame is not None:
            name = frame.f_code.co_filename
            if self.own(name):
                return f"{Path(name).name}:{frame.f_lineno}"
            if innermost is None and not name.startswith(_OURS):
                innermost = frame
            frame = frame.f_back
        if innermost is None:
            return "?"
        return f"{Path(innermost.f_code.co_filename).name}:{innermost.f_lineno}"

    def own(self, file: str) -> bool:
        """Whether a file is the target's own, and of no library."""
        if file.startswith((_OURS, "<")):
            return False
        if not _of_library(file):
            return True
        return any(_of_library(folder) and file.startswith(folder) for folder in self.folders)


def _of_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) or any(name in Path(file).parts for name in _INSTALLED)


def same(one: Any, other: Any) -> bool:
    """Whether two arguments are equal, arrays element by element."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.shape(one) == np.shape(other) and bool(
            np.array_equal(np.asarray(one), np.asarray(other))
        )
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(same(*each) for each in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other) or repr(one) == repr(other)


def describe(given: DrawRequest) -> str:
    """What a draw was asked for, in a few words."""
    parts = [] if given.scale is None else [f"scale {_brief(given.scale)}"]
    parts += [f"{name} {_brief(value)}" for name, value in given.fixed.items()]
    return ", ".join(parts) or "no argument"


def _brief(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray):
        return f"{value.item():.6g}" if value.size == 1 else f"an array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
