// SPDX-License-Identifier: GPL-2.0-or-later
// csv_duckdb.js DIR NAME...: DuckDB reads NAME.csv.zst: types, sums; and makes Parquet of it.
"use strict";
const { DuckDBInstance } = require("@duckdb/node-api");
const fs = require("fs");

// What make_calls() of make_traces.c puts there.
async function checkCalls(ask, file)
{
	const got = await ask(`SELECT count(*) n, count(filename) f, count(connection) c,
		min(sysc_arg1::UBIGINT)::VARCHAR a1, max(sysc_arg5::UBIGINT)::VARCHAR a5, min(sysc_arg6::UBIGINT)::VARCHAR a6, min(filename) file, min(connection) socket FROM ${file}
		WHERE syscall = 'read'`);
	const want = { a1: "3", a5: "18446744073709551615", a6: "9223372036854775808", file: "/var/lib/db/wal, 1",
		socket: "tcp 127.0.0.1:5432 -> 10.0.0.7:51344 ESTABLISHED" };
	const bad = Object.keys(want).filter((k) => got[k] !== want[k]).map((k) => `${k} is ${got[k]}, not ${want[k]}`);

	if (!got.n || got.f + got.c !== got.n || !got.f || !got.c)
		bad.push(`of ${got.n} calls ${got.f} have a file and ${got.c} a connection`);
	return bad;
}

async function check(db, path)
{
	const ask = async (sql) => (await (await db.runAndReadAll(sql)).getRowObjectsJS())[0];
	const file = `read_csv('${path}.csv.zst')`;
	const total = JSON.parse(fs.readFileSync(`${path}.json`)).value;
	const rows = fs.readFileSync(`${path}.xstack`, "utf8").trimEnd().split("\n").length - 1;
	const got = await ask(`SELECT count(*) n, sum(weight)::BIGINT w, any_value(typeof(timestamp)) t,
		any_value(typeof(tid)) i FROM ${file}`);
	const bad = [];

	if (Number(got.n) !== rows)
		bad.push(`${got.n} rows, not ${rows}`);
	if (Number(got.w) !== total)
		bad.push(`${got.w} in all, not ${total}`);
	if (!got.t.startsWith("TIMESTAMP") || got.i !== "BIGINT")
		bad.push(`types ${got.t}, ${got.i}`);
	if (path.endsWith("calls"))
		bad.push(...await checkCalls(ask, file));
	await db.run(`COPY (SELECT * FROM ${file}) TO '${path}.parquet' (FORMAT parquet)`);
	const again = await ask(`SELECT sum(weight)::BIGINT w FROM '${path}.parquet'`);
	if (again.w !== got.w)
		bad.push(`${again.w} in Parquet, not ${got.w}`);
	bad.forEach((line) => console.log(`${path}: ${line}`));
	return !bad.length;
}

(async () => {
	const [dir, ...names] = process.argv.slice(2);
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	let ok = true;

	for (const name of names)
		ok = await check(db, `${dir}/${name}`) && ok;
	process.exit(ok ? 0 : 1);
})();
