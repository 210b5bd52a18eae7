/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Java of all kinds, for ever: recursion, interfaces with several implementations, lambdas, streams, sorting with a comparator of
 * ours, exceptions, strings, arrays that are copied, a native method that calls back (doPrivileged), synchronized methods. What is
 * called next is random, so that methods of all tiers call each other.
 */
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

public class JavaMix {
	interface Step { int take(int depth); }

	static final SplittableRandom RANDOM = new SplittableRandom(11);
	static final Step[] STEPS = {
		JavaMix::spin, JavaMix::recursion, JavaMix::sorting, JavaMix::streams, JavaMix::throwing, JavaMix::strings, JavaMix::maps,
		new Locked(), new Nested(), depth -> go(depth - 1) + 1, JavaMix::copies, JavaMix::reflection,
	};
	static volatile int sink;

	static class Locked implements Step {
		public synchronized int take(int depth) {
			return go(depth - 1) ^ 1;
		}
	}

	static class Nested implements Step {
		final IntUnaryOperator twice = n -> inner(n) + inner(n - 1);

		int inner(int n) {
			return n <= 0 ? spin(3) : go(n - 2);
		}

		public int take(int depth) {
			return twice.applyAsInt(depth - 1);
		}
	}

	static int spin(int depth) {
		int x = depth;

		for (int i = 0; i < 400; i++)
			x = x * 31 + (x >>> 7) + i;
		return x;
	}

	static int recursion(int depth) {
		return down(RANDOM.nextInt(25), depth);
	}

	static int down(int left, int depth) {
		if (left == 0)
			return go(depth - 1);
		return down(left - 1, depth) + left;
	}

	static int sorting(int depth) {
		Integer[] v = new Integer[30];

		for (int i = 0; i < v.length; i++)
			v[i] = RANDOM.nextInt(1000);
		Arrays.sort(v, (a, b) -> compare(a, b, depth));
		return v[0];
	}

	static int compare(int a, int b, int depth) {
		spin(depth);
		return Integer.compare(a, b);
	}

	static int streams(int depth) {
		return IntStream.range(0, 12).mapToObj(i -> "n" + i).mapToInt(s -> s.length() + go(depth - 3)).sum();
	}

	static int throwing(int depth) {
		try {
			return thrower(depth);
		} catch (IllegalStateException e) {
			return go(depth - 2);
		}
	}

	static int thrower(int depth) {
		if ((RANDOM.nextInt() & 1) == 0)
			throw new IllegalStateException("thrown");
		return go(depth - 1);
	}

	static int strings(int depth) {
		StringBuilder b = new StringBuilder();

		for (int i = 0; i < 40; i++)
			b.append(i * depth).append(',');
		return b.toString().split(",").length;
	}

	static int maps(int depth) {
		Map<String, Integer> m = new HashMap<>();

		for (int i = 0; i < 60; i++)
			m.merge("k" + (i & 7), spin(i), Integer::sum);
		return m.size();
	}

	static int copies(int depth) {
		byte[] from = new byte[20000], to = new byte[20000];

		for (int i = 0; i < 10; i++)
			System.arraycopy(from, i, to, 0, from.length - i);
		return Arrays.hashCode(to);
	}

	static int reflection(int depth) {
		try {
			return (int)JavaMix.class.getDeclaredMethod("spin", int.class).invoke(null, depth);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static int go(int depth) {
		if (depth <= 0)
			return spin(depth);
		return STEPS[RANDOM.nextInt(STEPS.length)].take(depth);
	}

	public static void main(String[] args) {
		while (true)
			sink = go(7);
	}
}
