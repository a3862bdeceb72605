"""Files are written whole or not at all, in the place of regular files only."""

import errno
import os
import stat
import threading

import pytest

from ocp.solution.files import check_writable, write

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes of POSIX")


def full(handle):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_named_and_the_old_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "old.txt"
    write(path, "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"old\.txt: cannot be written: No space left on device"):
        write(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["old.txt"]


def test_content_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        kept = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *given, name=name, kept=kept: (calls.append(name), kept(*given))
        )
    write(tmp_path / "new.txt", "new")
    assert calls[:2] == ["fsync", "replace"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "old.txt"
    path.write_text("old")
    path.chmod(mode)
    write(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_text() == "new"


@posix
def test_a_new_file_has_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "new.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


@posix
def test_a_symbolic_link_is_refused_and_so_is_a_pipe(tmp_path):
    """Whoever may write in a folder could otherwise choose what is overwritten."""
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_text("precious")
    link.symlink_to(target)
    os.mkfifo(pipe)
    for path, words in ((link, "a symbolic link"), (pipe, "a pipe")):
        for refuse in (check_writable, lambda path: write(path, "new")):
            with pytest.raises(OSError, match=f"{path.name}: is {words}, expected a new or a reg"):
                refuse(path)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match="is a symbolic link"):
        write(dangling, "new")
    assert target.read_text() == "precious" and link.is_symlink() and pipe.is_fifo()
    assert len(os.listdir(tmp_path)) == 4


@posix
def test_a_device_is_refused_and_stays_one():
    """As root it was replaced by the file."""
    for path in ("/dev/full", "/dev/null"):
        if not os.path.exists(path):
            continue
        with pytest.raises(OSError, match=f"{path}: is a device, expected"):
            write(path, "new")
        assert stat.S_ISCHR(os.stat(path).st_mode)


def test_two_that_write_at_once_leave_one_whole_file(tmp_path):
    path, contents = tmp_path / "file.txt", [letter * 10**5 for letter in "ab"]
    threads = [
        threading.Thread(target=lambda each=each: [write(path, each) for _ in range(10)])
        for each in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in contents and os.listdir(tmp_path) == ["file.txt"]
