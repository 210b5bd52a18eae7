/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of the page: base64 of deflated sections, as formats/render/page/page_data.h says. Nodes are
 * in pre-order: those below node i are i + 1 .. last[i].
 */
class Reader {
	constructor(bytes)
	{
		this.bytes = bytes;
		this.at = 0;
	}

	/* Numbers beyond 2^53 lose their last digits. */
	uv()
	{
		const bytes = this.bytes;
		let v = bytes[this.at++], scale = 128;

		if (v < 128)
			return v;
		v &= 127;
		for (;; scale *= 128) {
			const b = bytes[this.at++];

			v += (b & 127) * scale;
			if (b < 128)
				return v;
		}
	}

	sv()
	{
		const v = this.uv();

		return v % 2 ? -(v + 1) / 2 : v / 2;
	}

	column(n, type = Int32Array, minus = 0)
	{
		const v = new type(n);

		for (let i = 0; i < n; i++)
			v[i] = this.uv() - minus;
		return v;
	}

	section()
	{
		const len = this.uv(), from = this.at;

		this.at += len;
		return new Reader(this.bytes.subarray(from, this.at));
	}

	text()
	{
		return new TextDecoder().decode(this.bytes);
	}
}

const ROOT = 0;
const KERNEL = 1, JIT = 2, BPF = 3, SYNTHETIC = 4;		/* enum frame_kind */
const LOCK = 3;							/* enum activity */
const NODE_INLINED = 1, NODE_GUESSED = 2, NODE_SYNTHETIC = 4, NODE_INTERPRETED = 8, NODE_TIERS = 248;

function bytesOf(base64)
{
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);

	const text = atob(base64), bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function inflate(bytes)
{
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readFunctions(r)
{
	const n = r.uv(), f = { n };

	for (const field of ["name", "brief", "binary", "file", "line", "kind", "same"])
		f[field] = r.column(n);
	return f;
}

function readNodes(r)
{
	const n = r.uv(), codes = r.column(n);
	const t = { n, func: r.column(n), flags: r.column(n, Uint8Array), depth: new Int32Array(n),
		parent: new Int32Array(n), last: new Int32Array(n) };
	const open = [-1];

	t.parent[ROOT] = -1;
	open[0] = ROOT;
	for (let i = 1, depth = 0; i < n; i++) {
		depth += 1 - codes[i];
		t.parent[i] = open[depth - 1];
		open[depth] = i;
	}
	return endNodes(t);
}

/* Depths and the ends of subtrees, of nodes in pre-order with parents. */
function endNodes(t)
{
	for (let i = 1; i < t.n; i++)
		t.depth[i] = t.depth[t.parent[i]] + 1;
	for (let i = t.n - 1; i >= 0; i--) {
		t.last[i] = Math.max(t.last[i], i);
		if (i)
			t.last[t.parent[i]] = Math.max(t.last[t.parent[i]], t.last[i]);
	}
	return t;
}

/* Ticks are added up by thread, and become times in ns since the beginning. */
function readTimes(r, s, tick)
{
	s.time = new Float64Array(s.n);
	s.thread = new Int32Array(s.n);
	for (let run = 0, i = 0; run < s.runs.length; run++)
		for (let at = 0, end = i + s.lengths[run]; i < end; i++) {
			at += r.uv();
			s.time[i] = at * tick;
			s.thread[i] = s.runs[run];
		}
}

function readScans(r, s)
{
	s.scan = new Int32Array(s.n);
	for (let i = 0, scan = 0; i < s.n; i++)
		s.scan[i] = scan += r.sv();
}

function readSamples(r, event)
{
	const s = { n: r.uv() }, runs = r.uv();

	s.runs = r.column(runs);
	s.lengths = r.column(runs);
	readTimes(r, s, event.tick_ns);
	s.node = r.column(s.n);
	s.cpu = r.column(s.n, Int32Array, 1);
	s.activity = r.column(s.n, Uint8Array);
	s.count = r.column(s.n, Float64Array);
	readScans(r, s);
	s.weight = r.column(s.n, Float64Array);
	for (let i = 0; i < s.n; i++)
		s.weight[i] = s.weight[i] ? s.weight[i] - 1 : event.usual * s.count[i];
	return s;
}

function readStrip(r, rows)
{
	const sums = [];

	while (r.at < r.bytes.length)
		sums.push(r.uv());
	return { n: sums.length / rows, sums: Float64Array.from(sums) };
}

function readProcesses(r)
{
	const n = r.uv();

	return { n, pid: r.column(n, Float64Array, 1), name: r.column(n), program: r.column(n), cgroup: r.column(n), uid: r.column(n, Float64Array),
		life: r.column(n) };
}

function readThreads(r)
{
	const n = r.uv();

	return { n, tid: r.column(n, Float64Array, 1), name: r.column(n), process: r.column(n),
		flags: r.column(n, Uint8Array), life: r.column(n) };
}

/* The head, with .strings, .processes, .threads, .waits; and .functions ... of each event. */
async function readData()
{
	const element = document.getElementById("data");
	const r = new Reader(await inflate(bytesOf(element.textContent)));
	const data = JSON.parse(r.section().text());

	element.remove();
	data.strings = r.section().text().split("\n");
	data.processes = readProcesses(r.section());
	data.threads = readThreads(r.section());
	for (const event of data.events) {
		event.functions = readFunctions(r.section());
		event.nodes = readNodes(r.section());
		event.samples = readSamples(r.section(), event);
		event.strip = readStrip(r.section(), data.activities.length);
	}
	const waits = r.section().text();

	data.waits = waits ? JSON.parse(waits) : null;
	if (data.delta)
		data.events[0].delta = readDelta(r.section(), data.events[0].nodes);
	return data;
}
