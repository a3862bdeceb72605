"""A cart on a track with a pole that nothing drives (Kelly 2017)."""

from ocp import Link, Point, Tree, prismatic, revolute

CART, POLE = 1.0, 0.3  # kg, of the cart and at the pole's end
LENGTH, TRACK, GRAVITY = 0.5, 2.0, 9.81  # m, half the track (m), m/s2


def cart_pole(force: float = 20.0) -> Tree:
    """Return the tree: the cart along x, the pole's angle from hanging, with y up.

    `force`: limit on the cart (N).
    """
    return Tree(
        links=(Link(mass=CART), Link(mass=POLE, com=(0, -LENGTH, 0))),
        joints=(
            prismatic("cart", axis=(1.0, 0.0, 0.0), position=TRACK, torque=force),
            revolute("pole", "cart", actuated=False),
        ),
        points=(Point(name="tip", link="pole", position=(0, -LENGTH, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
