// SPDX-License-Identifier: GPL-2.0-or-later
// What JavaScript frames look like elsewhere than in plain functions: node_odd.mjs exec|read FILE|atomics|run. The first three wait in
// a call that C++ serves; run never ends.
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const what = isMainThread ? process.argv[2] : workerData;
const spin = (n) => { let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) % 65521; return x; };
class Größe {
	get wert() { return spin(300000); }
	static σ() { return new Größe().wert; }
	#hidden() { return Größe.σ(); }
	run() { return this.#hidden(); }
}
function* generator() { for (;;) yield new Größe().run(); }
async function awaits() { await null; generator().next(); }
const evaluated = eval('(function evaluated() { return awaits(); })\n//# sourceURL=evaluated.js');
// spin: (n) => { let x = 0; do x = (x + n) * 31; while (--n); return x; }
const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 8, 1, 4, 115,
	112, 105, 110, 0, 0, 10, 30, 1, 28, 1, 1, 127, 3, 64, 32, 1, 32, 0, 106, 65, 31, 108, 33, 1, 32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 32, 1, 11]));
const wasm = new WebAssembly.Instance(module).exports.spin;
function calls_wasm() { return wasm(1000000); }
function sorts() { return [2, 1].sort(function compares(a, b) { spin(300000); return a - b; }); }
function replaces() { return 'abc'.replace(/b/, function replaced(m) { spin(300000); return m; }); }
const text = 'xy'.repeat(150);
function searches() { return /x.*y.*z/.test(text); }
const pairs = Array.from({ length: 3000 }, (_, i) => ['k' + i, i]);
function entries() { return Object.fromEntries(pairs); }
function to_json() { return JSON.stringify({ toJSON() { spin(300000); return 1; } }); }
function waits_for_process() { execFileSync('sleep', ['60']); }
function waits_for_file() { fs.readFileSync(process.argv[3]); }
function waits_for_memory() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000); }

if (what === 'exec') waits_for_process();
if (what === 'read') waits_for_file();
if (what === 'atomics') waits_for_memory();
for (let i = 0; isMainThread && what === 'run' && i < 2; i++) new Worker(new URL(import.meta.url), { workerData: 'worker' });
for (;;) {
	await new Promise((r) => setTimeout(r, 0));
	await evaluated();
	calls_wasm();
	sorts();
	replaces();
	searches();
	entries();
	to_json();
}
