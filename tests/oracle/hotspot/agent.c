/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -agentpath:agent.so=IN,OUT: a JVM that says where its main thread is. On SIGUSR1 the handler asks AsyncGetCallTrace, at the very
 * instruction that was interrupted. For each byte that comes in, a thread of the agent then writes what it got: the number of frames
 * and a line NAME|FILE|LINE for each, innermost first, all by JVMTI, and an empty line. First of all it writes the number of the main thread.
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FRAMES 1000

struct call_frame {
	jint bci;
	jmethodID method;
};

struct call_trace {
	JNIEnv *env;
	jint nr;
	struct call_frame *frames;
};

static void (*get_trace)(struct call_trace *, jint, void *);
static JavaVM *vm;
static jvmtiEnv *ti;
static int in_fd, out_fd;
static struct call_frame frames[MAX_FRAMES];
static volatile jint nr_frames;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct call_trace t = { NULL, 0, frames };

	(void)sig;
	(void)info;
	if ((*vm)->GetEnv(vm, (void **)&t.env, JNI_VERSION_1_6))
		t.nr = -100;
	else
		get_trace(&t, MAX_FRAMES, context);
	nr_frames = t.nr;
}

/* Lpackage/Class; -> package.Class; in the name of a hidden class a dot stands before its address. */
static void put_class(FILE *f, const char *signature)
{
	size_t len = strlen(signature);

	for (size_t i = 1; i + 1 < len; i++)
		fputc(signature[i] == '/' ? '.' : signature[i] == '.' ? '/' : signature[i], f);
}

/* Up to 16 a class that belongs to another one has a number there, which no name in its memory has. */
static void cut_number(char *signature)
{
	char *slash = strrchr(signature, '/');

	if (slash && strspn(slash + 1, "0123456789") + 2 == strlen(slash) && slash[1] != ';')
		strcpy(slash, ";");
}

static int line_of(jmethodID method, jint bci)
{
	jvmtiLineNumberEntry *table;
	jint nr, line = 0, best = -1;

	if (bci < 0 || (*ti)->GetLineNumberTable(ti, method, &nr, &table))
		return 0;
	for (jint i = 0; i < nr; i++)
		if (table[i].start_location <= bci && table[i].start_location > best) {
			best = (jint)table[i].start_location;
			line = table[i].line_number;
		}
	(*ti)->Deallocate(ti, (void *)table);
	return line;
}

static void put_frame(FILE *f, jmethodID method, jint bci)
{
	char *name = NULL, *signature = NULL, *file = NULL, *slash;
	jclass class;

	if ((*ti)->GetMethodName(ti, method, &name, NULL, NULL) ||
	    (*ti)->GetMethodDeclaringClass(ti, method, &class) ||
	    (*ti)->GetClassSignature(ti, class, &signature, NULL)) {
		fprintf(f, "?|?|0\n");
		return;
	}
	cut_number(signature);
	put_class(f, signature);
	fprintf(f, ".%s|", name);
	if (!(*ti)->GetSourceFileName(ti, class, &file)) {
		slash = strrchr(signature, '/');
		if (slash)
			fprintf(f, "%.*s", (int)(slash - signature), signature + 1);
		fputs(file, f);
	}
	fprintf(f, "|%d\n", line_of(method, bci));
	(*ti)->Deallocate(ti, (void *)name);
	(*ti)->Deallocate(ti, (void *)signature);
	(*ti)->Deallocate(ti, (void *)file);
}

static void JNICALL answer(jvmtiEnv *env, JNIEnv *jni, void *ctx)
{
	FILE *f = fdopen(out_fd, "w");
	char byte;

	(void)env;
	(void)ctx;
	while (f && read(in_fd, &byte, 1) == 1) {
		if ((*jni)->PushLocalFrame(jni, 4096))
			break;
		fprintf(f, "%d\n", (int)nr_frames);
		for (jint i = 0; i < nr_frames; i++)
			put_frame(f, frames[i].method, frames[i].bci);
		fprintf(f, "\n");
		fflush(f);
		(*jni)->PopLocalFrame(jni, NULL);
	}
	_exit(0);
}

/* AsyncGetCallTrace knows only methods that have ids. */
static void make_ids(jclass class)
{
	jmethodID *ids;
	jint nr;

	if (!(*ti)->GetClassMethods(ti, class, &nr, &ids))
		(*ti)->Deallocate(ti, (void *)ids);
}

static void JNICALL on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	(void)env;
	(void)jni;
	(void)thread;
	make_ids(class);
}

static void JNICALL on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	(void)env;
	(void)jni;
	(void)thread;
	(void)class;
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	jclass *classes, thread_class = (*jni)->FindClass(jni, "java/lang/Thread");
	jobject own = (*jni)->AllocObject(jni, thread_class);
	jmethodID init = (*jni)->GetMethodID(jni, thread_class, "<init>", "()V");
	jint nr;

	(void)thread;
	(*jni)->CallNonvirtualVoidMethod(jni, own, thread_class, init);
	if ((*ti)->GetLoadedClasses(ti, &nr, &classes))
		nr = 0;
	for (jint i = 0; i < nr; i++)
		make_ids(classes[i]);
	sigaction(SIGUSR1, &action, NULL);
	(*env)->RunAgentThread(env, own, answer, NULL, JVMTI_THREAD_NORM_PRIORITY);
	dprintf(out_fd, "%ld\n", syscall(SYS_gettid));
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java, char *options, void *reserved)
{
	const jvmtiEventCallbacks calls = { .VMInit = on_start, .ClassLoad = on_load, .ClassPrepare = on_prepare };
	jvmtiCapabilities can = { .can_get_source_file_name = 1, .can_get_line_numbers = 1 };

	(void)reserved;
	vm = java;
	get_trace = (void (*)(struct call_trace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
	if (!get_trace || sscanf(options, "%d,%d", &in_fd, &out_fd) != 2 ||
	    (*java)->GetEnv(java, (void **)&ti, JVMTI_VERSION_1_2) || (*ti)->AddCapabilities(ti, &can) ||
	    (*ti)->SetEventCallbacks(ti, &calls, sizeof(calls)))
		return -1;
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	return 0;
}
