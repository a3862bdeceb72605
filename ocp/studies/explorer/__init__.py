"""Explorer: a page of this machine on which a problem's parameters move and it is solved anew."""

from ocp.studies.explorer.server import Explorer, Server

__all__ = ["Explorer", "Server"]
