/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait in each of the ways that Java has, each in a method whose name says how. A line is written when all do. With
 * "deadlock" two pairs of threads wait for each other's locks, too: monitors, and locks of java.util.concurrent.
 */
import java.net.ServerSocket;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class JavaWaits {
	static final Object MONITOR = new Object(), A = new Object(), B = new Object();
	static final ReentrantLock LOCK = new ReentrantLock(), C = new ReentrantLock(), D = new ReentrantLock();

	interface Waiting {
		void run() throws Exception;
	}

	static void start(String name, Waiting what) {
		Thread t = new Thread(() -> {
			try {
				what.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);

		t.setDaemon(true);
		t.start();
	}

	static void sleeping() throws Exception {
		Thread.sleep(10000000);
	}

	static void parked() {
		while (true)
			LockSupport.park();
	}

	static void waitingForNotify() throws Exception {
		Object o = new Object();

		synchronized (o) {
			o.wait();
		}
	}

	static void holdingMonitor() throws Exception {
		synchronized (MONITOR) {
			sleeping();
		}
	}

	static void enteringMonitor() {
		synchronized (MONITOR) {
			System.out.println("never");
		}
	}

	static void holdingLock() throws Exception {
		LOCK.lock();
		sleeping();
	}

	static void takingLock() {
		LOCK.lock();
	}

	static void polling() throws Exception {
		new LinkedBlockingQueue<String>().take();
	}

	static void accepting() throws Exception {
		new ServerSocket(0).accept();
	}

	static void pair(Object first, Object second) throws Exception {
		synchronized (first) {
			Thread.sleep(300);
			synchronized (second) {
				System.out.println("never");
			}
		}
	}

	static void pairOfLocks(ReentrantLock first, ReentrantLock second) throws Exception {
		first.lock();
		Thread.sleep(300);
		second.lock();
	}

	public static void main(String[] args) throws Exception {
		start("sleeping", JavaWaits::sleeping);
		start("parked", JavaWaits::parked);
		start("waiting", JavaWaits::waitingForNotify);
		start("holding", JavaWaits::holdingMonitor);
		start("holdingLock", JavaWaits::holdingLock);
		start("polling", JavaWaits::polling);
		start("accepting", JavaWaits::accepting);
		Thread.sleep(200);
		start("entering", JavaWaits::enteringMonitor);
		start("taking", JavaWaits::takingLock);
		if (args.length > 0) {
			start("dead1", () -> pair(A, B));
			start("dead2", () -> pair(B, A));
			start("dead3", () -> pairOfLocks(C, D));
			start("dead4", () -> pairOfLocks(D, C));
		}
		Thread.sleep(700);
		System.out.println("ready");
		sleeping();
	}
}
