"""A cart on a track with two poles in a row that nothing drives (after Graichen et al. 2007)."""

from ocp import Link, Point, Tree, prismatic, revolute

CART, POLE = 1.0, 0.2  # kg, of the cart and of each pole
LENGTH, TRACK, GRAVITY = 0.5, 1.0, 9.81  # m, of a pole, half the track (m), m/s2


def cart_double_pendulum(force: float = 20.0) -> Tree:
    """Return the tree: the cart along x, the lower pole's angle from hanging, with y up.

    The upper pole's is from the lower one. Poles are uniform rods; `force`: limit on the cart (N).
    """
    inertia = POLE * LENGTH**2 / 12
    rod = Link(
        mass=POLE, com=(0, -LENGTH / 2, 0), inertia=((inertia, 0, 0), (0, 0, 0), (0, 0, inertia))
    )
    return Tree(
        links=(Link(mass=CART), rod, rod),
        joints=(
            prismatic("cart", axis=(1.0, 0.0, 0.0), position=TRACK, torque=force),
            revolute("lower", "cart", actuated=False),
            revolute("upper", "lower", home=(0, -LENGTH, 0), actuated=False),
        ),
        points=(Point(name="tip", link="upper", position=(0, -LENGTH, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
