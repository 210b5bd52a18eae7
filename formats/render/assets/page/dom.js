/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elements and canvases. Foreign names are only ever set as text. */
function make(name, attrs = {}, ...kids)
{
	const e = document.createElement(name);

	for (const k in attrs)
		if (k.startsWith("on"))
			e.addEventListener(k.slice(2), attrs[k]);
		else if (attrs[k] !== null && attrs[k] !== false)
			e.setAttribute(k, attrs[k] === true ? "" : attrs[k]);
	e.append(...kids);
	return e;
}

const byId = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function button(text, hint, action, attrs = {})
{
	return make("button", { type: "button", title: hint, onclick: action, ...attrs }, text);
}

/* A canvas of this size in CSS pixels, sharp on any screen. Returns its context, cleared. */
function prepare(canvas, width, height)
{
	const scale = paper ? 2 : devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));
	const c = canvas.getContext("2d");

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	c.setTransform(scale, 0, 0, scale, 0, 0);
	c.fillStyle = look().back;
	c.fillRect(0, 0, width, height);
	c.font = FONT;
	c.textBaseline = "middle";
	return c;
}

/* Several calls before the next frame make one. */
function onceAFrame(draw)
{
	let asked = false;

	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			draw();
		});
	};
}

/* What a screen reader says, and what stands in the line at the bottom. */
function announce(text)
{
	byId("said").textContent = text;
}

function showDetails(name, rest)
{
	byId("foot").replaceChildren(make("b", {}, name), rest);
}
