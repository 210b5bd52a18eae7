// SPDX-License-Identifier: GPL-2.0-or-later
// Two pairs of threads that wait for each other, by monitors and by locks; one that waits for a lock whose owner sleeps; one that
// waits on a condition, which nobody holds. "ready" when all are where they stay.
import java.util.concurrent.locks.*;

public class JavaLocks {
	static final Object A = new Object(), B = new Object();
	static final ReentrantLock C = new ReentrantLock(), D = new ReentrantLock(true);
	static final ReentrantReadWriteLock E = new ReentrantReadWriteLock();
	static final Condition NEVER = D.newCondition();

	interface Body { void run() throws Exception; }

	static void start(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);
		t.setDaemon(true);
		t.start();
	}

	static void both(Object first, Object second) throws Exception {
		synchronized (first) {
			Thread.sleep(200);
			synchronized (second) {
				Thread.sleep(1);
			}
		}
	}

	static void both(Lock first, Lock second) throws Exception {
		first.lock();
		Thread.sleep(200);
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
		start("mon-1", () -> both(A, B));
		start("mon-2", () -> both(B, A));
		start("lock-1", () -> both(C, D));
		start("lock-2", () -> both(D, C));
		start("holder", JavaLocks::hold);
		Thread.sleep(300);
		start("reader", () -> E.readLock().lock());
		start("nobody", JavaLocks::waitForEver);
		Thread.sleep(700);
		System.out.println("ready");
		Thread.sleep(1000000);
	}
}
