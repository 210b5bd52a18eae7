# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What frames of interpreters cost in the kernel: a recursion of 100 and of 300 calls in Ruby, Python, PHP and Perl, which spins on a CPU of
# its own under the sampler. The cost of a frame is the difference between both. "other functions": each call is of another function, so the
# cookie of each is read; those of a recursion are read once for a stack.

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
cat >other.py <<'EOT'
import sys
sys.setrecursionlimit(5000)
text = "def f0():\n    while True:\n        pass\n"
for i in range(int(sys.argv[1])):
    text += "def f%d():\n    f%d()\n" % (i + 1, i)
exec(text + "f%s()" % sys.argv[1])
EOT
cat >deep.php <<'EOT'
<?php
function deep($n) {
	if ($n > 0)
		return deep($n - 1) + 1;
	for ($i = 0;; $i++);
}
deep((int)$argv[1]);
EOT
cat >deep.pl <<'EOT'
no warnings;
sub deep {
	my $n = shift;
	return deep($n - 1) + 1 if $n > 0;
	my $i = 0;
	$i++ while 1;
}
deep($ARGV[0]);
EOT
interpreters=()
! have ruby || interpreters+=("ruby:$(readlink -f "$(command -v ruby)"):deep.rb")
if have python3; then
	python=$(python3 -c 'import sys; print(sys.executable)')
	interpreters+=("python:$python:deep.py" "python, other functions:$python:other.py")
fi
! have php || interpreters+=("php:$(readlink -f "$(command -v php)"):deep.php")
! have perl || interpreters+=("perl:$(readlink -f "$(command -v perl)"):deep.pl")
for _ in $(seq "$ROUNDS"); do
	for i in "${interpreters[@]}"; do
		IFS=: read -r name command script <<<"$i"
		few=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 100 "$command" "$script") || continue
		many=$("$here/interpreter_frames.py" "$PROBEE" $(($(nproc) - 1)) 300 "$command" "$script") || continue
		record 'frames of interpreters: ns a stack of 100' "$name" "$few"
		record 'frames of interpreters: ns a frame' "$name" "$(calc "($many - $few) / 200")"
	done
done
echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
