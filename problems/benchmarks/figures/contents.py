"""All pages, and the index that lists them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ocp.problems.benchmarks.figures import barman, barman_gait, book, hollerbach, sohl, xiang
from ocp.problems.benchmarks.figures.page import Page, draw_page
from ocp.solvers import say
from ocp.storage import write

PAGES: dict[str, Page] = {
    page.name: page
    for paper in (xiang, hollerbach, book, barman, barman_gait, sohl)
    for page in paper.PAGES
}
INDEX = "index.md"


def chosen(names: Sequence[str]) -> tuple[Page, ...]:
    """Return the pages of these names, or of these beginnings such as "xiang"; all for no name.

    Raises ValueError naming a name that no page has, and those that there are.
    """
    for name in names:
        if not any(_named(page, name) for page in PAGES):
            raise ValueError(f"no page is called {name!r}; there are {', '.join(PAGES)}")
    pages = PAGES.values()
    return tuple(page for page in pages if not names or any(_named(page.name, n) for n in names))


def _named(page: str, name: str) -> bool:
    return page == name or page.startswith(f"{name}-")


def write_pages(pages: Sequence[Page], directory: str | Path) -> Iterator[tuple[Page, str]]:
    """Write every page as a PNG into a directory, and an index of them; yield each with what is
    ours.

    The index is written after the last. Raises ValueError naming a directory that is none.
    """
    folder = Path(directory)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: expected a directory")
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number, page in enumerate(pages, 1):
        say(f"draws {page.name}, {number} of {len(pages)}")
        _, ours = draw_page(page, folder / f"{page.name}.png")
        entries.append(_entry(page, ours))
        yield page, ours
    write(folder / INDEX, "\n".join(["# The papers' figures from our solutions", "", *entries]))


def _entry(page: Page, ours: str) -> str:
    return (
        f"## {page.source}\n\n{page.caption}\n\n![{page.name}]({page.name}.png)\n\n"
        f"- printed: {page.printed}\n- ours: {ours}\n- differs: {page.differs}\n"
    )
