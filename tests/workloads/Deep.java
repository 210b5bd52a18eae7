/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deep: recursion in code that HotSpot compiles without frame pointers, half of it through an interface. Says "ready PID"
 * when the compiler has had time for it.
 */
public class Deep {
	static long sink;
	static long[] v = new long[64];

	static long spin(long x) {
		for (int i = 0; i < v.length; i++)
			x += v[i] * x + i;
		return x;
	}

	static long recurse(int n, long x) {
		return n == 0 ? spin(x) : recurse(n - 1, x + 1) ^ v[(int) (x & 63)];
	}

	interface Step {
		long step(int n, long x);
	}

	static class Triple implements Step {
		public long step(int n, long x) { return n == 0 ? spin(x) : pick(n).step(n - 1, x * 3) + x; }
	}

	static class Up implements Step {
		public long step(int n, long x) { return n == 0 ? spin(x) : pick(n).step(n - 1, x + 7) ^ x; }
	}

	static class Down implements Step {
		public long step(int n, long x) { return n == 0 ? spin(x) : pick(n).step(n - 1, x - 7) * 3; }
	}

	static Step[] steps = { new Triple(), new Up(), new Down() };

	static Step pick(int n) { return steps[n % 3]; }

	public static void main(String[] args) {
		long start = System.nanoTime();
		boolean said = false;

		while (System.nanoTime() - start < 300_000_000_000L) {
			for (int i = 0; i < 1000; i++) {
				sink += recurse(20, sink);
				sink += pick((int) (sink & 15)).step(20, sink);
			}
			if (!said && System.nanoTime() - start > 3_000_000_000L) {
				System.out.println("ready " + ProcessHandle.current().pid());
				said = true;
			}
		}
	}
}
