#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of profiles for tests: takes OTLP, Pyroscope's push.v1 and /ingest, decodes OTLP by the official .proto files, refuses
what the real receivers refuse, and fails in the ways that it is told to.

    receiver.py DIR [--proto DIR] [--plan WORDS] [--tls CERT KEY [--client-ca FILE]] [--max-age SECONDS] [--max-body OCTETS] [--port N]

It listens on 127.0.0.1, prints its port, and ends when its standard input is closed. For each request it writes one line of JSON to
DIR/requests.ndjson, in the order in which they were answered, and the body as it came, but decompressed, to DIR/N.body.

--proto: modules that protoc --python_out has made of formats/proto (protos() of tests/push/lib.sh); without it bodies are kept, not
decoded. --plan: what to do with the first request, the second, ...; the last word is for all that follow (default: ok). The file
DIR/plan, if there is one, replaces the plan when it changes: for tests that change their mind meanwhile.

    ok               200, if the body is what the real receivers take; else 400 with the reason
    partial:N:TEXT   200 with partial_success: N profiles rejected, TEXT
    damaged          200 with a body that is no message
    large            200 with an answer of 200 KiB
    CODE             this status, with a message: google.rpc.Status for OTLP, text for others
    CODE:N           the same, with Retry-After: N seconds
    CODE:date:N      the same, with a date in N seconds
    CODE:to:URL      the same, with Location: URL
    text:CODE:TEXT   this status with a text, in which \\n and \\xNN are what they are in Python
    hang             no answer; the connection stays open until the client closes it
    slow:N           ok after N seconds
    cut              200, and the end of the connection in the middle of the answer
    reset            the connection is reset before the body is read
    drop             the connection is reset when the body was read
"""
import argparse, base64, email.utils, gzip, http.server, json, os, re, socket, ssl, struct, sys, threading, time, urllib.parse

import bodies

MAX_SAMPLES = 16000		# the limits of Pyroscope
MAX_PROFILE = 4 << 20
MAX_LABELS = 30
MAX_AHEAD = 600


class Refused(Exception):
    pass


def require(ok, why):
    if not ok:
        raise Refused(why)


# --- decoding

class Protos:
    """The modules that protoc has made; None: bodies are not decoded."""

    def __init__(self, directory):
        sys.path.insert(0, directory)
        from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2
        from google.protobuf import json_format, unknown_fields
        self.service, self.json_format, self.unknown = profiles_service_pb2, json_format, unknown_fields


def check_known(protos, message, where="request"):
    """A field that the schema lacks means another layout."""
    require(not len(protos.unknown.UnknownFieldSet(message)), "unknown field in %s" % where)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for v in value if field.label == field.LABEL_REPEATED else [value]:
                check_known(protos, v, field.name)


def attribute(dictionary, index):
    require(0 < index < len(dictionary.attribute_table), "attribute %d is not in the table" % index)
    a = dictionary.attribute_table[index]
    require(0 < a.key_strindex < len(dictionary.string_table), "the key of an attribute is not in the table")
    return dictionary.string_table[a.key_strindex], any_value(a.value)


def any_value(v):
    kind = v.WhichOneof("value")
    require(kind in ("string_value", "int_value", "bool_value", "double_value"), "a value of kind %s" % kind)
    return getattr(v, kind)


def attributes(dictionary, indices):
    pairs = [attribute(dictionary, i) for i in indices]
    require(len(dict(pairs)) == len(pairs), "an attribute that is there twice")
    return dict(pairs)


def check_dictionary(d):
    """Each table begins with its zero element, and indices stay in their tables."""
    for table in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table", "stack_table"):
        t = getattr(d, table)
        require(len(t) > 0, "%s has no zero element" % table)
        if table == "link_table":
            require(all(not any(x) for x in (t[0].trace_id, t[0].span_id)), "link_table[0] is not zero")
        else:
            require(t[0] == type(t[0])(), "%s[0] is not zero" % table)
    require(len(d.string_table) > 0 and d.string_table[0] == "", "string_table[0] is not empty")

    def inside(index, table):
        require(0 <= index < len(table), "an index of %d in a table of %d" % (index, len(table)))
    for m in d.mapping_table:
        inside(m.filename_strindex, d.string_table)
        require(m.memory_start <= m.memory_limit, "a mapping that ends before it begins")
    for f in d.function_table:
        for i in (f.name_strindex, f.system_name_strindex, f.filename_strindex):
            inside(i, d.string_table)
    for x in d.location_table:
        inside(x.mapping_index, d.mapping_table)
        for line in x.lines:
            inside(line.function_index, d.function_table)
    for s in d.stack_table:
        for i in s.location_indices:
            inside(i, d.location_table)


def frames(d, stack):
    """Names of a stack, innermost first; the outermost function of an inlined frame comes last of it."""
    out = []
    for i in d.stack_table[stack].location_indices:
        loc = d.location_table[i]
        lines = loc.lines or [None]
        for line in lines:
            if line is None:
                out.append({"address": loc.address})
                continue
            f = d.function_table[line.function_index]
            out.append({"function": d.string_table[f.name_strindex], "file": d.string_table[f.filename_strindex],
                        "line": line.line})
        m = d.mapping_table[loc.mapping_index]
        if loc.mapping_index:
            out[-1]["mapping"] = d.string_table[m.filename_strindex]
    return out


def decode_sample(d, p, s):
    require(0 < s.stack_index < len(d.stack_table), "a stack that is not in the table")
    require(0 <= s.link_index < len(d.link_table), "a link that is not in the table")
    require(s.values or s.timestamps_unix_nano, "a sample without values and times")
    require(not s.values or not s.timestamps_unix_nano or len(s.values) == len(s.timestamps_unix_nano), "values and times differ")
    require(not p.period or len(s.values) == 1 or (not s.values and s.timestamps_unix_nano), "with a period a sample has one value")
    for t in s.timestamps_unix_nano:
        require(p.time_unix_nano <= t <= p.time_unix_nano + p.duration_nano, "a time outside of its profile")
    return {"frames": frames(d, s.stack_index), "attributes": attributes(d, s.attribute_indices), "values": list(s.values),
            "times": len(s.timestamps_unix_nano)}


def type_of(d, t):
    require(0 <= t.type_strindex < len(d.string_table) and 0 <= t.unit_strindex < len(d.string_table), "a type that is not in the table")
    return "%s:%s" % (d.string_table[t.type_strindex], d.string_table[t.unit_strindex])


def check_age(args, ns):
    age = time.time() - ns / 1e9
    require(not args.max_age or age <= args.max_age, "profile is %d s old, %d are allowed" % (age, args.max_age or 0))
    require(age >= -MAX_AHEAD, "profile is of the future")


def decode_profile(args, d, p):
    require(len(p.samples) <= MAX_SAMPLES, "%d samples, %d are allowed" % (len(p.samples), MAX_SAMPLES))
    require(p.ByteSize() <= MAX_PROFILE, "profile of %d octets" % p.ByteSize())
    require(len(p.profile_id) == 16 and any(p.profile_id), "a profile without an id")
    check_age(args, p.time_unix_nano)
    keys = [(s.stack_index, tuple(sorted(s.attribute_indices)), s.link_index) for s in p.samples]
    require(len(set(keys)) == len(keys), "two samples of the same key")
    return {"id": p.profile_id.hex(), "type": type_of(d, p.sample_type), "period_type": type_of(d, p.period_type), "period": p.period,
            "time_ns": p.time_unix_nano, "duration_ns": p.duration_nano, "attributes": attributes(d, p.attribute_indices),
            "samples": [decode_sample(d, p, s) for s in p.samples]}


def decode_otlp(args, body):
    if not args.protos:
        return None
    m = args.protos.service.ExportProfilesServiceRequest()
    m.ParseFromString(body)
    check_known(args.protos, m)
    d = m.dictionary
    check_dictionary(d)
    out = []
    for rp in m.resource_profiles:
        labels = {a.key: any_value(a.value) for a in rp.resource.attributes}
        require(len(labels) <= MAX_LABELS, "%d labels" % len(labels))
        require("service.name" in labels, "a resource without service.name")
        for sp in rp.scope_profiles:
            for p in sp.profiles:
                out.append({"resource": labels, "scope": sp.scope.name, **decode_profile(args, d, p)})
    return out


def decode_pprof(args, raw):
    require(len(raw) <= MAX_PROFILE, "profile of %d octets" % len(raw))
    try:
        p = bodies.Pprof(raw).profile()
    except (bodies.Wrong, KeyError, IndexError, UnicodeDecodeError) as e:
        raise Refused("no profile of pprof: %s" % e)
    require(len(p.samples) <= MAX_SAMPLES, "%d samples" % len(p.samples))
    require(all(len(values) == len(p.types) for _, _, values in p.samples), "values and types differ in number")
    check_age(args, p.time)
    return {"types": ["%s:%s" % t for t in p.types], "period_type": "%s:%s" % p.period_type, "period": p.period,
            "time_ns": p.time, "duration_ns": p.duration,
            "samples": [{"frames": [f[0] for f in frames], "attributes": labels, "values": values}
                        for frames, labels, values in p.samples]}


def decode_push(args, body):
    out = []
    try:
        series = json.loads(body)["series"]
    except (ValueError, KeyError, TypeError) as e:
        raise Refused("no PushRequest in JSON: %s" % e)
    for s in series:
        labels = {x["name"]: x["value"] for x in s["labels"]}
        require(len(labels) == len(s["labels"]) and len(labels) <= MAX_LABELS, "labels that are there twice, or too many")
        require("__name__" in labels and "service_name" in labels, "a series without __name__ and service_name")
        for sample in s["samples"]:
            require(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", sample.get("ID", sample.get("id", "")) or
                                 "00000000-0000-0000-0000-000000000000"), "a profile whose id is no UUID")
            raw = base64.b64decode(sample["rawProfile"], validate=True)
            raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
            out.append({"labels": labels, "id": sample.get("ID", sample.get("id")), "profile": decode_pprof(args, raw)})
    return out


def decode_ingest(args, body, query, content_type):
    for name in ("name", "from", "until"):
        require(name in query, "/ingest without %s" % name)
    raw = body
    if content_type.startswith("multipart/form-data"):
        boundary = content_type.split("boundary=")[1].strip('"').encode()
        parts = [x for x in body.split(b"--" + boundary) if b'name="profile"' in x]
        require(len(parts) == 1, "no part that is named profile")
        raw = parts[0].split(b"\r\n\r\n", 1)[1][:-2]
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return {"query": query, "profile": decode_pprof(args, raw)}


# --- requests

class Plan:
    def __init__(self, args):
        self.lock, self.args, self.seen = threading.Lock(), args, None
        self.words = args.plan.split(",") if args.plan else ["ok"]
        self.nr = 0

    def next(self):
        path = os.path.join(self.args.dir, "plan")
        with self.lock:
            if os.path.exists(path):
                with open(path) as f:
                    text = f.read().strip()
                if text != self.seen:
                    self.seen, self.words = text, text.split(",")
            self.nr += 1
            return self.nr, self.words.pop(0) if len(self.words) > 1 else self.words[0]


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def read_body(self):
        if self.headers.get("Transfer-Encoding"):
            raise Refused("no Content-Length")
        length = int(self.headers["Content-Length"])
        return self.rfile.read(length)

    def decode(self, body):
        args, url = self.server.args, urllib.parse.urlsplit(self.path)
        content_type = self.headers.get("Content-Type", "")
        require(not args.max_body or len(body) <= args.max_body, "larger than %d" % (args.max_body or 0))
        if url.path.endswith("/profiles"):
            require(content_type in ("application/x-protobuf", "application/protobuf"), "Content-Type %s" % content_type)
            return "otlp", decode_otlp(args, body)
        if url.path.endswith("/push.v1.PusherService/Push"):
            require(content_type == "application/json", "Content-Type %s" % content_type)
            return "pyroscope", decode_push(args, body)
        if url.path.endswith("/ingest"):
            query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=True))
            return "ingest", decode_ingest(args, body, query, content_type)
        return None, None

    def note(self, nr, word, status, body=b"", **more):
        """Before the answer: whoever has the answer may look into the file."""
        line = {"n": nr, "plan": word, "status": status, "path": self.path, "time": time.time(),
                "headers": {k.lower(): v for k, v in self.headers.items()}, "octets": len(body), **more}
        with self.server.plan.lock:
            with open(os.path.join(self.server.args.dir, "%d.body" % nr), "wb") as f:
                f.write(body)
            with open(os.path.join(self.server.args.dir, "requests.ndjson"), "a") as f:
                f.write(json.dumps(line) + "\n")

    def answer(self, status, body=b"", content_type="application/x-protobuf", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for k, v in headers:
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(body)

    def status_message(self, text):
        """google.rpc.Status: code = 1, message = 2."""
        text = text.encode()
        require(len(text) < 128, "a longer message than this writer can write")
        return b"\x08\x03\x12" + bytes([len(text)]) + text

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def do_GET(self):
        self.answer(200, b"")

    def do_POST(self):
        nr, word = self.server.plan.next()
        kind, *rest = word.split(":")
        if kind == "reset":
            self.note(nr, word, 0)
            return self.reset()
        body = self.read_body()
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if kind == "hang":
            self.note(nr, word, 0, body)
            self.connection.settimeout(None)
            self.rfile.read(1)
            self.close_connection = True
            return None
        if kind == "drop":
            self.note(nr, word, 0, body)
            return self.reset()
        if kind == "slow":
            time.sleep(float(rest[0]))
        return self.act(nr, word, kind, rest, body)

    def act(self, nr, word, kind, rest, body):
        is_otlp = urllib.parse.urlsplit(self.path).path.endswith("/profiles")
        try:
            protocol, decoded = self.decode(body)
        except (Refused, KeyError, ValueError, IndexError) as e:
            protocol, decoded = None, None
            if kind in ("ok", "slow"):
                too_large = str(e).startswith("larger than")
                self.note(nr, word, 413 if too_large else 400, body, refused=str(e))
                return self.refuse(413 if too_large else 400, str(e)[:120], is_otlp)
        if protocol is None and kind in ("ok", "slow"):
            self.note(nr, word, 404, body)
            return self.answer(404, b"404 page not found\n", "text/plain")
        type_of_ok = "application/x-protobuf" if is_otlp else "application/json"
        if kind in ("ok", "slow"):
            self.note(nr, word, 200, body, protocol=protocol, decoded=decoded)
            return self.answer(200, b"" if is_otlp else b"{}", type_of_ok)
        if kind == "partial":
            self.note(nr, word, 200, body, protocol=protocol, decoded=decoded)
            return self.answer(200, self.partial(int(rest[0]), rest[1] if len(rest) > 1 else ""))
        if kind in ("damaged", "large"):
            self.note(nr, word, 200, body, protocol=protocol, decoded=decoded)
            return self.answer(200, b"\x0a\xff\xff\xff\xff\x7f?" if kind == "damaged" else b"x" * 200000, type_of_ok)
        if kind == "cut":
            self.note(nr, word, 200, body, protocol=protocol, decoded=decoded)
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
            return None
        if kind == "text":
            self.note(nr, word, int(rest[0]), body)
            return self.answer(int(rest[0]), unescape(":".join(rest[1:])), "text/plain")
        self.note(nr, word, int(kind), body)
        return self.refuse(int(kind), "told to say %s" % kind, is_otlp, self.more_headers(rest))

    def partial(self, rejected, text):
        """ExportProfilesServiceResponse { partial_success = 1 { rejected_profiles = 1, error_message = 2 } }"""
        def varint(n):
            out = b""
            while n > 127:
                out, n = out + bytes([n & 127 | 128]), n >> 7
            return out + bytes([n])
        inner = (b"\x08" + varint(rejected) if rejected else b"") + (b"\x12" + varint(len(text)) + text.encode() if text else b"")
        return b"\x0a" + varint(len(inner)) + inner

    def more_headers(self, rest):
        if not rest:
            return ()
        if rest[0] == "date":
            return (("Retry-After", email.utils.formatdate(time.time() + float(rest[1]), usegmt=True)),)
        if rest[0] == "to":
            return (("Location", ":".join(rest[1:])),)
        return (("Retry-After", rest[0]),)

    def refuse(self, status, why, is_otlp, headers=()):
        if is_otlp:
            return self.answer(status, self.status_message(why), headers=headers)
        return self.answer(status, why.encode() + b"\nand a second line\n", "text/plain", headers)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass		# clients that go away are what is tested


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir")
    p.add_argument("--proto")
    p.add_argument("--plan", default="ok")
    p.add_argument("--tls", nargs=2)
    p.add_argument("--client-ca")
    p.add_argument("--max-age", type=float)
    p.add_argument("--max-body", type=int)
    p.add_argument("--port", type=int, default=0)
    args = p.parse_args()
    args.protos = Protos(args.proto) if args.proto else None
    os.makedirs(args.dir, exist_ok=True)
    server = Server(("127.0.0.1", args.port), Handler)
    server.args, server.plan = args, Plan(args)
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        if args.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(args.client_ca)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
