"""Every figure of the five papers that has data, drawn from our solutions, a page each."""

from ocp.problems.benchmarks.figures.contents import PAGES, chosen, write_pages
from ocp.problems.benchmarks.figures.page import Page, draw_page

__all__ = ["PAGES", "Page", "chosen", "draw_page", "write_pages"]
