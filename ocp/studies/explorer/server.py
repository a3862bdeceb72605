"""Server of the explorer: a page of sliders, and motions as the worker finds them.

It serves this machine alone unless asked. Requests carry a token that only its own page knows, and
nothing of them but numbers by the names of parameters reaches the worker.
"""

import contextlib
import json
import math
import multiprocessing
import secrets
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from ocp.studies.explorer.worker import work
from ocp.studies.store.argument_records import Keywords

PAGE = Path(__file__).parent / "explorer.html"
LONGEST = 15.0  # s: a question for the next answer waits so long
QUIET = 30.0  # s: without questions for so long nobody looks any more
KEPT = 4  # motions that a page may still ask for
LARGEST = 100_000  # bytes of a request


class Explorer:
    """A problem of a `name` that is solved anew as its parameters move, all or those of `names`,
    in a process of its own.

    Raises ValueError where it cannot be stated, or has no such parameters.
    """

    def __init__(self, name: str, names: Collection[str] = ()) -> None:
        self.name = name
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(name, names, other), daemon=True)
        self.process.start()
        other.close()
        self.changed = threading.Condition()
        self.sending = threading.Lock()
        self.answers: list[Keywords] = []
        self.pages: dict[int, str] = {}
        self.asked = 0
        self.saved: bool | None = False
        first = self._first()
        if "refused" in first:
            self.close()
            raise ValueError(first["refused"])
        self.sliders: list[Keywords] = first["sliders"]
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self.solve({})

    def _first(self) -> Keywords:
        try:
            return self.pipe.recv()
        except EOFError:
            return {"refused": f"{self.name}: the process that states it ended"}

    def solve(self, values: Mapping[str, object]) -> int:
        """Ask for the motion with values of some parameters, the others as they are by default;
        return the request's number.

        Raises ValueError naming a parameter that is unknown, no number, or out of its bounds.
        """
        known = {each["name"]: each for each in self.sliders}
        numbers = {name: float(each["value"]) for name, each in known.items()}
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"{name}: no parameter; there are {', '.join(known)}")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name}: expected a number, got {value!r}")
            least, most = known[name]["least"], known[name]["most"]
            low, high = -math.inf if least is None else least, math.inf if most is None else most
            if not (math.isfinite(value) and low <= value <= high):
                raise ValueError(f"{name}: expected {low:g} to {high:g}, got {value:g}")
            numbers[name] = float(value)
        with self.changed:
            self.asked += 1
            number = self.asked
        self._send({"number": number, "values": numbers})
        return number

    def save(self) -> bytes:
        """Return the file of the last motion; raise ValueError before there is one."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "motion.npz"
            with self.changed:
                self.saved = None
                self._send({"file": str(path)})
                self.changed.wait_for(lambda: self.saved is not None, timeout=4 * LONGEST)
            if not path.exists():
                raise ValueError("there is no motion yet")
            return path.read_bytes()

    def after(self, count: int, wait: float = LONGEST) -> list[Keywords]:
        """Return the answers after the first `count` of them, waiting for one (s)."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.answers) > count, timeout=wait)
            return self.answers[count:]

    def close(self) -> None:
        """End the worker."""
        with contextlib.suppress(OSError):
            self.pipe.close()
        self.process.terminate()
        self.process.join(5.0)

    def _send(self, message: Keywords) -> None:
        try:
            with self.sending:
                self.pipe.send(message)
        except OSError:
            raise ValueError("the process that solves has ended; start the explorer anew") from None

    def _listen(self) -> None:
        """Keep what the worker tells, until it ends."""
        while True:
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                message = {"number": 0, "status": "ended", "lines": ["the solving process ended"]}
            with self.changed:
                if "saved" in message:
                    self.saved = bool(message["saved"])
                else:
                    text = message.pop("page", None)
                    if text is not None:
                        self.pages[message["number"]] = text
                        message["page"] = message["number"]
                        for old in sorted(self.pages)[:-KEPT]:
                            del self.pages[old]
                    self.answers.append(message)
                self.changed.notify_all()
            if message.get("status") == "ended":
                return


class Server(ThreadingHTTPServer):
    """The explorer's server at a host and port, 0 for any that is free."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, explorer: Explorer, host: str, port: int) -> None:
        self.explorer, self.host = explorer, host
        self.token = secrets.token_urlsafe(16)
        self.last = math.inf  # when somebody looked: nobody has yet
        super().__init__((host, port), Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (host, "127.0.0.1", "localhost")}

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.host}:{self.server_port}/"

    def stay(self, quiet: float = QUIET) -> None:
        """Serve until nobody has looked for a time (s), or until Ctrl-C."""
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            while time.monotonic() - self.last < quiet + LONGEST:
                time.sleep(0.2)
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()
            self.server_close()
            self.explorer.close()


class Handler(BaseHTTPRequestHandler):
    """Answers to a page: itself, the next answers, a motion's page, the file of the last one."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer what is read."""
        self.server.last = time.monotonic()
        path = urlsplit(self.path)
        explorer, word = self.server.explorer, path.path.strip("/")
        kind, _, number = word.partition("/")
        if self.headers.get("Host") not in self.server.hosts:
            self._reply(HTTPStatus.FORBIDDEN, "served to this machine alone")
        elif word == "":
            data = {"name": explorer.name, "token": self.server.token, "sliders": explorer.sliders}
            text = json.dumps(data).replace("<", "\\u003c")
            self._reply(HTTPStatus.OK, PAGE.read_text("utf-8").replace("@DATA@", text), "text/html")
        elif kind == "answers" and number.isdigit():
            self._reply(HTTPStatus.OK, json.dumps(explorer.after(int(number))), "application/json")
        elif kind == "motion" and number.isdigit() and int(number) in explorer.pages:
            self._reply(HTTPStatus.OK, explorer.pages[int(number)], "text/html")
        elif word == "motion.npz":
            try:
                self._reply(HTTPStatus.OK, explorer.save(), "application/octet-stream")
            except ValueError as error:
                self._reply(HTTPStatus.NOT_FOUND, f"{error}")
        else:
            self._reply(HTTPStatus.NOT_FOUND, "there is nothing of this name")

    def do_POST(self) -> None:
        """Ask for a motion with the values of the body, {name: number}."""
        self.server.last = time.monotonic()
        length = self.headers.get("Content-Length", "")
        known = self.headers.get("Host") in self.server.hosts
        own = secrets.compare_digest(self.headers.get("X-Token", ""), self.server.token)
        if not (known and own) or urlsplit(self.path).path != "/solve":
            self._reply(HTTPStatus.FORBIDDEN, "only the explorer's own page may ask")
        elif not length.isdigit() or int(length) > LARGEST:
            self._reply(HTTPStatus.BAD_REQUEST, "expected numbers by the names of parameters")
        else:
            try:
                values = json.loads(self.rfile.read(int(length)))
                if not isinstance(values, dict):
                    raise ValueError("expected numbers by the names of parameters")
                self._reply(
                    HTTPStatus.OK, json.dumps({"number": self.server.explorer.solve(values)})
                )
            except ValueError as error:
                self._reply(HTTPStatus.BAD_REQUEST, f"{error}")

    def log_message(self, format: str, *_: object) -> None:
        """Print nothing of requests."""

    def _reply(self, status: HTTPStatus, body: str | bytes, kind: str = "text/plain") -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with contextlib.suppress(OSError):  # a reader that has gone
            self.wfile.write(content)
