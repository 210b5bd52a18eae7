/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours and names of boxes. A colour says what kind of code it is; the shade depends on the name,
 * so that neighbours differ and a function always looks the same. The kinds differ in lightness and
 * in hue, so that people who see few colours can tell them, too. The colours are those of the
 * picture (assets/flame.css): eight shades of each kind, four kinds of differences.
 */
const KINDS = [
	{ key: "user", text: "user",
	  light: "e7935b e39558 df9754 da9a51 f09b63 ed9e60 e8a05c e4a25a",
	  dark: "96494f 964a4c 954a48 944b45 9f5157 9f5153 9e5250 9d534c" },
	{ key: "inlined", text: "inlined",
	  light: "f6d97f f0db80 eadd80 e4df81 ffe288 f9e488 f3e689 ede88a",
	  dark: "7b6401 766501 716701 6c6902 846b0d 7f6d0d 7a6f0d 75710e" },
	{ key: "kernel", text: "kernel",
	  light: "5e92e3 6990e2 748ee1 7e8cdf 679bec 7299eb 7d97ea 8795e8",
	  dark: "006a9e 16699e 25689f 31679f 1672a6 2571a7 3170a7 3b6ea7" },
	{ key: "jit", text: "JIT",
	  light: "92c698 8dc79b 88c89f 84c8a3 9acfa0 96d0a4 91d1a8 8cd1ab",
	  dark: "1c430a 15430e 0d4412 024416 244a12 1e4b15 174b19 0e4c1d" },
	{ key: "bpf", text: "BPF",
	  light: "d1b6f6 d6b5f3 dbb3f0 e0b2ed dabfff dfbdfc e4bcf9 e9bbf6",
	  dark: "55236b 5b2067 5f1d63 64195f 5d2b73 63286f 68256b 6c2267" },
	{ key: "none", text: "no code",
	  light: "cbd4d9 ccd4d9 cdd4da cdd3da d2dbe0 d3dbe0 d3dae0 d4dae1",
	  dark: "343a3f 363b40 353a3f 36393f 393f44 3a3f44 3c4146 3b3f45" },
	{ key: "more", text: "more than before",
	  light: "f8cfc6 f8cfc6 f3a999 f3a999 ec8471 ec8471 e0604f e0604f",
	  dark: "5d3833 5d3833 7a3d36 7a3d36 973f37 973f37 b1443a b1443a" },
	{ key: "less", text: "less than before",
	  light: "cbddf6 cbddf6 a3c4ef a3c4ef 7aa9e6 7aa9e6 558fdd 558fdd",
	  dark: "31435c 31435c 32517b 32517b 34609a 34609a 3a6cb2 3a6cb2" },
	{ key: "same", text: "no difference beyond chance",
	  light: "d6d8dc d7d9dd d8dade d9dbdf dadce0 dbdde1 dcdee2 dddfe3",
	  dark: "40434a 41444b 42454c 43464d 44474e 45484f 464950 474a51" },
	{ key: "few", text: "not tested, or too few samples",
	  light: "e9eaec eaebed ebecee ecedef edeef0 eeeff1 eff0f2 f0f1f3",
	  dark: "292c32 2a2d33 2b2e34 2c2f35 2d3036 2e3137 2f3238 303339" },
	{ key: "interpreted", text: "interpreted",
	  light: "a38999 a1899f a28b9c a489a0 a889a0 a68b9b a68591 94889c",
	  dark: "5e6173 636070 596376 67697b 636a7d 58677b 626577 646179" },
];
const SHADES = 8;

/* By enum activity: running, ready, disk, lock, sleep, idle kernel, stopped, ended, unknown. */
const ACTIVITY_LIGHT = ["#0f8a68", "#e8a33d", "#c4431c", "#b85c98", "#b9c3d3", "#d9dde4", "#5aa9d6", "#8a8f99", "#e6e8ec"];
const ACTIVITY_DARK = ["#2fb491", "#e8a33d", "#f07a52", "#d784bd", "#475062", "#343a46", "#5aa9d6", "#8a8f99", "#2b2f38"];

const darkness = matchMedia("(prefers-color-scheme: dark)");
let dark = false;				/* set by applyTheme(): it is asked for each box */
const isDark = () => dark;

const LIGHT = { back: "#ffffff", text: "#16181d", dim: "#4a5160", line: "#d5d8de", hit: "#a8009a", hitText: "#ffffff",
	ring: "#0b3fd0", heat: [255, 255, 255, 196, 30, 30], bar: "#3767b0", warn: "#b3130f", brush: "rgba(11, 63, 208, .14)" };
const DARK = { back: "#14161b", text: "#f3f4f6", dim: "#b4bac6", line: "#3a3f4a", hit: "#ff8df4", hitText: "#16181d",
	ring: "#ffd54a", heat: [28, 31, 38, 255, 140, 90], bar: "#7fa8e8", warn: "#ff8f87", brush: "rgba(255, 213, 74, .18)" };
let paper = false;				/* while printing, which is light */
const look = () => isDark() && !paper ? DARK : LIGHT;
const activityColour = (a) => (isDark() && !paper ? ACTIVITY_DARK : ACTIVITY_LIGHT)[a] ?? "#888888";

const shades = (field) => KINDS.map((k) => k[field].split(" ").map((c) => "#" + c));
const PALETTES = { light: shades("light"), dark: shades("dark") };

function hashOf(s)
{
	let h = 0;

	for (let i = 0; i < s.length; i++)
		h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
	return (h ^ h >>> 15) >>> 0;
}

/* By enum frame_kind; 0: user code, inlined or not. */
const KIND_OF_FRAME = [0, 2, 3, 4, 5], INTERPRETED = 10;

/* The index of KINDS, of a frame's kind and the flags of its node. */
function kindIndex(kind, flags)
{
	if (flags & NODE_SYNTHETIC)
		return 5;
	if (kind === JIT && (flags & NODE_TIERS) === NODE_INTERPRETED)
		return INTERPRETED;
	return KIND_OF_FRAME[kind] || (flags & NODE_INLINED ? 1 : 0);
}

function kindOf(tree, i)
{
	const f = tree.func[i];

	return f < 0 ? 5 : kindIndex(tree.event.functions.kind[f], tree.flags[i]);
}

/* By function: a number below SHADES. */
function shadesOf(event)
{
	const { n, name } = event.functions;

	return event.shades ??= Uint8Array.from({ length: n }, (_, f) => hashOf(data.strings[name[f]]) % SHADES);
}

/* A number below KINDS.length * SHADES for each node of a tree. */
function colourIndexes(tree)
{
	const shades = shadesOf(tree.event), colours = new Uint8Array(tree.n);

	for (let i = 0; i < tree.n; i++) {
		const f = tree.func[i];

		colours[i] = kindOf(tree, i) * SHADES + (f < 0 ? hashOf(tree.name(i)) % SHADES : shades[f]);
	}
	return colours;
}

const colourAt = (index) => PALETTES[isDark() && !paper ? "dark" : "light"][index / SHADES | 0][index % SHADES];

/* ---- Labels: the longest form of a name that fits. Widths are measured, not estimated. ---- */

const FONT = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", Arial, sans-serif";
const pen = document.createElement("canvas").getContext("2d");
const advances = new Map();
pen.font = FONT;

function advance(c)
{
	let px = advances.get(c);

	if (px === undefined)
		advances.set(c, px = pen.measureText(c).width);
	return px;
}

/* The width of s, or more than room as soon as that is sure. */
function textPx(s, room)
{
	let px = 0;

	for (const c of s) {
		px += advance(c);
		if (px > room)
			break;
	}
	return px;
}

function cutEnd(s, room)
{
	let out = "";

	if (textPx(s, room) <= room)
		return s;
	room -= advance("\u2026");
	for (const c of s) {
		room -= advance(c);
		if (room < 0)
			return out && out + "\u2026";
		out += c;
	}
	return out;
}

/* As people read it, then without arguments, then the method, then as much as fits. */
function fitName(tree, i, room)
{
	if (tree.func[i] < 0)
		return cutEnd(tree.name(i), room);

	const forms = ["shown", "brief", "method"].map((form) => tree.form(i, form));

	return forms.find((s) => textPx(s, room) <= room) ?? cutEnd(forms.at(-1), room);
}
