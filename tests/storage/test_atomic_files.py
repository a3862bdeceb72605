"""Files are written whole or not at all, in the place of regular files, which alone are read."""

import errno
import os
import stat
import threading

import pytest

from ocp import load, load_model, read_table
from ocp.plots.bodies.mesh_files import mesh_parts
from ocp.storage.atomic_files import bytes_of, check_writable, write

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


@pytest.fixture
def pipe(tmp_path):
    """Makes named pipes whose writer comes and goes as soon as somebody reads."""
    made, writers = [], []

    def make(name):
        path = tmp_path / name
        os.mkfifo(path)
        made.append(path)
        writers.append(threading.Thread(target=lambda: path.open("wb").close()))
        writers[-1].start()
        return path

    yield make
    for path, writer in zip(made, writers):
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join()
        os.close(reader)


READERS = {
    "a.npz": load,
    "a.mot": read_table,
    "a.trc": read_table,
    "a.csv": read_table,
    "a.urdf": load_model,
    "a.xml": load_model,
    "a.xacro": load_model,
    "a.stl": mesh_parts,
}


@posix
@pytest.mark.parametrize(("name", "reader"), READERS.items(), ids=READERS)
def test_a_pipe_is_refused_by_name_and_waited_for_by_nobody(pipe, name, reader):
    path = pipe(name)
    with pytest.raises(ValueError, match=f"{path}: is a pipe, expected a regular file"):
        reader(path)


@posix
def test_a_guess_that_is_a_pipe_is_refused(pipe, capsys):
    from ocp.cli.main import command

    path = pipe("guess.npz")
    assert command(["run", "two_link_lift", "--points", "8", "--guess", str(path)]) == 2
    assert f"{path}: is a pipe, expected a regular file" in capsys.readouterr().err


def test_a_file_is_read_through_a_link_and_up_to_a_size(tmp_path):
    path, link = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"12345")
    link.symlink_to(path)
    assert bytes_of(link, most=5) == b"12345"
    with pytest.raises(ValueError, match=f"{path}: expected at most 4 bytes, got 5"):
        bytes_of(path, most=4)
