// SPDX-License-Identifier: GPL-2.0-or-later
// JavaUnloads ROUNDS: classes that are loaded, run and unloaded, one after the other. All are the class Work0000 under another name
// (Work0001, ...), so the JVM puts what it knows of one where it had that of another. Stacks prove themselves: all of their classes
// with such a name are the same one.
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

public class JavaUnloads {
	static class OneClass extends ClassLoader {
		Class<?> define(byte[] code) { return defineClass(null, code, 0, code.length); }
	}

	// The constant pool has the name in ASCII.
	static byte[] renamed(byte[] template, int number) {
		String code = new String(template, StandardCharsets.ISO_8859_1);
		return code.replace("Work0000", String.format("Work%04d", number)).getBytes(StandardCharsets.ISO_8859_1);
	}

	public static void main(String[] args) throws Exception {
		byte[] template;
		try (InputStream in = JavaUnloads.class.getResourceAsStream("Work0000.class")) {
			template = in.readAllBytes();
		}
		for (int i = 1; i <= Integer.parseInt(args[0]); i++) {
			Class<?> work = new OneClass().define(renamed(template, i % 10000));
			Method outer = work.getDeclaredMethod("outer", int.class);
			outer.setAccessible(true);
			outer.invoke(null, 2000);
			if (i % 50 == 0)
				System.gc();
		}
	}
}

class Work0000 {
	static int sum;

	static int inner(int x) {
		int s = 0;
		for (int i = 0; i < 50; i++)
			s += x * i % 7;
		return s;
	}

	static int middle(int x) { return inner(x) + inner(x + 1); }

	static void outer(int n) {
		for (int i = 0; i < n; i++)
			sum += middle(i);
	}
}
