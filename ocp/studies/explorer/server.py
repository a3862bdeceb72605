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
from collections import deque
from collections.abc import Collection, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ocp.plots import player
from ocp.studies.explorer.posture import BROUGHT
from ocp.studies.explorer.worker import work
from ocp.studies.store.argument_flags import Keywords

PAGE = Path(__file__).parent / "explorer.html"
LONGEST = 15.0  # s: a question for the next answer waits so long
QUIET = 30.0  # s: without questions for so long nobody looks any more
LEAVING = 3.0  # s: where a page has said that it goes, unless another asks
LONGEST_FILE = 120.0  # s: for a file to be written
KEPT = 20  # answers for who comes later
LARGEST = 100_000  # bytes of a request, but for a model's file


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
        self.told = 0  # answers so far
        self.answers: deque[tuple[int, str]] = deque(maxlen=KEPT)  # by number, as JSON
        self.shown: tuple[int, str, str] = (0, "", "{}")  # the last motion: number, answer, scene
        self.meshes: dict[str, str] = {}
        self.asked = 0
        self.made: dict[str, str] = {}
        self.refused: str | None = None  # why a model was, "" of one that is there
        first = self._first()
        if "refused" in first:
            self.close()
            raise ValueError(first["refused"])
        self.stated = first
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self.solve({})

    @property
    def sliders(self) -> list[Keywords]:
        """What moves."""
        return self.stated["sliders"]

    @property
    def switches(self) -> list[Keywords]:
        """What states the problem anew."""
        return self.stated["switches"]

    def bring(self, name: str, content: bytes) -> None:
        """Put the model of a file's content, a URDF, in place of what is explored.

        Raises ValueError where it is none.
        """
        with self.changed:
            self.refused = None
        self._send({"make": name, "model": content})
        with self.changed:
            self.changed.wait_for(lambda: self.refused is not None, timeout=LONGEST_FILE)
            reason = "it takes too long" if self.refused is None else self.refused
        if reason:
            raise ValueError(reason)
        self.solve({})

    def _first(self) -> Keywords:
        try:
            return self.pipe.recv()
        except EOFError:
            return {"refused": f"{self.name}: the process that states it ended"}

    def solve(self, values: Mapping[str, object], push: object = None) -> int:
        """Ask for the motion with values of some parameters and switches, the others as they are by
        default; return the request's number. A `push` on the last motion, {"point": name, "share":
        of its time, "way": of the pointer (3; m)}, puts the state after it in place of theirs.

        Raises ValueError naming one that is unknown, of another kind, or out of its bounds.
        """
        given = None if push is None else _push(push, self.stated["pushed"])
        known = {each["name"]: each for each in self.sliders}
        others = {each["name"]: each for each in self.switches}
        numbers = {name: float(each["value"]) for name, each in known.items()}
        switched: Keywords = {}
        for name, value in values.items():
            if name in others:
                if value != others[name]["value"]:
                    switched[name] = _switched(others[name], value)
                continue
            if name not in known:
                raise ValueError(f"{name}: no parameter; there are {', '.join([*known, *others])}")
            least, most = known[name]["least"], known[name]["most"]
            low, high = -math.inf if least is None else least, math.inf if most is None else most
            number = _number(name, value)
            if not low <= number <= high:
                raise ValueError(f"{name}: expected {low:g} to {high:g}, got {number:g}")
            numbers[name] = number
        with self.changed:
            self.asked += 1
            number = self.asked
        told = {"number": number, "values": numbers, "switched": switched, "push": given}
        self._send(told)
        return number

    def file(self, name: str) -> bytes:
        """Return a file of the last motion, of a name among those of the worker.

        Raises ValueError where there is no motion, or it has no such file.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / name)
            self._send({"make": name, "path": path})
            with self.changed:
                self.changed.wait_for(lambda: path in self.made, timeout=LONGEST_FILE)
                reason = self.made.pop(path, "it takes too long")
            if reason:
                raise ValueError(reason)
            return Path(path).read_bytes()

    def after(self, count: int, wait: float = LONGEST) -> tuple[int, list[str]]:
        """Return the number of answers, and those after the first `count` of them, as JSON, waiting
        for one (s). What was before the last motion, which has its scene, is left out."""
        with self.changed:
            self.changed.wait_for(lambda: self.told > count, timeout=wait)
            number, answer, scene = self.shown
            texts = [text for k, text in self.answers if k > max(count, number)]
            if number > count:
                texts = [f'{answer[:-1]},"scene":{scene}}}', *texts]
            return self.told, texts

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
                if "made" in message:
                    self.made[message["made"]] = message["reason"]
                elif "sliders" in message:
                    self.stated, self.name, self.refused = message, message["model"], ""
                    self._keep({"number": self.asked, "status": "restated"})
                elif "refused" in message:
                    self.refused = message["refused"]
                else:
                    self._keep(message)
                self.changed.notify_all()
            if message.get("status") == "ended":
                return

    def _keep(self, message: Keywords) -> None:
        """Keep an answer; of scenes the last, of meshes those of the last and the one before."""
        self.told += 1
        scene, meshes = message.pop("scene", None), message.pop("meshes", {})
        text = json.dumps(message)
        if scene is None:
            self.answers.append((self.told, text))
            return
        self.shown = self.told, text, scene
        recent = list(self.meshes.items())[-len(meshes) :] if meshes else []
        self.meshes = dict([each for each in recent if each[0] not in meshes]) | meshes


def _push(push: object, points: Collection[str]) -> Keywords:
    """Return a push of numbers on one of the points; raise ValueError for anything else."""
    if not isinstance(push, dict) or push.get("point") not in points:
        raise ValueError(f"push: expected a point, one of {', '.join(points) or 'none'}")
    way = push.get("way")
    if not isinstance(way, list) or len(way) != 3:
        raise ValueError(f"push: way: expected three numbers, got {way!r}")
    share = min(max(_number("push: share", push.get("share")), 0.0), 1.0)
    numbers = [_number("push: way", part) for part in way]
    return {"point": push["point"], "share": share, "way": numbers}


def _switched(switch: Keywords, value: object) -> object:
    """Return the value of a switch; raise ValueError naming one of which it can be none."""
    name, usual, words = switch["name"], switch["value"], switch["words"]
    if words:
        if value not in words:
            known = ", ".join(repr(word) for word in words)
            raise ValueError(f"{name}: expected one of {known}, got {value!r}")
        return value
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name}: expected yes or no, got {value!r}")
        return value
    if value is None and usual is None:
        return None
    number = _number(name, value)
    if switch["whole"] and number != int(number):
        raise ValueError(f"{name}: expected a whole number, got {value!r}")
    return int(number) if switch["whole"] else number


def _number(name: str, value: object) -> float:
    """Return a value as a number; raise ValueError naming what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name}: expected a number, got {value!r}")
    return float(value)


class Server(ThreadingHTTPServer):
    """The explorer's server at a host and port, 0 for any that is free."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, explorer: Explorer, host: str, port: int) -> None:
        self.explorer, self.host = explorer, host
        self.token = secrets.token_urlsafe(16)
        self.pages: dict[str, float] = {}  # when each page looked last
        self.left = math.inf  # when the last page left: none was there yet
        super().__init__((host, port), Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (host, "127.0.0.1", "localhost")}

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.host}:{self.server_port}/"

    def look(self, page: str) -> None:
        """Note that a page looks."""
        self.pages[page] = time.monotonic()

    def leave(self, page: str) -> None:
        """Note that a page was closed."""
        self.pages.pop(page, None)
        self.left = time.monotonic()

    def is_looked_at(self, quiet: float = QUIET) -> bool:
        """Tell whether a page looks, has looked within a time (s), or none has come yet."""
        now = time.monotonic()
        for page, last in list(self.pages.items()):
            if now - last > quiet + LONGEST:
                self.leave(page)
        return bool(self.pages) or now - self.left < LEAVING

    def stay(self, quiet: float = QUIET) -> None:
        """Serve until nobody has looked for a time (s), or until Ctrl-C."""
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            while self.is_looked_at(quiet):
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
    disable_nagle_algorithm = True  # head and body are sent one after another

    def do_GET(self) -> None:
        """Answer what is read."""
        path = urlsplit(self.path)
        explorer, word = self.server.explorer, path.path.strip("/")
        kind, _, name = word.partition("/")
        if self.headers.get("Host") not in self.server.hosts:
            self._reply(HTTPStatus.FORBIDDEN, "served to this machine alone")
        elif word == "":
            data = explorer.stated | {"name": explorer.name, "token": self.server.token}
            text = json.dumps(data).replace("<", "\\u003c")
            self._reply(HTTPStatus.OK, PAGE.read_text("utf-8").replace("@DATA@", text), "text/html")
        elif word == "player":
            self._reply(HTTPStatus.OK, player(), "text/html")
        elif kind == "answers" and name.isdigit():
            self.server.look(path.query)
            count, texts = explorer.after(int(name))
            said = f'{{"count":{count},"answers":[{",".join(texts)}]}}'
            self._reply(HTTPStatus.OK, said, "application/json")
        elif kind == "mesh" and name in explorer.meshes:
            self._reply(HTTPStatus.OK, explorer.meshes[name], "application/json")
        elif kind == "file" and name in explorer.stated["files"]:
            try:
                self._reply(HTTPStatus.OK, explorer.file(name), "application/octet-stream")
            except ValueError as error:
                self._reply(HTTPStatus.CONFLICT, f"{error}")
        else:
            self._reply(HTTPStatus.NOT_FOUND, "there is nothing of this name")

    def do_POST(self) -> None:
        """Ask for a motion with the values of the body, {name: number}."""
        length = self.headers.get("Content-Length", "")
        known = self.headers.get("Host") in self.server.hosts
        own = secrets.compare_digest(self.headers.get("X-Token", ""), self.server.token)
        path = urlsplit(self.path)
        if known and path.path == f"/leave/{self.server.token}":  # a page that goes has no headers
            self.server.leave(path.query)
            self._reply(HTTPStatus.OK, "")
        elif not (known and own) or path.path not in ("/solve", "/model"):
            self._reply(HTTPStatus.FORBIDDEN, "only the explorer's own page may ask")
        elif path.path == "/model":
            self._bring(length)
        elif not length.isdigit() or int(length) > LARGEST:
            self._reply(HTTPStatus.BAD_REQUEST, "expected numbers by the names of parameters")
        else:
            try:
                values = json.loads(self.rfile.read(int(length)))
                if not (isinstance(values, dict) and isinstance(values.get("values"), dict)):
                    raise ValueError("expected numbers by the names of parameters")
                number = self.server.explorer.solve(values.pop("values", {}), values.get("push"))
                self._reply(HTTPStatus.OK, json.dumps({"number": number}))
            except ValueError as error:
                self._reply(HTTPStatus.BAD_REQUEST, f"{error}")

    def _bring(self, length: str) -> None:
        """Take the file of a model."""
        name = unquote(self.headers.get("X-Name", ""))
        if not length.isdigit() or int(length) > BROUGHT:
            self._reply(HTTPStatus.BAD_REQUEST, f"expected a file of {BROUGHT / 1e6:g} MB at most")
            return
        try:
            self.server.explorer.bring(name, self.rfile.read(int(length)))
            self._reply(HTTPStatus.OK, "")
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
