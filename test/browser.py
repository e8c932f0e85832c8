"""A real browser that opens a page and tells what it sees; tests skip where there is none."""

import json
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium; the page was NOT looked at"
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr",
)  # fmt: skip
_CONSOLE = re.compile(r"CONSOLE[:(]\d+\)?\] (.*)")
_EYE = """<!DOCTYPE html><title>eye</title><link rel="icon" href="data:,"><body><script>
function blank(image) {
  const canvas = document.createElement('canvas');
  canvas.width = 200; canvas.height = 100;
  const drawing = canvas.getContext('2d');
  drawing.drawImage(image, 0, 0, 200, 100);
  const pixels = new Uint32Array(drawing.getImageData(0, 0, 200, 100).data.buffer);
  return new Set(pixels).size < 3;
}
async function opened(width) {
  const frame = document.createElement('iframe');
  frame.style.width = width + 'px'; frame.style.height = '900px'; frame.style.border = 0;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = PAGE; document.body.append(frame); await loaded;
  return [frame, frame.contentDocument];
}
LOOK
(async () => {
  const seen = [];
  try { for (const width of WIDTHS) seen.push(await look(width)); }
  catch (error) { seen.push({error: String(error)}); }
  await fetch('/seen', {method: 'POST', body: JSON.stringify(seen)});
})();
</script>"""

_LOOK = """
async function look(width) {
  const [frame, page] = await opened(width), root = page.documentElement;
  const images = [...page.images];
  await Promise.all(images.map(image => image.decode().catch(() => null)));
  const empty = images.filter(image => !image.complete || !image.naturalWidth || blank(image));
  const out = [...page.querySelectorAll('body *')].filter(e =>
    !e.closest('.scroll') && e.getBoundingClientRect().right > width + 1);
  const broken = [...page.querySelectorAll('a[href^="#"]')].filter(a =>
    !page.getElementById(a.getAttribute('href').slice(1)));
  return {
    width, overflow: root.scrollWidth - root.clientWidth, images: images.length,
    shown: images.filter(image => image.offsetWidth).length, empty: empty.map(i => i.alt),
    out: out.map(e => e.tagName + '.' + e.className), broken: broken.map(a => a.textContent),
    text: page.body.innerText, scripts: page.scripts.length,
    smallest: Math.min(...[...page.querySelectorAll('p,td,th,li')].filter(e => e.offsetWidth)
      .map(e => parseFloat(frame.contentWindow.getComputedStyle(e).fontSize))),
  };
}
"""


class _Server(ThreadingHTTPServer):
    """Serves a folder and the eye, and keeps what the eye reports and what was asked for."""

    daemon_threads = True

    def __init__(self, folder, eye):
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
        self.eye = eye
        self.asked = []
        self.seen = None
        self.reported = threading.Event()

    def handle_error(self, request, client_address):
        """Say nothing of connections that the browser drops."""


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path != "/eye":
            super().do_GET()
            return
        body = self.server.eye.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.seen = json.loads(self.rfile.read(length))
        self.send_response(204)
        self.end_headers()
        self.server.reported.set()

    def log_message(self, *_arguments):
        """Keep the output of the tests clean."""


@contextmanager
def _serving(folder, eye):
    server = _Server(folder, eye)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def look_at(page: Path, profile: Path, widths=(390, 1280), look=_LOOK):
    """Return what a browser sees at several widths, its console, and what it asked for.

    Args:
        page: the HTML file.
        profile: folder for the browser's own files.
        widths: widths of the page in CSS pixels.
        look: script with the function ``look(width)``, which opens the page with
            ``opened(width)`` and returns what is seen.
    """
    eye = _EYE.replace("LOOK", look).replace("WIDTHS", json.dumps(widths))
    eye = eye.replace("PAGE", json.dumps(f"/{page.name}"))
    log = profile.parent / f"{profile.name}.log"
    with _serving(page.parent, eye) as server, log.open("wb") as errors:
        address = f"http://127.0.0.1:{server.server_port}/eye"
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "--window-size=1400,1000"]
        browser = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=errors)
        try:
            assert server.reported.wait(90.0), log.read_text(errors="replace")
        finally:
            browser.terminate()
            browser.wait(20.0)
        console = _CONSOLE.findall(log.read_text(errors="replace"))
        return server.seen, console, [path for path in server.asked if path != "/eye"]


def printed(page: Path, target: Path, profile: Path) -> bytes:
    """Return the PDF that a browser prints of a page."""
    subprocess.run(
        [
            CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "--no-pdf-header-footer",
            f"--print-to-pdf={target}", page.as_uri(),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return target.read_bytes()


def page_count(pdf: bytes) -> int:
    """Return the number of pages of a PDF as Chromium writes it."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))
