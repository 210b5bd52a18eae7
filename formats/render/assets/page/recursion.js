/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event without recursion: functions that call each other in turn are there once, as with
 * --collapse-recursion. Of "a;b;a;b;c" the path "a;b;c" is left. Its samples are the same ones, at
 * other nodes.
 */
const LONGEST_CYCLE = 8;
const KEY_FLAGS = NODE_INLINED | NODE_SYNTHETIC;

/* Nodes as they come; those of one parent and key are one. first, next: lists of children. */
class FoldedTree {
	constructor(event)
	{
		this.functions = event.functions;
		this.ids = new Map();
		this.n = 1;
		for (const field of ["parent", "func", "key", "flags", "first", "final", "next"])
			this[field] = new Int32Array(event.nodes.n);
		this.parent[ROOT] = -1;
	}

	/* The node to which a path that ends in at goes back when key is added; ROOT: to none. */
	cycleStart(at, key)
	{
		const { parent, key: keys } = this;

		for (let len = 1, back = at; len <= LONGEST_CYCLE && back > ROOT; len++, back = parent[back]) {
			let x = at, y = parent[back], same = 1;

			if (keys[back] !== key)
				continue;
			for (; same < len && y > ROOT && keys[y] === keys[x]; same++) {
				x = parent[x];
				y = parent[y];
			}
			if (same === len)
				return back;
		}
		return ROOT;
	}

	child(up, key, func, flags)
	{
		const back = this.cycleStart(up, key), id = back || this.ids.get(up * 4 * this.functions.n + key);

		if (id !== undefined) {
			this.flags[id] &= flags;
			return id;
		}
		const i = this.n++;

		this.ids.set(up * 4 * this.functions.n + key, i);
		this.parent[i] = up;
		this.key[i] = key;
		this.func[i] = func;
		this.flags[i] = flags;
		if (this.first[up])
			this.next[this.final[up]] = i;
		else
			this.first[up] = i;
		this.final[up] = i;
		return i;
	}

	/* By node as it came: its place in pre-order. */
	places()
	{
		const places = new Int32Array(this.n);

		for (let at = ROOT, n = 0;;) {
			places[at] = n++;
			if (this.first[at]) {
				at = this.first[at];
				continue;
			}
			while (at > ROOT && !this.next[at])
				at = this.parent[at];
			if (at === ROOT)
				return places;
			at = this.next[at];
		}
	}

	nodes(places)
	{
		const n = this.n, t = { n, func: new Int32Array(n), flags: new Uint8Array(n), depth: new Int32Array(n),
			parent: new Int32Array(n), last: new Int32Array(n) };

		for (let i = 0; i < n; i++) {
			const at = places[i];

			t.func[at] = this.func[i];
			t.flags[at] = this.flags[i];
			t.parent[at] = i ? places[this.parent[i]] : -1;
		}
		return endNodes(t);
	}
}

function withoutRecursion(event)
{
	const { nodes, functions, samples } = event, tree = new FoldedTree(event), to = new Int32Array(nodes.n);

	tree.flags[ROOT] = nodes.flags[ROOT];
	for (let i = 1; i < nodes.n; i++) {
		const func = nodes.func[i], flags = nodes.flags[i], bits = flags & KEY_FLAGS;

		to[i] = tree.child(to[nodes.parent[i]], 4 * functions.same[func] + (bits & 1) + (bits & 4 ? 2 : 0), func, flags);
	}
	const places = tree.places();

	return { ...event, nodes: tree.nodes(places), samples: { ...samples, node: samples.node.map((i) => places[to[i]]) } };
}

/* The event of a number, as it is shown. */
const folded = new Map();

function eventAt(i)
{
	const event = data.events[i];

	if (!state.folded || !event || event.delta)
		return event;
	if (!folded.has(i))
		folded.set(i, withoutRecursion(event));
	return folded.get(i);
}
