/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * python_two LIB HOME FILE LIB HOME FILE: two libpythons in one process, each with a file of its own, whose functions can call
 * other(name): the function of that name in the other one. The first file's main() is run.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object;
struct method {
	const char *name;
	struct object *(*fn)(struct object *, struct object *);
	int flags;
	const char *doc;
};

static struct python {
	void (*initialize)(int);
	struct object *(*compile)(const char *text, const char *file, int start);
	struct object *(*eval)(struct object *code, struct object *globals, struct object *locals);
	struct object *(*import)(const char *name);
	struct object *(*dict)(struct object *module);
	struct object *(*function)(struct method *m, struct object *self, struct object *module);
	int (*set)(struct object *dict, const char *key, struct object *value);
	struct object *(*get)(struct object *dict, const char *key);
	struct object *(*call)(struct object *fn, struct object *args);
	const char *(*text)(struct object *s);
	struct object *(*number)(long value);
	void (*print)(void);
	struct object *globals;
} pythons[2];

static void need(const void *p, int i)
{
	if (p)
		return;
	if (i >= 0 && pythons[i].print)
		pythons[i].print();
	fprintf(stderr, "python_two: %s\n", dlerror());
	exit(1);
}

static void run(int i, const char *name)
{
	struct object *f = pythons[i].get(pythons[i].globals, name);

	need(f, i);
	need(pythons[i].call(f, NULL), i);
}

static struct object *other_of_0(struct object *self, struct object *name)
{
	(void)self;
	run(1, pythons[0].text(name));
	return pythons[0].number(0);
}

static struct object *other_of_1(struct object *self, struct object *name)
{
	(void)self;
	run(0, pythons[1].text(name));
	return pythons[1].number(0);
}

static struct method methods[2] = { { "other", other_of_0, 8, NULL }, { "other", other_of_1, 8, NULL } };

static void load(struct python *p, const char *lib)
{
	void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	const struct { const char *name; void *to; } all[] = {
		{ "Py_InitializeEx", &p->initialize }, { "Py_CompileString", &p->compile }, { "PyEval_EvalCode", &p->eval },
		{ "PyImport_AddModule", &p->import }, { "PyModule_GetDict", &p->dict }, { "PyCFunction_NewEx", &p->function },
		{ "PyDict_SetItemString", &p->set }, { "PyDict_GetItemString", &p->get }, { "PyObject_CallObject", &p->call },
		{ "PyUnicode_AsUTF8", &p->text }, { "PyLong_FromLong", &p->number }, { "PyErr_Print", &p->print },
	};

	need(h, -1);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		void *f = dlsym(h, all[i].name);

		need(f, -1);
		memcpy(all[i].to, &f, sizeof(f));
	}
}

static void begin(int i, char **argv)
{
	static char text[1 << 16];
	FILE *f = fopen(argv[2], "r");
	struct python *p = &pythons[i];

	need(f, -1);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	setenv("PYTHONHOME", argv[1], 1);
	load(p, argv[0]);
	p->initialize(0);
	p->globals = p->dict(p->import("__main__"));
	p->set(p->globals, "other", p->function(&methods[i], NULL, NULL));
	need(p->eval(p->compile(text, argv[2], 257 /* Py_file_input */), p->globals, p->globals), i);
}

int main(int argc, char **argv)
{
	if (argc != 7)
		return 1;
	begin(0, argv + 1);
	begin(1, argv + 4);
	run(0, "main");
	return 0;
}
