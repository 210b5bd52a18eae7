# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What frames of interpreters cost in the kernel: a recursion of 100 and of 300 calls in Ruby and Python, which spins on a CPU of its own under
# the sampler. The cost of a frame is the difference between both.

echo 1 >/proc/sys/kernel/bpf_stats_enabled
cat >deep.rb <<'EOT'
def deep(n)
  n > 0 ? deep(n - 1) : (i = 0; i += 1 while true)
end
deep(ARGV[0].to_i)
EOT
cat >deep.py <<'EOT'
import sys
sys.setrecursionlimit(5000)
def deep(n):
    if n > 0:
        deep(n - 1)
    while True:
        pass
deep(int(sys.argv[1]))
EOT
interpreters=()
! have ruby || interpreters+=("ruby $(readlink -f "$(command -v ruby)") deep.rb")
! have python3 || interpreters+=("python $(python3 -c 'import sys; print(sys.executable)') deep.py")
for _ in $(seq "$ROUNDS"); do
	for i in "${interpreters[@]}"; do
		read -r name command script <<<"$i"
		few=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 100 "$command" "$script") || continue
		many=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 300 "$command" "$script") || continue
		record 'frames of interpreters: ns a stack of 100' "$name" "$few"
		record 'frames of interpreters: ns a frame' "$name" "$(calc "($many - $few) / 200")"
	done
done
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
