/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JavaDeep N: recursion N deep, which is all that it does, for measuring what a frame costs. The recursion is not inlined (it goes through
 * an interface with three implementations), so each Java frame is a native one.
 */
public class JavaDeep {
	interface Step { int take(int left, int x); }

	static class A implements Step { public int take(int left, int x) { return next(left, x + 1); } }
	static class B implements Step { public int take(int left, int x) { return next(left, x * 3); } }
	static class C implements Step { public int take(int left, int x) { return next(left, x ^ 5); } }

	static final Step[] STEPS = { new A(), new B(), new C() };
	static volatile int sink;

	static int next(int left, int x) {
		if (left > 1)
			return STEPS[left % 3].take(left - 2, x) + 1;
		for (int i = 0; i < 2000000; i++)
			x = x * 31 + (x >>> 7) + i;
		return x;
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]);
		long end = System.nanoTime() + 1500000000L;

		while (System.nanoTime() < end)
			sink = next(n, 1);
		System.out.println("ready " + ProcessHandle.current().pid());
		while (true)
			sink = next(n, 1);
	}
}
