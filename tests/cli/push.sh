#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push src/commands/cmd_push.c
# light: yes
# probee push: what reaches a receiver, and what happens when it is slow, away, full, or refuses. What is in the bodies
# tests/push looks at.
# timeout: 300
. tests/cli/lib.sh
. tests/push/lib.sh
need_library
command -v python3 >/dev/null || skip "no python3 for a receiver"
unset "${!OTEL_EXPORTER_OTLP_@}" http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
trace=$TMP/fixture.pbz
make_fixture "$trace"
protos || echo 'bodies are not decoded here: no protoc'

push() { run timeout 60 "$PROBEE" push "$trace" --to "http://127.0.0.1:$port" "$@"; }
is() { [ "$2" = "$3" ] || wrong "$1 is $2, not $3"; }

# --- mistakes

run probee push; exits 2; says 'push needs a trace'
run probee push "$trace"; exits 2; says 'where to? Try: --to http://127.0.0.1:4318'
run probee push "$trace" --to host:1; exits 2; says 'is no address of a receiver'
run probee push "$trace" --to http://u:geheim@h; exits 2; says '--basic-file'; grep -q geheim "$TMP/stderr" && wrong 'shows a password'
run probee push none.pbz --to http://127.0.0.1:1; exits 1; one_line; says 'No such file'
run probee push "$trace" --to http://h --label __x=1; exits 2; says '--label __x=1'
run probee push "$trace" --to http://h --threads all; exits 2; says '--threads all: id, name or none is wanted'
run probee push "$trace" "$trace" --to http://h --progress "$TMP/p"; exits 2; says 'of one trace'
run probee push "$trace" --to http://h --header Authorization=geheim; exits 2; says '--bearer-file'
echo 'no trace' >"$TMP/text.pbz"
run probee push "$TMP/text.pbz" --to http://127.0.0.1:1 --give-up 1s; exits 1; says 'is text, not a probee trace'

# What is damaged is sent as far as it can be read, and said.
receiver damaged
head -c $(($(stat -c %s "$trace") - 60)) "$trace" >"$TMP/cut.pbz"
run timeout 60 "$PROBEE" push "$TMP/cut.pbz" --to "http://127.0.0.1:$port" --rebase-time; says "$TMP/cut.pbz: "
exits 0; says 'the file was cut short'
: >"$TMP/empty.pbz"
run timeout 60 "$PROBEE" push "$TMP/empty.pbz" --to "http://127.0.0.1:$port"; exits 1; one_line; says 'empty.pbz is empty'
receiver_end

# --- success, by each protocol; all that a dry run counts comes

# Without --rebase-time: windows begin at multiples of their length, so how many profiles a trace is depends on where it is moved to.
for protocol in otlp pyroscope ingest; do
	run probee push "$trace" --protocol $protocol --dry-run; exits 0; silent
	bodies=$(grep -c '^body ' "$TMP/stdout")
	what=$(sed -n 's/^nothing was sent; what would be \(delivered [^,]*, [^,]*\),.*/\1/p' "$TMP/stdout")
	[ "$bodies" -ge 1 ] && [ "$what" ] || wrong 'shows no body'
	receiver $protocol
	push --protocol $protocol; exits 0; says "$what"
	is 'the number of requests' "$(answered 200)" "$bodies"
	is 'the protocol' "$(told 'r["protocol"]' | sort -u)" $protocol
	receiver_end
done
run probee push "$trace" --to "http://127.0.0.1:$port" -n --label team=blue --service shop; exits 0
prints "to http://127.0.0.1:$port/v1development/profiles"; prints 'label: team=blue'; prints 'service: shop'
prints 'OTLP profiles v1.10'

receiver usual
is 'what a dry run sends' "$(answered)" 0
push --rebase-time; exits 0; one_line
bodies=$(answered)
push -q --rebase-time; exits 0; silent
push -v --rebase-time; exits 0; says 'OTLP profiles v1.10, to http://127.0.0.1'
push --rebase-time --tenant t1 --header X-A=b; exits 0
is 'the tenant' "$(told 'r["headers"].get("x-scope-orgid")' | tail -n 1)" t1
is 'the header' "$(told 'r["headers"].get("x-a")' | tail -n 1)" b
printf 'geheim\n' >"$TMP/token"; chmod 644 "$TMP/token"
push --rebase-time --bearer-file "$TMP/token"; exits 1; one_line; says 'chmod 600'
chmod 600 "$TMP/token"
push --rebase-time --bearer-file "$TMP/token"; exits 0
is 'the token' "$(told 'r["headers"].get("authorization")' | tail -n 1)" 'Bearer geheim'
printf 'user:geheim\n' >"$TMP/token"
push --rebase-time --basic-file "$TMP/token"; exits 0
is 'the password' "$(told 'r["headers"].get("authorization")' | tail -n 1)" "Basic $(printf user:geheim | base64)"
printf 'X-Secret: s1\n' >"$TMP/token"
push --rebase-time --header-file "$TMP/token"; exits 0
is 'the secret header' "$(told 'r["headers"].get("x-secret")' | tail -n 1)" s1
run timeout 60 "$PROBEE" push "$trace" "$trace" --to "http://localhost:$port" --rebase-time; exits 0
says "delivered $((2 * bodies)) bod"
run timeout 60 "$PROBEE" push - --to "http://127.0.0.1:$port" --rebase-time <"$trace"; exits 0; says "delivered $bodies bod"
run sh -c 'cat "$1" | timeout 60 "$PROBEE" push - --to "http://127.0.0.1:$2" --rebase-time' - "$trace" "$port"
exits 0; says "delivered $bodies bod"
receiver_end

# --- the environment of OTLP

receiver environment
otel() { run env "$@" timeout 60 "$PROBEE" push "$trace" --rebase-time; }
otel OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$port/base/"; exits 0
is 'the path' "$(told 'r["path"]' | tail -n 1)" /base/v1development/profiles
otel OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT="http://127.0.0.1:$port/as/it/is/profiles"
exits 0; is 'the path' "$(told 'r["path"]' | tail -n 1)" /as/it/is/profiles
otel OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$port" OTEL_EXPORTER_OTLP_HEADERS='api-key=a%20b,x-two=2'; exits 0
is 'the header' "$(told '"%s %s" % (r["headers"].get("api-key"), r["headers"].get("x-two"))' | tail -n 1)" 'a b 2'
otel OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$port" OTEL_EXPORTER_OTLP_COMPRESSION=none; exits 0
is 'the encoding' "$(told 'r["headers"].get("content-encoding")' | tail -n 1)" None
otel OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$port"; exits 0
is 'the encoding' "$(told 'r["headers"].get("content-encoding")' | tail -n 1)" gzip
otel OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 OTEL_EXPORTER_OTLP_PROTOCOL=grpc; exits 2; says http/protobuf
plan hang
otel OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$port" OTEL_EXPORTER_OTLP_TIMEOUT=400 timeout 20 true; exits 0
run env OTEL_EXPORTER_OTLP_TIMEOUT=400 timeout 60 "$PROBEE" push "$trace" --to "http://127.0.0.1:$port" --give-up 300ms
exits 75; says 'timed out'
receiver_end

# --- a receiver that is away, busy or slow: tried again

gap() { told 'r["time"]' | awk 'NR > 1 && $1 - last > most { most = $1 - last } { last = $1 } END { exit !(most >= '"$1"') }'; }
receiver again --plan 429:2,ok
push --rebase-time; exits 0; says 'it answers 429'; says 'is there again'; says "1 of $((bodies + 1)) requests failed"
gap 2 || wrong 'does not wait as long as Retry-After says'
receiver_end
receiver again --plan 503:date:3,ok
push --rebase-time; exits 0; gap 2 || wrong 'does not wait for the date of Retry-After'
receiver_end
for word in 502 503 504 reset drop; do
	receiver again --plan $word,ok
	push --rebase-time; exits 0
	is "of two requests ($word)" "$(answered 200)" "$bodies"
	receiver_end
done
receiver again --plan hang,ok
push --rebase-time --timeout 500ms; exits 0; says 'timed out'
receiver_end
receiver again --plan slow:1
push --rebase-time --timeout 20s; exits 0; one_line
receiver_end
receiver again --plan 503:3600
push --rebase-time --give-up 10s; exits 75; says 'not all is delivered: it answers 503'
is 'the number of requests' "$(answered)" 1
receiver_end
push --rebase-time --give-up 2s; exits 75; says "not all is delivered: "
# It comes while it is being waited for.
old=$port
(sleep 1; exec "$receiver_python" tests/push/receiver.py "$TMP/late" --port "$old" >"$TMP/late.port" 2>&1 < <(sleep 40)) &
late=$!
push --rebase-time --give-up 30s; exits 0; says 'is there again'
kill $late

# --- what is not sent again

receiver partial --plan partial:2:old
push --rebase-time; exits 1; says 'taken in part, it answers 200: old'; says 'only in part'; says 'the receiver refused a part'
is 'the number of requests' "$(answered)" "$bodies"
plan partial:0:careful
push --rebase-time; exits 0; says 'taken, it answers 200: careful'
plan damaged
push --rebase-time; exits 0; says 'the answer is damaged'
plan large
push --rebase-time; exits 1; says 'an answer of more than 64 KiB'
plan cut
push --rebase-time; exits 0
plan 400
push --rebase-time; exits 1; says 'refused, it answers 400: told to say 400'; says "refused $bodies bod"
plan 413
push --rebase-time; exits 1; says '--body-size'
plan 500
push --rebase-time; exits 1; says 'it answers 500'
plan 'text:400:one\x1b[31m\r\nand two'
push --rebase-time; exits 1; says 'it answers 400: one\x1b[31m'
grep -q 'and two' "$TMP/stderr" && wrong 'says more than the first line'
grep -q $'\e' "$TMP/stderr" && wrong 'passes on an escape sequence'
for word in 401 403 404 405; do
	before=$(answered)
	plan $word
	push --rebase-time; exits 1; says "takes nothing: it answers $word"
	is "the number of requests ($word)" "$(($(answered) - before))" 1
done
plan "307:to:http://127.0.0.1:$port/other"
push --rebase-time; exits 1; says 'which is not followed'
told 'r["path"]' | grep -q other && wrong 'follows a redirection'
receiver_end

# The recording is of September 2026.
if [ "$(date +%s)" -gt 1790010000 ]; then
	receiver old --max-age 3600
	push; exits 1; says 'It is old. Try: --rebase-time'
	push --rebase-time; exits 0
	receiver_end
fi

# --- too large for the receiver: sent in parts, and all of it comes once

# sums: what each stack of each process has in all that was taken, sorted; and that no profile has the id of another, nor its
# labels and times, by which Pyroscope would take them for one.
sums() {
	python3 -c '
import collections, json, sys
total, ids, times = collections.Counter(), collections.Counter(), collections.Counter()
for r in map(json.loads, open(sys.argv[1])):
    for p in r.get("decoded") or [] if r["status"] == 200 else []:
        ids[p["id"]] += 1
        times[json.dumps([p["resource"], p["type"], p["time_ns"]], sort_keys=True)] += 1
        for s in p["samples"]:
            total[json.dumps([p["resource"], p["type"], s["frames"], s["attributes"]], sort_keys=True)] += sum(s["values"])
print("%d profiles have the id of another, %d its times" % (sum(n > 1 for n in ids.values()), sum(n > 1 for n in times.values())))
for k, n in sorted(total.items()):
    print(n, k)' "$dir/requests.ndjson"
}
if [ -d "$TMP/proto" ] && run build_with_library "$TMP/make_sim" tests/cli/make_sim.c -lcmocka && [ "$rc" = 0 ]; then
	for seed in $(seq 12); do "$TMP/make_sim" "$TMP/sim$seed.pbz" "$seed" 3000 0 time ns "sim$seed"; done
	cat "$TMP"/sim[0-9]*.pbz >"$TMP/sims.pbz"
	receiver whole
	run timeout 60 "$PROBEE" push "$TMP/sims.pbz" --window 100ms --to "http://127.0.0.1:$port"; exits 0
	[ "$(answered 200)" -ge 2 ] || wrong 'is one body'
	sums >"$TMP/whole.sums"
	receiver_end
	receiver parts --max-body 5000	# bodies below 4 KiB are not halved any more
	run timeout 60 "$PROBEE" push "$TMP/sims.pbz" --window 100ms --to "http://127.0.0.1:$port" -v; exits 0; says 'they are sent in parts'
	[ "$(answered 413)" -ge 1 ] && [ "$(answered 200)" -ge 4 ] || wrong "$(answered 413) bodies are too large, $(answered 200) are not"
	sums >"$TMP/parts.sums"
	receiver_end
	[ "$(wc -l <"$TMP/whole.sums")" -gt 100 ] || wrong 'the trace has few stacks'
	grep -q '^0 profiles .*, 0 its times' "$TMP/parts.sums" || wrong "$(head -n 1 "$TMP/parts.sums")"
	diff "$TMP/whole.sums" "$TMP/parts.sums" >"$TMP/diff" || wrong "in parts it is another: $(head -n 3 "$TMP/diff")"
fi

# --- TLS

if command -v openssl >/dev/null; then
	(cd "$TMP" && for ca in ca other; do
		openssl req -x509 -newkey rsa:2048 -nodes -keyout $ca.key -out $ca.crt -subj "/CN=$ca" -days 30
	done
	for name in localhost elsewhere client; do
		openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj "/CN=$name"
		echo "subjectAltName=DNS:$name" >$name.ext
		openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile $name.ext -out $name.crt
	done) >"$TMP/openssl" 2>&1
	tls() { run timeout 60 "$PROBEE" push "$trace" --to "https://localhost:$port" --rebase-time --give-up 20s "$@"; }
	receiver tls --tls "$TMP/localhost.crt" "$TMP/localhost.key"
	tls; exits 1; says 'takes nothing'; says certificate
	tls --ca-file "$TMP/other.crt"; exits 1; says certificate
	is 'the number of requests' "$(answered)" 0
	tls --ca-file "$TMP/ca.crt"; exits 0
	run env OTEL_EXPORTER_OTLP_CERTIFICATE="$TMP/ca.crt" OTEL_EXPORTER_OTLP_ENDPOINT="https://localhost:$port" \
		timeout 60 "$PROBEE" push "$trace" --rebase-time; exits 0
	receiver_end
	receiver tls --tls "$TMP/elsewhere.crt" "$TMP/elsewhere.key"
	tls --ca-file "$TMP/ca.crt"; exits 1; says 'takes nothing'
	is 'the number of requests' "$(answered)" 0
	receiver_end
	receiver tls --tls "$TMP/localhost.crt" "$TMP/localhost.key" --client-ca "$TMP/ca.crt"
	tls --ca-file "$TMP/ca.crt" --give-up 1s; [ "$rc" != 0 ] || wrong 'gets in without a certificate'
	tls --ca-file "$TMP/ca.crt" --cert-file "$TMP/client.crt" --key-file "$TMP/client.key"; exits 0
	run env OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="$TMP/client.crt" OTEL_EXPORTER_OTLP_CLIENT_KEY="$TMP/client.key" \
		OTEL_EXPORTER_OTLP_CERTIFICATE="$TMP/ca.crt" timeout 60 "$PROBEE" push "$trace" --to "https://localhost:$port" --rebase-time
	exits 0
	receiver_end
fi

# --- a proxy

receiver proxy
run env http_proxy="http://127.0.0.1:$port" timeout 60 "$PROBEE" push "$trace" --to http://receiver.example:4318 --rebase-time; exits 0
is 'the address' "$(told 'r["path"]' | tail -n 1)" http://receiver.example:4318/v1development/profiles
run env http_proxy=http://127.0.0.1:1 no_proxy=127.0.0.1 timeout 60 "$PROBEE" push "$trace" --to "http://127.0.0.1:$port" --rebase-time
exits 0
receiver_end

# --- a sender that is killed goes on where it was

receiver killed --plan ok,hang
"$PROBEE" push "$trace" --protocol ingest --to "http://127.0.0.1:$port" --rebase-time --progress "$TMP/progress" 2>"$TMP/killed.err" &
sender=$!
wait_for 2 || wrong 'sends no second body'
if [ "$(id -u)" = 0 ]; then
	grep -q '^CapEff:[[:space:]]*0000000000000000' /proc/$sender/status || wrong 'the sender holds capabilities'
	grep -q '^Uid:[[:space:]]*0' /proc/$sender/status && wrong 'the sender is root'
	grep -q '^Seccomp:[[:space:]]*2' /proc/$sender/status || [ "${PROBEE%/san/*}" != "$PROBEE" ] || wrong 'the sender is not shut in'
fi
kill -9 $sender; wait $sender 2>/dev/null
plan ok
push --protocol ingest --rebase-time --progress "$TMP/progress"; exits 0; says 'before 1 body with'
all=$(answered 200)
push --protocol ingest --rebase-time --progress "$TMP/progress"; exits 0; says "delivered 0 bodies"; says "before $all bodies with"
is 'the number of requests that were taken' "$(answered 200)" "$all"
run probee push "$trace" --protocol ingest --rebase-time -n
is 'the number of bodies' "$(grep -c '^body ' "$TMP/stdout")" "$all"
# Killed at any moment: each body comes, and no more of them come twice than there were kills.
rm -f "$TMP/progress"
plan slow:0.1
from=$(answered)
kills=0
while [ $kills -lt 12 ]; do
	"$PROBEE" push "$trace" --protocol ingest --window 5ms --to "http://127.0.0.1:$port" --progress "$TMP/progress" 2>"$TMP/killed.err" &
	sender=$!
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -9 $sender 2>/dev/null && kills=$((kills + 1)) || break
	wait $sender 2>/dev/null
done
plan ok
push --protocol ingest --window 5ms --progress "$TMP/progress"; exits 0
sleep 0.3
run probee push "$trace" --protocol ingest --window 5ms -n
told 'r["path"]' | tail -n +$((from + 1)) | sort | uniq -c >"$TMP/came"
is 'the number of different bodies' "$(wc -l <"$TMP/came")" "$(grep '^  POST' "$TMP/stdout" | sort -u | wc -l)"
[ "$(awk '{ n += $1 - 1 } END { printf "%.0f\n", n }' "$TMP/came")" -le $kills ] || wrong "more bodies come twice than there were kills ($kills)"

# Other options make other bodies.
push --protocol ingest --progress "$TMP/progress" --label a=b; exits 1; says 'with other options'
push --rebase-time --progress "$trace"; exits 1; says 'is no file of --progress'
receiver_end

# Ctrl-C: what was delivered is said, and the exit code tells that there is more.
receiver stopped --plan ok,hang
"$PROBEE" push "$trace" --protocol ingest --to "http://127.0.0.1:$port" --rebase-time 2>"$TMP/stderr" & sender=$!
wait_for 2; kill -TERM $sender; wait $sender
rc=$? did='push that is stopped'; exits 75; says 'delivered 1 body with'; says 'not all is delivered: stopped'
receiver_end

# --- without libcurl

cat >"$TMP/hide.c" <<'EOF'
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	return name && strstr(name, "libcurl") ? 0 : real(name, flags);
}
EOF
if [ "${PROBEE%/san/*}" = "$PROBEE" ] && "$CC" -D_GNU_SOURCE -shared -fPIC -o "$TMP/hide.so" "$TMP/hide.c" -ldl; then
	run env LD_PRELOAD="$TMP/hide.so" "$PROBEE" push "$trace" --to http://127.0.0.1:1; exits 77; one_line
	says 'apt-get install libcurl4'
	run env LD_PRELOAD="$TMP/hide.so" "$PROBEE" push "$trace" -n; exits 0
fi
finish
