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

/* A typed array that grows. */
class Grown {
	constructor(type)
	{
		this.v = new type(256);
		this.n = 0;
	}

	reserve(n)
	{
		if (n <= this.v.length)
			return;
		const grown = new this.v.constructor(Math.max(n, 2 * this.v.length));

		grown.set(this.v.subarray(0, this.n));
		this.v = grown;
	}

	push(x)
	{
		if (this.n === this.v.length)
			this.reserve(this.n + 1);
		this.v[this.n++] = x;
	}

	/* A column of a message: rows from .. from + n. */
	read(r, from, n)
	{
		this.reserve(from + n);
		for (let i = 0; i < n; i++)
			this.v[from + i] = r.uv();
		this.n = from + n;
	}

	get all() { return this.v.subarray(0, this.n); }
}

/* The columns of tables, as formats/render/page/page_tables.h says. */
const TABLE_COLUMNS = {
	processes: { pid: Float64Array, name: Int32Array, program: Int32Array, cgroup: Int32Array, uid: Float64Array, first: Int32Array },
	threads: { tid: Float64Array, name: Int32Array, process: Int32Array, first: Int32Array },
	functions: { name: Int32Array, brief: Int32Array, binary: Int32Array, file: Int32Array, line: Int32Array, kind: Int32Array, same: Int32Array },
};

const grownTable = (types) => Object.fromEntries(Object.entries(types).map(([k, type]) => [k, new Grown(type)]));
/* What the views read of one: n, and its columns. */
const viewOf = (table) => Object.fromEntries([["n", Object.values(table)[0].n], ...Object.entries(table).map(([k, column]) => [k, column.all])]);

function readRows(r, table)
{
	const from = r.uv(), n = r.uv();

	for (const column of Object.values(table))
		column.read(r, from, n);
}

/* Of rows that know the first of their life, the last ones. */
function lastOf(first)
{
	const last = new Int32Array(first.length);

	for (let i = 0; i < first.length; i++)
		last[first[i]] = i;
	return first.map((f) => last[f]);
}

/* Strings, processes and threads; quiet: threads that slept all the time. */
class Tables {
	constructor()
	{
		this.strings = [];
		this.processes = grownTable(TABLE_COLUMNS.processes);
		this.threads = grownTable(TABLE_COLUMNS.threads);
		this.quiet = new Set();
	}

	read(r)
	{
		this.readStrings(r.section());
		readRows(r.section(), this.processes);
		readRows(r.section(), this.threads);
		this.readQuiet(r.section());
	}

	readStrings(r)
	{
		const from = r.uv(), lines = new TextDecoder().decode(r.bytes.subarray(r.at)).split("\n");

		lines.pop();
		if (!from)
			this.strings = lines;
		for (let i = 0; from && i < lines.length; i++)
			this.strings[from + i] = lines[i];
	}

	readQuiet(r)
	{
		while (r.at < r.bytes.length) {
			const thread = r.uv();

			this.quiet[r.uv() ? "add" : "delete"](thread);
		}
	}

	/* pid and tid are one more than they are, so that 0 is an unknown one. */
	publish(to)
	{
		const p = viewOf(this.processes), t = viewOf(this.threads);

		t.flags = new Uint8Array(t.n);
		for (const thread of this.quiet)
			t.flags[thread] = THREAD_QUIET;
		to.strings = this.strings;
		to.processes = Object.assign(p, { pid: p.pid.map((v) => v - 1), life: lastOf(p.first) });
		to.threads = Object.assign(t, { tid: t.tid.map((v) => v - 1), life: lastOf(t.first) });
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
	const table = grownTable(TABLE_COLUMNS.functions);

	readRows(r, table);
	return viewOf(table);
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

/* The head, with .strings, .processes, .threads, .waits; and .functions ... of each event. */
async function readData()
{
	const element = document.getElementById("data");
	const r = new Reader(await inflate(bytesOf(element.textContent)));
	const data = JSON.parse(r.section().text()), tables = new Tables();

	element.remove();
	tables.read(r);
	tables.publish(data);
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
