/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of the page: a message in base64, as formats/render/page/page_message.h says, or several, one
 * after the other, where a server feeds the page. What the views read of them makes publish().
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
	functions: { name: Int32Array, shown: Int32Array, brief: Int32Array, method: Int32Array, binary: Int32Array, file: Int32Array, line: Int32Array, kind: Int32Array, same: Int32Array },
	nodes: { parent: Int32Array, func: Int32Array, flags: Uint8Array },
};

const ROOT = 0;
const KERNEL = 1, JIT = 2, BPF = 3, SYNTHETIC = 4;		/* enum frame_kind */
const LOCK = 3;							/* enum activity */
const NODE_INLINED = 1, NODE_GUESSED = 2, NODE_SYNTHETIC = 4, NODE_INTERPRETED = 8, NODE_TIERS = 248;
const IS_ALL = 1, HAS_ENDED = 2;				/* enum page_flag */

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

/* A call tree. Where it is that of one event, its nodes are in pre-order: those below node i are i + 1 .. last[i]. */
class NodeTable {
	constructor()
	{
		Object.assign(this, grownTable(TABLE_COLUMNS.nodes));
	}

	read(r)
	{
		const from = this.parent.n, { parent, func, flags } = this;

		readRows(r, { parent, func, flags });
		for (let i = from; i < parent.n; i++)
			parent.v[i] = i - parent.v[i];
	}

	nodes()
	{
		const { parent: { all: parent, n }, func: { all: func }, flags: { all: flags } } = this;

		if (n)
			parent[ROOT] = -1;
		return endNodes({ n, func, flags, parent, depth: new Int32Array(n), last: new Int32Array(n) });
	}
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

/* What messages have brought. */
class Store {
	constructor()
	{
		this.version = 0;
		this.facts = null;
		this.now = null;
		this.hasEnded = false;
		this.resets = 0;
		this.forget();
	}

	forget()
	{
		this.strings = [];
		for (const table of ["processes", "threads", "functions"])
			this[table] = grownTable(TABLE_COLUMNS[table]);
		this.quiet = new Set();		/* threads that slept all the time */
		this.trees = [];		/* 0: of all events; else of event - 1 */
		this.waits = null;
	}

	/* bytes: a message. */
	async apply(bytes)
	{
		const r = new Reader(bytes[0] ? await inflate(bytes.subarray(1)) : bytes.subarray(1));

		while (r.at < r.bytes.length)
			SECTION_READERS[r.section().text()](this, r.section());
	}

	makeTree()
	{
		return new NodeTable();
	}

	/* The first section of a message. */
	begin(flags, version)
	{
		if (flags & IS_ALL) {
			this.forget();
			this.resets++;
		}
		this.hasEnded = (flags & HAS_ENDED) !== 0;
		this.version = version;
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

	publishFacts(to)
	{
		const { facts, now } = this;

		Object.assign(to, facts, now, { now, waits: this.waits,
			events: facts.events.map((e, i) => Object.assign(to.events?.[i] ?? {}, e, now?.events[i])) });
	}

	/* pid and tid are one more than they are, so that 0 is an unknown one. */
	publishTables(to)
	{
		const p = viewOf(this.processes), t = viewOf(this.threads);

		t.flags = new Uint8Array(t.n);
		for (const thread of this.quiet)
			t.flags[thread] = THREAD_QUIET;
		to.strings = this.strings;
		to.processes = Object.assign(p, { pid: p.pid.map((v) => v - 1), life: lastOf(p.first) });
		to.threads = Object.assign(t, { tid: t.tid.map((v) => v - 1), life: lastOf(t.first) });
		to.functions = viewOf(this.functions);
	}
}

const SECTION_READERS = {
	state: (store, r) => store.begin(r.uv(), r.uv()),
	facts: (store, r) => { store.facts = JSON.parse(r.text()); },
	now: (store, r) => { store.now = JSON.parse(r.text()); },
	strings: (store, r) => store.readStrings(r),
	processes: (store, r) => readRows(r, store.processes),
	threads: (store, r) => readRows(r, store.threads),
	quiet: (store, r) => store.readQuiet(r),
	functions: (store, r) => readRows(r, store.functions),
	nodes: (store, r) => (store.trees[r.uv()] ??= store.makeTree()).read(r),
	waits: (store, r) => { store.waits = JSON.parse(r.text()); },
};

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
