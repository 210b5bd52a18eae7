# shellcheck shell=bash
# Share of user stacks that reach the outermost frame, for binaries as Debian ships them.

python3 "$here/roots.py" "$PROBEE" "$WORKLOADS"
