/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees to draw. Their nodes are in pre-order, in arrays: func (-1: a group, whose name is in
 * labels), flags, parent, last, depth, x (left edge, in units of weight), self, total, and the
 * numbers of samples. mark tells a node from its siblings (of groups it is negative); the marks
 * from the root on are its id, by which it is found in another tree of the same kind.
 */
class Tree {
	constructor(event)
	{
		this.event = event;
		this.n = 0;
		this.cap = 0;
		this.hidden = 0;
		this.labels = new Map();
		this.reserve(64);
	}

	reserve(cap)
	{
		if (cap <= this.cap)
			return;
		this.cap = Math.max(cap, 2 * this.cap);
		for (const field in Tree.fields) {
			const grown = new Tree.fields[field](this.cap);

			if (this.n)
				grown.set(this[field].subarray(0, this.n));
			this[field] = grown;
		}
	}

	add(parent, func, flags, mark, total, totalCount, self, selfCount)
	{
		const i = this.n++;

		if (i === this.cap)
			this.reserve(2 * this.cap);
		this.parent[i] = parent;
		this.depth[i] = parent < 0 ? 0 : this.depth[parent] + 1;
		this.func[i] = func;
		this.flags[i] = flags;
		this.mark[i] = mark;
		this.total[i] = total;
		this.totalCount[i] = totalCount;
		this.self[i] = self;
		this.selfCount[i] = selfCount;
		return i;
	}

	addGroup(parent, label, mark, total, totalCount)
	{
		const i = this.add(parent, -1, NODE_SYNTHETIC, mark, total, totalCount, 0, 0);

		this.labels.set(i, label);
		return i;
	}

	/* Places the nodes; none is added afterwards. */
	end()
	{
		const { n, parent, depth, total } = this, next = new Float64Array(n), x = new Float64Array(n), last = new Int32Array(n);
		let rows = 0;

		if (this.event.delta)
			chooseWidths(this);
		for (let i = 0; i < n; i++) {
			const up = parent[i];

			next[i] = x[i] = up < 0 ? 0 : next[up];
			if (up >= 0)
				next[up] += total[i];
			rows = Math.max(rows, depth[i] + 1);
		}
		for (let i = n - 1; i >= 0; i--) {
			last[i] = Math.max(last[i], i);
			if (i)
				last[parent[i]] = Math.max(last[parent[i]], last[i]);
		}
		return Object.assign(this, { x, last, rows });
	}

	name(i)
	{
		const f = this.func[i];

		return f < 0 ? this.labels.get(i) : data.strings[this.event.functions.name[f]];
	}

	/* A form of the name, "shown", "brief" or "method": formats/render/page/page_tables.h. */
	form(i, which)
	{
		const f = this.func[i], form = f < 0 ? 0 : this.event.functions[which][f];

		return form ? data.strings[form] : this.name(i);
	}

	/* "all", or marks from below the root on: "g3.17.18". */
	id(i)
	{
		const marks = [];

		for (let a = i; a > 0; a = this.parent[a])
			marks.unshift(this.mark[a] < 0 ? "g" + (-1 - this.mark[a]) : this.mark[a]);
		return marks.join(".") || "all";
	}

	/* The node of this id, or the last one on the way to it that is there. */
	find(id)
	{
		let at = 0;

		for (const word of id === "all" ? [] : id.split(".")) {
			const mark = word.startsWith("g") ? -1 - Number(word.slice(1)) : Number(word);
			let c = at + 1;

			while (c <= this.last[at] && this.mark[c] !== mark)
				c = this.last[c] + 1;
			if (c > this.last[at])
				break;
			at = c;
		}
		return at;
	}

	widestChild(i)
	{
		let best = -1;

		for (let c = i + 1; c <= this.last[i]; c = this.last[c] + 1)
			if (best < 0 || this.total[c] > this.total[best])
				best = c;
		return best;
	}
}
Tree.fields = { parent: Int32Array, depth: Int32Array, func: Int32Array, flags: Uint8Array, mark: Float64Array,
	total: Float64Array, totalCount: Float64Array, self: Float64Array, selfCount: Float64Array };

/* What state.least, a share of the root in percent, leaves to be shown. */
const leastWeight = (tree) => tree.total[0] * state.least / 100;
const leastNote = () => state.least ? `Only boxes of at least ${state.least} % of all` : "";

/* Numbers of groups: ofThread: of all samples of a thread; of: of a sample. */
const LEVELS = {
	program: { ofThread: (t) => data.processes.program[data.threads.process[t]], name: (g) => data.strings[g] || "[kernel]" },
	process: { ofThread: (t) => data.threads.process[t], name: processLabel },
	comm: { ofThread: (t) => data.threads.name[t], name: (g) => data.strings[g] },
	thread: { ofThread: (t) => t, name: threadLabel },
	cgroup: { ofThread: (t) => data.processes.cgroup[data.threads.process[t]], name: (g) => data.strings[g] || "no control group" },
	user: { ofThread: (t) => data.processes.uid[data.threads.process[t]], name: (g) => `uid ${g}` },
	cpu: { of: (s, i) => s.cpu[i] + 1, name: (g) => cpuLabel(g - 1) },
	state: { of: (s, i) => s.activity[i], name: (g) => data.activities[g] },
};

/* What stands between the root and the functions, the outermost first. */
const GROUPINGS = {
	none: { label: "nothing", levels: [] },
	program: { label: "program", levels: ["program"] },
	process: { label: "process", levels: ["process"] },
	thread: { label: "process, thread", levels: ["process", "thread"] },
	cpu: { label: "CPU", levels: ["cpu"] },
	state: { label: "state, program", levels: ["state", "program"] },
	states: { label: "program, state", levels: ["program", "state"] },
	cgroup: { label: "control group", levels: ["cgroup"] },
	user: { label: "user", levels: ["user"] },
};

/* Adds the stretches of a part that are of one group each. */
function splitPart(event, list, part, level, parts)
{
	const s = event.samples, of = level.of ?? ((x, i) => level.ofThread(x.thread[i]));
	let last = null;

	for (let k = part.begin; k < part.end; k++) {
		const i = list[k], id = of(s, i);

		if (last?.id !== id)
			parts.push(last = { id, begin: k, end: k, weight: 0, count: 0 });
		last.end++;
		last.weight += s.weight[i];
		last.count += s.count[i];
	}
}

/* Parts of a selection's list, each of one group. A part that has a thread is of that alone. */
function partsOf(event, list, parts, level)
{
	const out = [];

	for (const part of parts)
		if (level.ofThread && part.thread !== undefined)
			out.push({ ...part, id: level.ofThread(part.thread) });
		else
			splitPart(event, list, part, level, out);
	return out;
}

/* The heaviest group first. */
function groupSamples(event, list, parts, level)
{
	const groups = new Map();

	for (const part of partsOf(event, list, parts, level)) {
		const g = groups.get(part.id);

		if (!g) {
			groups.set(part.id, { id: part.id, parts: [part], weight: part.weight, count: part.count });
			continue;
		}
		g.parts.push(part);
		g.weight += part.weight;
		g.count += part.count;
	}
	return [...groups.values()].sort((a, b) => b.weight - a.weight || a.id - b.id);
}

/* Sums the samples of a part by node, and notes which nodes are met first: touched, so many. */
function addPart(event, list, part, sums, before)
{
	const { node, weight, count } = event.samples, { parent } = event.nodes;
	const { self, selfCount, seen, touched } = sums;
	let n = before;

	for (let k = part.begin; k < part.end; k++) {
		const i = list[k], at = node[i];

		self[at] += weight[i];
		selfCount[at] += count[i];
		for (let a = at; a > ROOT && !seen[a]; a = parent[a]) {
			seen[a] = 1;
			touched[n++] = a;
		}
	}
	return n;
}

/* Of many nodes it is faster to look for them than to sort them. */
function inOrder(order, seen)
{
	if (order.length < seen.length / 16)
		return order.sort();
	for (let i = 0, k = 0; k < order.length; i++)
		if (seen[i])
			order[k++] = i;
	return order;
}

/* Adds the stacks of some parts below a node of the tree. sums: all zero before and after. */
function addStacks(tree, top, list, parts, sums)
{
	const { parent } = tree.event.nodes, { self, selfCount, total, totalCount, seen, touched } = sums;
	let n = 0;

	for (const part of parts)
		n = addPart(tree.event, list, part, sums, n);
	const order = inOrder(touched.subarray(0, n), seen);

	for (let k = n - 1; k >= 0; k--) {
		const a = order[k], up = parent[a];

		total[a] += self[a];
		totalCount[a] += selfCount[a];
		total[up] += total[a];
		totalCount[up] += totalCount[a];
	}
	tree.self[top] += self[ROOT];
	tree.selfCount[top] += selfCount[ROOT];
	emitStacks(tree, top, order, sums);
}

function emitStacks(tree, top, order, sums)
{
	const { parent, func, flags, mark } = tree.event.nodes, { place, seen, self, selfCount, total, totalCount } = sums;

	place[ROOT] = top;
	tree.reserve(tree.n + order.length);
	self[ROOT] = selfCount[ROOT] = total[ROOT] = totalCount[ROOT] = 0;
	for (let k = 0; k < order.length; k++) {
		const a = order[k];

		place[a] = tree.add(place[parent[a]], func[a], flags[a], mark ? mark[a] : a, total[a], totalCount[a], self[a], selfCount[a]);
		self[a] = selfCount[a] = total[a] = totalCount[a] = seen[a] = 0;
	}
}

function addLevels(tree, top, list, parts, levels, sums)
{
	if (!levels.length)
		return addStacks(tree, top, list, parts, sums);
	const level = LEVELS[levels[0]];

	for (const g of groupSamples(tree.event, list, parts, level))
		addLevels(tree, tree.addGroup(top, level.name(g.id), -1 - g.id, g.weight, g.count), list, g.parts,
			levels.slice(1), sums);
}

function callTree(event, selection, grouping)
{
	const tree = new Tree(event), n = event.nodes.n;
	const sums = { seen: new Uint8Array(n), place: new Int32Array(n), touched: new Int32Array(n), self: new Float64Array(n),
		selfCount: new Float64Array(n), total: new Float64Array(n), totalCount: new Float64Array(n) };

	tree.addGroup(-1, "all", 0, selection.weight, selection.count);
	addLevels(tree, 0, selection.list, selection.runs, grouping.levels, sums);
	return tree.end();
}

/*
 * A tree in which nodes of one function under one parent are merged: of callers (each step goes up)
 * or of callees (each step goes down). seeds: { nodes, weights, counts } for each root. What is
 * narrower than any screen shows is left out and counted: there would be no end of it.
 */
const NARROWEST = 1 / 8000;

/* Where two recordings are compared, counts are the weights before. */
const sizeOfSums = (event, weight, count) => event.delta ? weight + count : weight;

function mergeByFunction(event, seed, step)
{
	const { functions, nodes } = event, groups = new Map();

	step(seed, (node, weight, count, origin = node) => {
		const func = functions.same[nodes.func[node]];
		let g = groups.get(func);

		if (!g)
			groups.set(func, g = { func, nodes: [], weights: [], counts: [], origins: event.delta && [], weight: 0, count: 0, flags: 255 });
		g.nodes.push(node);
		g.origins?.push(origin);
		g.weights.push(weight);
		g.counts.push(count);
		g.weight += weight;
		g.count += count;
		g.flags &= nodes.flags[node];
	});
	return [...groups.values()].sort((a, b) => sizeOfSums(event, a.weight, a.count) - sizeOfSums(event, b.weight, b.count) || b.func - a.func);
}

function growTree(tree, top, seed, step)
{
	const event = tree.event, least = sizeOfSums(event, tree.total[0], tree.totalCount[0]) * NARROWEST;
	const pending = mergeByFunction(event, seed, step).map((g) => ({ g, parent: top }));

	while (pending.length) {
		const { g, parent } = pending.pop();

		const size = sizeOfSums(event, g.weight, g.count);

		if (size < least || size === 0 && least === 0 && !g.count) {
			tree.hidden++;
			continue;
		}
		const i = tree.add(parent, g.func, g.flags, g.func, g.weight, g.count, 0, 0);
		const next = mergeByFunction(event, g, step);
		const rest = next.reduce((sum, c) => sum - c.weight, g.weight);

		tree.self[i] = Math.max(0, rest);
		if (event.delta) {
			tree.selfCount[i] = Math.max(0, next.reduce((sum, c) => sum - c.count, g.count));
			tree.nodeOf[i] = g.origins.length === 1 ? g.origins[0] : -1;
		}
		for (const c of next)
			pending.push({ g: c, parent: i });
	}
}

function stepUp(event)
{
	const { parent } = event.nodes;

	return (seed, give) => seed.nodes.forEach((node, k) =>
		parent[node] > ROOT && give(parent[node], seed.weights[k], seed.counts[k], (seed.origins ?? seed.nodes)[k]));
}

function stepDown(event, sums)
{
	const { last } = event.nodes;

	return (seed, give) => {
		for (const node of seed.nodes)
			for (let c = node + 1; c <= last[node]; c = last[c] + 1)
				if (sums.totalCount[c] || sums.total[c])
					give(c, sums.total[c], sums.totalCount[c]);
	};
}

/* Upside down: the functions by their own weight, and above each its callers. */
function invertedTree(event, selection, sums)
{
	const tree = new Tree(event), all = { nodes: [], weights: [], counts: [] };
	const up = stepUp(event);

	tree.addGroup(-1, "all", 0, selection.weight, selection.count);
	tree.nodeOf = [ROOT];
	for (let i = 1; i < event.nodes.n; i++)
		if (sums.selfCount[i] || sums.self[i]) {
			all.nodes.push(i);
			all.weights.push(sums.self[i]);
			all.counts.push(sums.selfCount[i]);
		}
	growTree(tree, 0, all, (seed, give) => seed === all ?
		all.nodes.forEach((node, k) => give(node, all.weights[k], all.counts[k])) : up(seed, give));
	return tree.end();
}

/* The nodes of a function that are not below another node of it. */
function outermost(event, func, sums)
{
	const { nodes, functions } = event, seed = { nodes: [], weights: [], counts: [] };

	for (let i = 1; i < nodes.n; i++) {
		if (functions.same[nodes.func[i]] !== func || !(sums.totalCount[i] || sums.total[i]))
			continue;
		seed.nodes.push(i);
		seed.weights.push(sums.total[i]);
		seed.counts.push(sums.totalCount[i]);
		i = nodes.last[i];
	}
	return seed;
}

function treeAround(event, func, sums, step)
{
	const tree = new Tree(event), seed = outermost(event, func, sums);
	const sum = (v) => v.reduce((a, b) => a + b, 0);

	tree.add(-1, func, 0, func, sum(seed.weights), sum(seed.counts), 0, 0);
	tree.nodeOf = [seed.nodes.length === 1 ? seed.nodes[0] : -1];
	growTree(tree, 0, seed, step);
	return tree.end();
}

const callersTree = (event, func, sums) => treeAround(event, func, sums, stepUp(event));
const calleesTree = (event, func, sums) => treeAround(event, func, sums, stepDown(event, sums));
