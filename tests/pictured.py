"""Motions to be drawn: other trees, made-up ones, names that look like formulas."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from matplotlib.text import Text

NAMES = ("$\\frac{$", "_hidden", "a_b^c {", "50 % & #1", "$x$")


def moved(solution, tree, points=None):
    """Return the solution with another tree and made-up control points, good enough to draw."""
    problem = replace(solution.problem, tree=tree, constraints=())
    if points is None:
        points = np.random.default_rng(1).uniform(-1, 1, (tree.dof, problem.motion.points))
    return replace(solution, problem=problem, points=points, duration=0.8)


def words_of(figure):
    """All words that a figure shows, and the numbers at its axes."""
    yield from (*figure.texts, *(text for each in figure.legends for text in each.get_texts()))
    for axes in figure.axes:
        yield from axes.texts
        if not axes.axison:
            yield axes.title
            yield from axes.get_legend().get_texts() if axes.get_legend() else ()
            continue
        yield from (axes.title, axes.xaxis.label, axes.yaxis.label)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            yield from (tick.label1 for tick in ticks if tick.label1.get_visible())


def misplaced(figure):
    """Pairs of words of a figure that cover each other, and words that leave its page.

    Arrows of annotations are no words.
    """
    figure.canvas.draw()
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in words_of(figure)]
    boxes = [(word, box) for word, box in boxes if word and box.width]
    low, high = figure.bbox.min, figure.bbox.max
    beyond = [word for word, box in boxes if (box.min < low).any() or (box.max > high).any()]
    covered = [
        (word, other)
        for (word, one), (other, two) in combinations(boxes, 2)
        if (np.minimum(one.max, two.max) > np.maximum(one.min, two.min)).all()
    ]
    return beyond + covered
