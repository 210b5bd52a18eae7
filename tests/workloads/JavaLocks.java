// SPDX-License-Identifier: GPL-2.0-or-later
// Two pairs of threads that wait for each other, by monitors and by locks; one that waits for a lock whose owner sleeps; one that
// waits on a condition, which nobody holds. "ready" when all are where they stay.
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;

public class JavaLocks {
	static final Object A = new Object(), B = new Object();
	static final ReentrantLock C = new ReentrantLock(), D = new ReentrantLock(true);
	static final ReentrantReadWriteLock E = new ReentrantReadWriteLock();
	static final Condition NEVER = D.newCondition();

	interface Body { void run() throws Exception; }

	static Thread start(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);
		t.setDaemon(true);
		t.start();
		return t;
	}

	static void waitFor(Thread t, Thread.State state) throws Exception {
		while (t.getState() != state)
			Thread.sleep(5);
	}

	// Both of a pair have their first lock before one of them wants its second.
	static void meet(AtomicInteger pair) throws Exception {
		pair.incrementAndGet();
		while (pair.get() < 2)
			Thread.sleep(1);
	}

	static void both(AtomicInteger pair, Object first, Object second) throws Exception {
		synchronized (first) {
			meet(pair);
			synchronized (second) {
				Thread.sleep(1);
			}
		}
	}

	static void both(AtomicInteger pair, Lock first, Lock second) throws Exception {
		first.lock();
		meet(pair);
		second.lock();
	}

	static void waitForEver() throws Exception {
		ReentrantLock own = new ReentrantLock();
		own.lock();
		own.newCondition().await();
	}

	static void hold() throws Exception {
		E.writeLock().lock();
		Thread.sleep(1000000);
	}

	public static void main(String[] args) throws Exception {
		AtomicInteger monitors = new AtomicInteger(), locks = new AtomicInteger();
		Thread[] blocked = { start("mon-1", () -> both(monitors, A, B)), start("mon-2", () -> both(monitors, B, A)) };
		Thread[] parked = { start("lock-1", () -> both(locks, C, D)), start("lock-2", () -> both(locks, D, C)),
				    start("nobody", JavaLocks::waitForEver), null };
		waitFor(start("holder", JavaLocks::hold), Thread.State.TIMED_WAITING);
		parked[3] = start("reader", () -> E.readLock().lock());
		for (Thread t : blocked)
			waitFor(t, Thread.State.BLOCKED);
		for (Thread t : parked)
			waitFor(t, Thread.State.WAITING);
		System.out.println("ready");
		Thread.sleep(1000000);
	}
}
