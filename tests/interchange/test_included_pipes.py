"""Pipes that models include: refused by name, since their readers would wait for ever."""

import os
import subprocess
import sys

import pytest

MODELS = {
    "mujoco": ("arm.xml", '<mujoco><include file="part.xml"/></mujoco>'),
    "xacro": (
        "arm.urdf.xacro",
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="part.xml"/><link name="base"/></robot>',
    ),
}


@pytest.mark.commands
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("extra", MODELS)
def test_a_pipe_that_a_model_includes_is_refused(extra, tmp_path):
    pytest.importorskip(extra)
    name, text = MODELS[extra]
    (tmp_path / name).write_text(text)
    os.mkfifo(tmp_path / "part.xml")
    code = f"from ocp import load_model; load_model({str(tmp_path / name)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert "part.xml: is a pipe, expected a regular file" in done.stderr
