// SPDX-License-Identifier: GPL-2.0-or-later
// node_deep.js DEPTH: so many frames of a recursion, the innermost of which spins. eval keeps it from being inlined.
function deep(n) {
	if (n) return deep(n - 1) + 1;
	let x = 0;
	for (;;) x = (x * 31 + 7) % 65521;
}
for (let i = 0; i < 3; i++) eval('');
deep(+process.argv[2]);
