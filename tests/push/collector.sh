# SPDX-License-Identifier: GPL-2.0-or-later
# An OpenTelemetry collector that knows profiles, built from Go modules with the project's own builder, at fixed versions, and
# kept in $OUT/push.
#
#	otelcol=$(sh tests/push/collector.sh) || skip "$otelcol"
#
# prints the path of the program, and builds it first if it is not there. If that cannot be done, it prints the reason and
# exits with 77. OTELCOL=PROGRAM names one that exists already.
#
# It receives OTLP by HTTP and gRPC, and hands on to the log, to a file and to another receiver. Modules and compiled packages
# are in a directory of this build alone, which goes when the program is there, unless COLLECTOR_MODULES and COLLECTOR_CACHE say
# where some are that stay.
set -eu

builder=go.opentelemetry.io/collector/cmd/builder@v0.164.0
core=v0.159.0			# components; those of contrib come later than those of the core
providers=v1.65.0		# of the same release

cannot() { echo "$*"; exit 77; }

if [ "${OTELCOL:-}" ]; then
	[ -x "$OTELCOL" ] || cannot "OTELCOL=$OTELCOL is no program"
	echo "$OTELCOL"
	exit
fi
out=$(realpath -m "${OUT:-.out}")/push
program=$out/otelcol-$core
[ ! -x "$program" ] || { echo "$program"; exit; }
command -v go >/dev/null || cannot 'go is not installed, so there is no collector'
# Without a network each test would wait for it again.
[ ! "$(find "$out/failed" -mmin -10 2>/dev/null)" ] || cannot "$(cat "$out/failed") (a moment ago)"

mkdir -p "$out"
new=$(mktemp -d "$out/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM

# Modules are made writable, because otherwise rm cannot remove them.
export GOTOOLCHAIN=local GOFLAGS='-modcacherw -buildvcs=false' GOBIN="$new" CGO_ENABLED=0
export GOPATH="$new/go" GOCACHE="${COLLECTOR_CACHE:-$new/cache}" GOMODCACHE="${COLLECTOR_MODULES:-$new/go/pkg/mod}"

cat >"$new/manifest.yaml" <<END
dist: {module: probee.test/otelcol, name: otelcol, description: a collector of profiles, output_path: $new/source}
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver $core
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter $core
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter $core
  - gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter $core
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider $providers
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider $providers
END

# build WHAT COMMAND...: only the last line of its output is of use to someone who did not ask for a build.
build() {
	what=$1
	shift
	timeout "${COLLECTOR_SECONDS:-900}" nice "$@" >"$new/log" 2>&1 && return
	echo "the collector cannot be built ($what): $(grep -v '^ *$' "$new/log" | tail -n 1)" >"$out/failed"
	cannot "$(cat "$out/failed")"
}
cd "$new"
build 'its builder' go install "$builder"
build 'its sources' ./builder --skip-compilation --config manifest.yaml
cd source
build 'its program' go build -ldflags '-s -w' -o "$new/otelcol" .
mv -T "$new/otelcol" "$program" 2>/dev/null || [ -x "$program" ]	# or another test was faster
echo "$program"
