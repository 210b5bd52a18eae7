// SPDX-License-Identifier: GPL-2.0-or-later
// Threads whose names are longer than what the kernel keeps, in letters of one to four bytes. Writes "tid|name" of each that has
// set its own to the file that it was told, then goes on. Threads tell their tid by /proc/thread-self.
import java.nio.file.*;
import java.util.concurrent.*;

public class JavaThreads {
	static final int NR = 8;
	static final CountDownLatch TOLD = new CountDownLatch(NR);
	static final StringBuffer SAID = new StringBuffer();
	static volatile long sum;

	static void work() {
		try {
			String tid = Paths.get("/proc/thread-self").toRealPath().getFileName().toString();

			SAID.append(tid + "|" + Thread.currentThread().getName() + "\n");
			TOLD.countDown();
			for (;;) {
				for (int i = 0; i < 100000; i++)
					sum += i;
				Thread.sleep(1);
			}
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	// Its own field comes before the one of Thread when the name is looked for by value, if it is there first.
	static class Mine extends Thread {
		final String copy;

		Mine(String name) {
			super(name);
			copy = name.substring(0, 20);
		}

		public void run() {
			work();
		}
	}

	// Has two names in turns.
	static void change() {
		for (long i = 0;; i++) {
			Thread.currentThread().setName(i % 2 == 0 ? "first long name, and more" : "second long name, and more");
			for (long until = System.nanoTime() + 20000000; System.nanoTime() < until;)
				sum++;
		}
	}

	static void start(Thread t) {
		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] args) throws Exception {
		StringBuilder hundred = new StringBuilder();

		while (hundred.length() < 100)
			hundred.append("letters-");
		start(new Thread(JavaThreads::work, "a name of more than fifteen letters"));
		start(new Thread(JavaThreads::work, "\u00fcml\u00e4ute in einem langen Namen"));
		start(new Thread(JavaThreads::work, "\u4e16\u754c\u7684\u7ebf\u7a0b\u540d\u5b57"));
		start(new Thread(JavaThreads::work, "smile \ud83d\ude00\ud83d\ude00 and go on"));
		start(new Thread(JavaThreads::work, hundred.substring(0, 100)));
		start(new Mine("a class of threads of its own"));
		start(new Thread(() -> {
			Thread.currentThread().setName("renamed by itself, later");
			work();
		}, "its first name is not short, too"));
		start(new Thread(JavaThreads::change, "first long name, and more"));
		// pool-1-thread-1: has 15 letters.
		Executors.newSingleThreadExecutor().execute(JavaThreads::work);
		TOLD.await();
		Path made = Paths.get(args[0] + ".tmp");
		Files.write(made, SAID.toString().getBytes("UTF-8"));
		Files.move(made, Paths.get(args[0]));
		Thread.sleep(300000);
	}
}
