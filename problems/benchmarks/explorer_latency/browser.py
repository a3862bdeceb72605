"""Pages in Chromium without a window, asked by the protocol of its developers' tools."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

LONGEST = 240.0  # s: for one answer
SERVER_ERROR = -32000  # JSON-RPC: here "navigated or closed" and "context was destroyed"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--no-first-run", "--window-size=1500,950"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    "--disable-gpu-compositing",  # as where there is no graphics card
    *("--remote-debugging-port=0", "--remote-allow-origins=*"),
)


class PageReplacedError(RuntimeError):
    """A page that another took the place of before it answered."""


class Tab:
    """A page of a browser, asked by the protocol of its developers' tools at a `url`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname and parts.port
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=LONGEST)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.stream = self.socket.makefile("rb")
        while self.stream.readline().strip():
            pass
        self.count = 0

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return the result of a method of the protocol."""
        self.count += 1
        text = json.dumps({"id": self.count, "method": method, "params": parameters}).encode()
        length = len(text)
        head = bytes([0x81, 0x80 | min(length, 126)]) if length < 126 else b"\x81\xfe"
        wide = b"" if length < 126 else length.to_bytes(2, "big")
        self.socket.sendall(head + wide + bytes(4) + text)  # masked by zeros
        while (said := json.loads(self._message())).get("id") != self.count:
            pass
        if "error" in said:
            replaced = said["error"]["code"] == SERVER_ERROR
            kind = PageReplacedError if replaced else RuntimeError
            raise kind(f"{method}: {said['error']['message']}")
        return said["result"]

    def evaluate(self, expression: str) -> object:
        """Return the value of an expression of the page, awaited."""
        result = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 120.0) -> None:
        """Return once an expression of the page holds, or of the page that replaces it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(PageReplacedError):
                if self.evaluate(expression):
                    return
            time.sleep(0.1)
        raise TimeoutError(f"the page did not come to {expression} in {seconds:g} s")

    def close(self) -> None:
        """End the conversation."""
        self.stream.close()
        self.socket.close()

    def _message(self) -> bytes:
        """Return one message, which may come in parts."""
        parts, last = b"", False
        while not last:
            first, second = self.stream.read(2)
            length = second & 127
            if length >= 126:
                length = int.from_bytes(self.stream.read(2 if length == 126 else 8), "big")
            parts, last = parts + self.stream.read(length), bool(first & 128)
        return parts


@contextmanager
def browser_tab(url: str) -> Iterator[Tab]:
    """Yield a Tab of a page in Chromium without a window."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise SystemExit("explorer_latency: there is no Chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own = f"--user-data-dir={folder}"
        child = subprocess.Popen([program, *FLAGS, own, url], stderr=subprocess.PIPE, text=True)
        try:
            assert child.stderr is not None
            line = next(line for line in child.stderr if "DevTools listening on" in line)
            reader = threading.Thread(target=child.stderr.read, daemon=True)
            reader.start()
            place = urlsplit(line.split()[-1]).netloc
            with urllib.request.urlopen(f"http://{place}/json") as reply:
                tabs = json.load(reply)
            page = next(tab for tab in tabs if tab["type"] == "page" and tab["url"] == url)
            tab = Tab(page["webSocketDebuggerUrl"])
            try:
                yield tab
            finally:
                tab.close()
        finally:
            child.terminate()
            child.wait(20)
            reader.join(5)
            child.stderr.close()
