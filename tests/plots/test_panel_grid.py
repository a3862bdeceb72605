"""Small panels of a fixed grid: what they hold is where their scales say."""

import numpy as np
import pytest
from pictured import misplaced

from ocp.plots import Band, Margins, Tile, Trace, draw_tiles, handles, picture
from ocp.plots.panel_grid import numbers, steps

X = np.linspace(0.0, 100.0, 11)
MARGINS = Margins(left=0.5, right=0.1, top=0.4, below=0.3, between=0.5)


def tile(title, size):
    """A panel of a rising line in its band."""
    line = Trace(x=X, y=size * X, colour="k", label="rising")
    band = Band(x=X, low=size * X - size, high=size * X + size, colour="r", label="about it")
    return Tile(title=title, traces=[line], bands=[band], ticks=(0, 50, 100), corner="r +1.00")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-1.2, 1.1, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
        (0.0, 100.0, ["0", "20", "40", "60", "80", "100"]),
        (-0.06, 0.055, ["−0.050", "−0.025", "0.000", "0.025", "0.050"]),
        (3e4, 6e4, ["30000", "40000", "50000", "60000"]),
    ],
)
def test_scales_have_round_numbers_with_the_digits_that_tell_them_apart(low, high, words):
    assert numbers(steps(low, high)) == words


def test_a_scale_has_few_steps_whatever_its_size():
    for size in np.geomspace(1e-6, 1e7, 200):
        ticks = steps(-0.3 * size, 0.7 * size)
        assert 2 <= len(ticks) <= 6 and len(set(numbers(ticks))) == len(ticks)


def test_lines_and_bands_lie_where_the_numbers_at_the_sides_say():
    tiles = [tile(f"panel {k}", 10.0**k) for k in range(-2, 3)]
    with picture(None, 6, 4, fixed=True) as figure:
        page = draw_tiles(figure, tiles, [1.2, 1.2], MARGINS, 3, size=6, x="time (s)")
    assert misplaced(figure) == [] and set(handles(tiles)) == {"rising", "about it"}
    texts = {text.get_text(): text for text in page.texts}
    assert {each.title for each in tiles} < set(texts)
    places = {each.get_text(): each.get_position()[1] for each in page.texts[:7]}
    groups = [each.get_segments() for each in page.collections if hasattr(each, "get_segments")]
    ((first, *_),) = [each for each in groups if len(each) == len(tiles)]  # from 0 to 1
    heights = np.interp([0.0, 1.0], [0.0, 1.0], [places["0.00"], places["1.00"]])
    np.testing.assert_allclose(first[[0, -1], 1], heights)


def test_words_go_to_the_corner_where_the_line_is_lower():
    rising, falling = tile("rising", 1.0), tile("falling", -1.0)
    assert not rising.right and falling.right
