#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The samples for crash reporters (samples/crash-reporters), handed reports by Cairn, before a server of their protocol."""
import email
import email.policy
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples/crash-reporters"
CAIRN = pathlib.Path(os.environ["CAIRN_BINARY_DIR"]) / "bin/cairn"
REPORT = ROOT / "tests/golden/snapshot-vulkan-v1.cairn"
WITH_USER_DATA = ROOT / "tests/golden/snapshot-user-data-v1.cairn"
SAVE = b"\x01\x00\xff" + b"s" * 5000
SIGNATURE = "1f49198282ea58a8"


class Server(http.server.ThreadingHTTPServer):
    """Keeps what it is sent, and answers with `status`."""

    def __init__(self):
        self.requests = []
        self.status = 200
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append((self.path, self.headers, b""))
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.server.requests.append((self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"bp-1234\n")

    def log_message(self, *arguments):
        pass


def items_of(envelope):
    """The header of an envelope, and its items: (header, bytes)."""
    header, _, rest = envelope.partition(b"\n")
    items = []
    while rest:
        item, _, rest = rest.partition(b"\n")
        length = json.loads(item)["length"]
        assert rest[length:length + 1] == b"\n", rest[length:]
        items.append((json.loads(item), rest[:length]))
        rest = rest[length + 1:]
    return json.loads(header), items


class CrashReportersTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)
        self.address = f"127.0.0.1:{self.server.server_port}"
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def hand_on(self, sample, *arguments, file=REPORT, dsn=None):
        """As the watcher does for --on-report."""
        environment = dict(os.environ, no_proxy="*", SENTRY_DSN=dsn or f"http://0123abcd@{self.address}/42")
        return subprocess.run([CAIRN, "hand-on", file, "--", SAMPLES / sample, *arguments], text=True,
                              capture_output=True, env=environment, timeout=120)

    def test_sentry_gets_one_event_grouped_by_the_signature(self):
        for _ in range(2):
            sent = self.hand_on("to-sentry", "--release", "game@1.2")
            self.assertEqual((sent.returncode, sent.stdout, sent.stderr), (0, "", ""))
        path, headers, body = self.server.requests[0]
        self.assertEqual(path, "/api/42/envelope/")
        self.assertEqual(headers["X-Sentry-Auth"], "Sentry sentry_version=7, sentry_client=cairn-sample/1, sentry_key=0123abcd")
        header, items = items_of(body)
        self.assertEqual([item["type"] for item, _ in items], ["event", "attachment"])
        event = json.loads(items[0][1])
        self.assertEqual(header["event_id"], event["event_id"])
        self.assertRegex(event["event_id"], "^[0-9a-f]{32}$")
        self.assertEqual(event["fingerprint"], ["cairn", SIGNATURE])
        self.assertTrue(event["message"]["formatted"].startswith("GPU fault (invalid read at 0x1000020100)"))
        self.assertEqual(event["transaction"], "Shadows > EXECUTE_COMMANDS > Shadow casters > DRAW_INDEXED")
        self.assertEqual(event["timestamp"], "2023-11-14T22:13:25.000Z")
        self.assertEqual(event["release"], "game@1.2")
        self.assertEqual(event["level"], "fatal")
        self.assertEqual(event["tags"]["gpu.cause"], "invalid read")
        self.assertEqual(items[1][0]["filename"], REPORT.name)
        self.assertEqual(items[1][1], REPORT.read_bytes())
        again = items_of(self.server.requests[1][2])[0]
        self.assertEqual(again["event_id"], header["event_id"], "the server drops what it has")

    def test_sentry_gets_no_file_if_it_shall_not(self):
        self.assertEqual(self.hand_on("to-sentry", "--no-file").returncode, 0)
        _, items = items_of(self.server.requests[0][2])
        self.assertEqual([item["type"] for item, _ in items], ["event"])
        self.assertNotIn(str(REPORT.parent).encode(), self.server.requests[0][2])

    def test_a_long_file_stays_here(self):
        long = self.folder / "long.cairn"
        with long.open("wb") as file:
            file.truncate(21 << 20)
        sent = self.hand_on("to-sentry", file=long)
        self.assertEqual(sent.returncode, 0)
        self.assertIn("to-sentry: " + str(long) + " has more than 20 MiB: sent without it\n", sent.stderr)
        _, items = items_of(self.server.requests[0][2])
        event = json.loads(items[0][1])
        self.assertTrue(event["message"]["formatted"].startswith("unreadable report: "), event)
        self.assertNotIn("fingerprint", event)
        self.assertEqual(len(items), 1)

    def test_what_the_server_refuses_is_told(self):
        self.server.status = 429
        for sample, arguments in (("to-sentry", []), ("to-collector", [f"http://{self.address}/"])):
            sent = self.hand_on(sample, *arguments)
            self.assertIn(f"{sample}: HTTP Error 429: Too Many Requests\n", sent.stderr)
            self.assertIn("its exit code is 1", sent.stderr)
        sent = self.hand_on("to-sentry", dsn="http://127.0.0.1/")
        self.assertIn("to-sentry: SENTRY_DSN is not https://KEY@HOST/PROJECT\n", sent.stderr)

    def test_a_post_that_is_sent_elsewhere_is_no_success(self):
        self.server.status = 302
        for sample, arguments in (("to-sentry", []), ("to-collector", [f"http://{self.address}/"])):
            sent = self.hand_on(sample, *arguments)
            self.assertIn(f"{sample}: HTTP Error 302: Found\n", sent.stderr)
            self.assertIn("its exit code is 1", sent.stderr)
        self.assertEqual([path for path, _, _ in self.server.requests], ["/api/42/envelope/", "/"])

    def test_a_collector_gets_a_form(self):
        sent = self.hand_on("to-collector", "--product", "Game", "--version", "1.2", f"http://{self.address}/submit?a=b")
        self.assertEqual((sent.returncode, sent.stdout, sent.stderr), (0, "bp-1234\n", ""))
        path, headers, body = self.server.requests[0]
        self.assertEqual(path, "/submit?a=b")
        form = email.message_from_bytes(b"Content-Type: " + headers["Content-Type"].encode() + b"\r\n\r\n" + body,
                                        policy=email.policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        text = {name: part.get_payload() for name, part in parts.items() if part.get_filename() is None}
        self.assertEqual((text["prod"], text["ver"], text["ptype"]), ("Game", "1.2", "gpu"))
        self.assertRegex(text["guid"], "^[0-9a-f-]{36}$")
        self.assertEqual(text["cairn_signature"], SIGNATURE)
        self.assertEqual(text["cairn_kind"], "GPU fault")
        self.assertNotIn("cairn_file", text)
        self.assertEqual(parts["cairn"].get_filename(), REPORT.name)
        self.assertEqual(parts["cairn"].get_payload(decode=True), REPORT.read_bytes())

    def test_sentry_gets_user_data_if_it_shall(self):
        self.assertEqual(self.hand_on("to-sentry", file=WITH_USER_DATA).returncode, 0)
        self.assertNotIn(b"e1m1", items_of(self.server.requests[0][2])[1][0][1])
        sent = self.hand_on("to-sentry", "--user-data", "--no-file", "--cairn", str(CAIRN), file=WITH_USER_DATA)
        self.assertEqual((sent.returncode, sent.stderr), (0, ""))
        _, items = items_of(self.server.requests[1][2])
        self.assertEqual(json.loads(items[0][1])["extra"]["user_data"],
                         {"a/../b": "", "level": "e1m1", "settings.json": '{"shadows": true}\n'})
        self.assertEqual([(item["filename"], content) for item, content in items[1:]], [("user-data-02-save.bin", SAVE)])

    def test_a_collector_gets_user_data_if_it_shall(self):
        sent = self.hand_on("to-collector", "--user-data", "--no-file", "--cairn", str(CAIRN),
                            f"http://{self.address}/", file=WITH_USER_DATA)
        self.assertEqual((sent.returncode, sent.stderr), (0, ""))
        _, headers, body = self.server.requests[0]
        form = email.message_from_bytes(b"Content-Type: " + headers["Content-Type"].encode() + b"\r\n\r\n" + body,
                                        policy=email.policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        self.assertEqual(parts["user_data.level"].get_payload(), "e1m1")
        self.assertEqual(parts["user_data.a/../b"].get_payload(), "")
        self.assertEqual(parts["user_data.save.bin"].get_filename(), "user-data-02-save.bin")
        self.assertEqual(parts["user_data.save.bin"].get_payload(decode=True), SAVE)
        self.assertNotIn("level", parts)
        self.assertNotIn("cairn", parts)

    def fake_cairn(self, entries, files):
        """A program in place of `cairn`: user data of a report, of which it extracts these files and then fails."""
        program = self.folder / "fake-cairn"
        program.write_text("#!/usr/bin/env python3\n"
                           "import json, pathlib, sys\n"
                           "if sys.argv[2] == '--json':\n"
                           f"    sys.exit(print(json.dumps({{'user_data': {entries!r}}})))\n"
                           f"for name, content in {files!r}.items():\n"
                           "    (pathlib.Path(sys.argv[3]) / name).write_bytes(content)\n"
                           "sys.exit(1)\n")
        program.chmod(0o755)
        return str(program)

    def test_an_entry_takes_no_place_of_cairns_own(self):
        named = [REPORT.name, "cairn", "cairn_signature", "prod"]
        fake = self.fake_cairn([{"key": key, "text": None} for key in named],
                               {f"user-data-{index:02}-x": b"mine" for index in range(3)})
        self.assertEqual(self.hand_on("to-sentry", "--user-data", "--cairn", fake).returncode, 0)
        _, items = items_of(self.server.requests[0][2])
        self.assertEqual([(item["filename"], content) for item, content in items[1:]],
                         [(f"user-data-{index:02}-x", b"mine") for index in range(3)]
                         + [(REPORT.name, REPORT.read_bytes())])
        self.assertEqual(self.hand_on("to-collector", "--user-data", "--cairn", fake, "--product", "Game",
                                      f"http://{self.address}/").returncode, 0)
        body = self.server.requests[1][2]
        for part in (b'name="cairn"; filename="' + REPORT.name.encode(), b'name="prod"\r\n\r\nGame\r\n',
                     b'name="cairn_signature"\r\n\r\n' + SIGNATURE.encode(),
                     b'name="user_data.cairn"; filename="user-data-01-x"'):
            self.assertIn(part, body)

    def test_texts_of_an_event_have_a_bound(self):
        entries = [{"key": f"key {index:02}", "text": "\x01" * 4096} for index in range(64)]
        fake = self.fake_cairn(entries, {f"user-data-{index:02}-x": b"file" for index in range(64)})
        self.assertEqual(self.hand_on("to-sentry", "--user-data", "--no-file", "--cairn", fake).returncode, 0)
        _, items = items_of(self.server.requests[0][2])
        self.assertLess(len(items[0][1]), 300 << 10)
        texts = json.loads(items[0][1])["extra"]["user_data"]
        self.assertEqual(len(texts), 10)
        self.assertEqual(len(items) - 1, 54)

    def test_without_cairn_the_report_is_sent_nevertheless(self):
        for sample, arguments in (("to-sentry", []), ("to-collector", [f"http://{self.address}/"])):
            sent = self.hand_on(sample, "--user-data", "--cairn", "/nonexistent/cairn", *arguments, file=WITH_USER_DATA)
            self.assertEqual(sent.returncode, 0, sent.stderr)
            self.assertIn(f"{sample}: sent without user data: ", sent.stderr)
        self.assertIn(WITH_USER_DATA.read_bytes(), self.server.requests[0][2])

    def test_their_help_says_how_they_are_used(self):
        for sample in ("to-sentry", "to-collector"):
            said = subprocess.run([SAMPLES / sample, "--help"], text=True, capture_output=True)
            self.assertIn("cairn run --on-report", said.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
