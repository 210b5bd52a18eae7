/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/waits/wait_function.h"

#include <string.h>

#include "src/waits/script_work.h"
#include "src/waits/wait_place.h"

#define LOOK_AT 64			/* functions at most */
#define NAME_WITHIN 8			/* functions outwards of one without a name */
#define LEN(array) (sizeof(array) / sizeof((array)[0]))

/* If functions of several kinds are in a stack, the kind that comes first here counts. */
static const struct lock_kind kinds[] = {
	{ "ObjectMonitor::enter*", "Java monitor", "jstack PID", LOCK_HELD_ELSEWHERE },
	{ "ObjectMonitor::EnterI", "Java monitor", "jstack PID", LOCK_HELD_ELSEWHERE },
	{ "ObjectMonitor::ReenterI", "Java monitor", "jstack PID", LOCK_HELD_ELSEWHERE },
	{ "ObjectMonitor::wait", "Java notify()", "jstack PID", LOCK_MAYBE },
	{ "JVM_Sleep", "time", "", LOCK_IDLE },
	{ "JavaThread::sleep", "time", "", LOCK_IDLE },
	{ "java.util.concurrent.locks.ReentrantLock*", "Java lock", "jstack -l PID",
	  LOCK_HELD_ELSEWHERE },
	{ "java.util.concurrent.locks.ReentrantReadWriteLock*", "Java read-write lock",
	  "jstack -l PID", LOCK_HELD_ELSEWHERE },
	{ "java.util.concurrent.locks.*Condition*", "Java condition or queue", "jstack -l PID",
	  LOCK_MAYBE },
	{ "Unsafe_Park", "Java lock or queue", "jstack -l PID", LOCK_MAYBE },
	{ "jdk.internal.misc.Unsafe.park", "Java lock or queue", "jstack -l PID", LOCK_MAYBE },
	{ "LWLock*", "PostgreSQL LWLock", "pg_stat_activity", LOCK_HELD },
	{ "ProcSleep", "PostgreSQL lock", "pg_blocking_pids(PID)", LOCK_HELD },
	{ "lock_wait_suspend_thread", "InnoDB row lock", "sys.innodb_lock_waits", LOCK_HELD },
	{ "MDL_context::acquire_lock", "MySQL metadata lock", "sys.schema_table_lock_waits",
	  LOCK_HELD },
	{ "take_gil", "Python's GIL", "py-spy dump -p PID", LOCK_HELD },
	{ "_PyMutex_LockTimed", "Python lock", "py-spy dump -p PID", LOCK_HELD },
	{ "PyThread_acquire_lock*", "Python lock", "py-spy dump -p PID", LOCK_MAYBE },
	{ "_PyParkingLot_Park", "Python lock", "py-spy dump -p PID", LOCK_MAYBE },
	{ "rb_mutex_lock", "Ruby mutex", "rbspy snapshot -p PID", LOCK_HELD },
	{ "thread_sched_to_running*", "Ruby's GVL", "rbspy snapshot -p PID", LOCK_HELD },
	{ "sync.(*Mutex).lockSlow", "Go mutex", "dlv attach PID, or pprof", LOCK_HELD },
	{ "sync.(*Mutex).Lock", "Go mutex", "dlv attach PID, or pprof", LOCK_HELD },
	{ "runtime.semacquire*", "Go semaphore", "dlv attach PID, or pprof", LOCK_HELD },
	{ "runtime.lock2", "Go runtime lock", "dlv attach PID, or pprof", LOCK_HELD },
	{ "runtime.templateThread", "work", "", LOCK_IDLE },
	{ "runtime.sysmon", "time", "", LOCK_IDLE },
	{ "runtime.stopm", "work for goroutines", "dlv attach PID, or pprof", LOCK_MAYBE },
	{ "pthread_join", "end of a thread", "", LOCK_MAYBE },
	{ "pthread_timedjoin*", "end of a thread", "", LOCK_MAYBE },
	{ "pthread_clockjoin*", "end of a thread", "", LOCK_MAYBE },
	{ "__pthread_clockjoin*", "end of a thread", "", LOCK_MAYBE },
	{ "__pthread_timedjoin*", "end of a thread", "", LOCK_MAYBE },
	{ "pthread_rwlock_*", "read-write lock", "gdb -p PID", LOCK_HELD },
	{ "__pthread_rwlock_*", "read-write lock", "gdb -p PID", LOCK_HELD },
	{ "pthread_barrier_wait", "barrier", "", LOCK_MAYBE },
	{ "__pthread_barrier_wait", "barrier", "", LOCK_MAYBE },
	{ "pthread_cond_*", "condition", "", LOCK_IDLE },
	{ "__pthread_cond_*", "condition", "", LOCK_IDLE },
	{ "__lll_lock_wait_private", "lock of libc", "gdb -p PID", LOCK_HELD },
	{ "pthread_mutex_*", "mutex", "gdb -p PID", LOCK_HELD },
	{ "__pthread_mutex_*", "mutex", "gdb -p PID", LOCK_HELD },
	{ "__lll_lock_wait*", "mutex", "gdb -p PID", LOCK_HELD },
	{ "std::sys::*Mutex::lock_contended", "Rust mutex", "gdb -p PID", LOCK_HELD },
	{ "std::sys::*RwLock::*_contended", "Rust read-write lock", "gdb -p PID", LOCK_HELD },
	{ "std::sys::*Condvar::*", "condition", "", LOCK_IDLE },
	{ "parking_lot::raw_mutex::*", "Rust mutex", "gdb -p PID", LOCK_HELD },
	{ "parking_lot::raw_rwlock::*", "Rust read-write lock", "gdb -p PID", LOCK_HELD },
	{ "absl::*Mutex::Lock*", "mutex", "gdb -p PID", LOCK_HELD },
	{ "__new_sem_wait*", "semaphore", "", LOCK_IDLE },
	{ "sem_*wait*", "semaphore", "", LOCK_IDLE },
};

/* Static variables in which all futexes are of one kind, and the function that waits for it. */
static const struct {
	const char *variable, *function;
} variables[] = {
	{ "_PyRuntime", "take_gil" },	/* has the GIL in it; its other locks are elsewhere */
};

/* Functions of libraries and runtimes, which say how a thread waits and nothing of the program. */
static const char *const wrappers[] = {
	"__futex*", "futex*", "__lll_*", "lll_*", "pthread_*", "__pthread_*", "___pthread_*",
	"__new_sem_*", "__old_sem_*", "sem_wait*", "sem_timedwait*", "sem_clockwait*", "do_futex*",
	"do_sem_wait*", "syscall", "__syscall*", "__internal_syscall*", "syscall_cancel*",
	"__timedwait*", "__wait", "__lock", "__GI_*", "__libc_*", "__gthread_*", "__glibcxx_*",
	"__gthrw_*",
	"read", "__read*", "write", "__write*", "readv", "writev", "recv", "recvfrom", "recvmsg",
	"__recv*", "__libc_recv*", "send", "sendto", "sendmsg", "__send*", "accept", "accept4",
	"poll", "__poll*", "ppoll", "select", "__select*", "pselect*", "epoll_*wait*", "wait4",
	"waitpid", "waitid", "__wait*", "flock", "__flock", "fcntl*", "__fcntl*", "nanosleep",
	"clock_nanosleep*", "__nanosleep*", "__clock_nanosleep*", "sleep", "__sleep", "usleep",
	"__connect*", "connect", "fsync", "fdatasync", "sccp", "__cp_*",
	"std::mutex::*", "std::timed_mutex::*", "std::recursive_*", "std::shared_*mutex*",
	"std::__*", "std::lock_guard*", "std::unique_lock*", "std::scoped_lock*",
	"std::shared_lock*", "std::lock", "std::condition_variable*", "std::thread::join",
	"std::this_thread::*", "std::counting_semaphore*", "std::future*", "std::atomic*",
	"std::sys::*", "std::sys_common::*", "std::sync::*", "std::thread::*", "std::io::*",
	"<std::*", "core::*", "<core::*", "parking_lot::*", "parking_lot_core::*", "lock_api::*",
	"tokio::runtime::park::*", "absl::*Mutex*", "absl::*CondVar*", "AbslInternal*",
	"runtime.*", "sync.*", "internal/*", "syscall.*", "os.(*File).*", "net.(*netFD).*",
	"os::*", "ObjectMonitor::*", "ObjectSynchronizer::*", "LightweightSynchronizer::*",
	"Monitor::*", "Mutex::*", "Parker::*",
	"PlatformEvent::*", "PosixSemaphore::*", "Unsafe_Park", "JVM_*", "JavaThread::sleep",
	"JavaThread::wait_for_object_deoptimization", "InterpreterRuntime::*", "SharedRuntime::*",
	"Runtime1::*", "OptoRuntime::*", "MutexLocker*", "Interpreter", "java.lang.Object.wait*",
	"java.lang.Thread.sleep*", "java.util.concurrent.locks.*", "jdk.internal.misc.*",
	"sun.misc.Unsafe.*",
	"uv_cond_*", "uv_mutex_*", "uv_sem_*", "uv__sem_*", "uv_rwlock_*", "uv__io_poll", "uv_run",
	"uv__epoll*", "node::LibuvMutexTraits*", "node::*MutexBase*", "node::*ConditionVariable*",
	"v8::base::Mutex*", "v8::base::*ConditionVariable*", "v8::base::*Semaphore*",
	"take_gil", "PyCOND_*", "PyEval_*", "_PyEval_*", "eval_frame_handle_pending", "PyThread_*",
	"lock_PyThread_*", "acquire_timed", "rlock_acquire*", "_PyMutex_*", "PyMutex_*",
	"_PySemaphore_*", "_PyParkingLot_*", "cfunction_*", "_PyObject_*", "PyObject_*",
	"_PyFunction_*", "_PyVectorcall_*", "method_vectorcall*", "vectorcall_*", "do_call_core",
	"slot_tp_*", "_Py_Handle_Pending", "_Py_HandlePending",
	"WaitEventSetWait*", "WaitLatch*", "PGSemaphore*", "LWLock*", "ProcSleep", "LockAcquire*",
	"WaitOnLock", "rb_mutex_*", "thread_sched_*", "native_cond_*", "native_sleep",
	"do_mutex_lock",
};

/* The outermost functions of threads, which say nothing of what they do. */
static const char *const starters[] = {
	"_start", "__libc_start*", "start_thread", "clone", "clone3", "__clone*", "thread_run",
	"pythread_wrapper", "thread_native_entry", "Thread::call_run", "execute_native_thread_*",
	"runtime.mcall", "runtime.mstart*", "runtime.goexit*",
};

/* Functions in which the threads of a pool wait for work, by their own names. */
static const char *const pools[] = {
	"runtime.stopm", "runtime.findRunnable", "runtime.sysmon", "runtime.templateThread",
	"runtime.bgsweep", "runtime.bgscavenge", "runtime.forcegchelper",
	"java.util.concurrent.ThreadPoolExecutor.getTask*",
	"java.util.concurrent.ForkJoinPool.awaitWork*",
	"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.*",
	"java.lang.ref.ReferenceQueue.*", "CompileQueue::get*", "WatcherThread::sleep*",
	"VMThread::wait_for_vm_thread_exit*", "VMThread::inner_execute*",
	"WorkerTaskDispatcher::worker_wait_for_task*", "GangWorker::wait_for_task*",
	"ServiceThread::service_thread_entry*", "MonitorDeflationThread::*",
	"node::WorkerThreadsTaskRunner*", "v8::platform::*Worker*",
};

/* Functions that wait for the answer to what the thread has asked, on one connection. */
static const char *const askers[] = {
	"sock_recv*", "sock_call*", "sock_connect*", "internal_connect", "PySSL_select",
	"_ssl__SSLSocket_*", "PQgetResult", "PQexec*", "PQconnect*", "pqWait*", "pqReadData",
	"curl_easy_perform", "Curl_socket_check", "mysql_real_query*", "cli_read_query_result",
	"redisGetReply*", "__libc_res_nsend", "__res_context_send*", "send_dg", "send_vc",
	"getaddrinfo", "connect", "__libc_connect", "rb_wait_for_single_fd",
	"rb_thread_wait_for_single_fd", "php_pollfd_for*", "php_network_connect*",
	"sun.nio.ch.NioSocketImpl.*", "java.net.PlainSocketImpl.*",
};

/* Where threads of a program begin, but not the first one. */
static const char *const thread_starts[] = {
	"start_thread", "clone", "clone3", "__clone*", "thread_run", "pythread_wrapper",
	"thread_native_entry", "execute_native_thread_*", "runtime.mstart*", "runtime.mcall",
};

static const char *const libraries[] = {
	"libc.so*", "libc-2.*", "libpthread*", "ld-linux*", "ld-musl*", "libc.musl*", "libuv.so*",
};

/* Whether the name of a function may end here: before its parameters, or a copy's suffix. */
static bool is_end(char c)
{
	return !c || strchr("(<.@[ ", c);
}

/* Patterns have at most two stars, of which one is the last character if there are two. */
static bool fits(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t len = star ? (size_t)(star - pattern) : strlen(pattern);
	const char *rest, *found;

	/* Methods of Go have a star in their names: "sync.(*Mutex).Lock". */
	if (star > pattern && star[-1] == '(') {
		len = strlen(pattern);
		star = NULL;
	}
	if (strncmp(pattern, name, len))
		return false;
	if (!star || !star[1])
		return star || is_end(name[len]);
	rest = star + 1;
	len = strcspn(rest, "*");
	found = memmem(name + (star - pattern), strlen(name + (star - pattern)), rest, len);
	return found && (rest[len] || is_end(found[len]));
}

static bool fits_any(const char *const *patterns, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (fits(patterns[i], name))
			return true;
	return false;
}

static const struct lock_kind *kind_of(const char *name, const struct lock_kind *best)
{
	for (const struct lock_kind *k = kinds; k < (best ? best : kinds + LEN(kinds)); k++)
		if (fits(k->function, name))
			return k;
	return best;
}

/* Whether the code of a frame is in one of the libraries that every program waits in. */
static bool in_library(const struct definition_store *t, uint32_t frame)
{
	const struct rec_frame *f = definition_store_find_frame(t, frame);
	const struct rec_binary *b = f ? definition_store_find_binary(t, f->binary) : NULL;
	const char *path = b ? definition_store_string(t, b->path, NULL) : "", *slash;

	slash = strrchr(path, '/');
	return fits_any(libraries, LEN(libraries), slash ? slash + 1 : path);
}

/* Code made at run time without a name: what it calls for waiting says more. */
static bool says_nothing(const struct frame_view *v)
{
	return !v->named && v->len && v->name[0] == '[' && !strchr(v->name, '+');
}

struct look {
	struct wait_function *f;
	const struct definition_store *t;
	struct wait_function locking;	/* the function by which the kind of lock is known */
	struct wait_function unnamed;	/* the program's own one, if it has no name; len 0: none */
	int unnamed_at;
	/* The program's own function was met (is_own), or there is none. */
	bool done, is_own;
	int nr;
};

static void keep(struct wait_function *f, const struct frame_view *v, const char *buf)
{
	f->name = v->name;
	f->len = v->len;
	if (v->name == buf) {
		memcpy(f->buf, buf, FRAME_TEXT_MAX);
		f->name = f->buf;
	}
}

static void look_for_lock(struct look *l, const struct frame_view *v, const char *buf)
{
	const struct lock_kind *kind = v->named ? kind_of(v->name, l->f->lock) : l->f->lock;

	if (kind != l->f->lock)
		keep(&l->locking, v, buf);
	l->f->lock = kind;
}

/* A function with a name that called it says more, if one is near. */
static void look_at_unnamed(struct look *l, const struct frame_view *v, const char *buf)
{
	if (!l->unnamed.len) {
		keep(&l->unnamed, v, buf);
		l->unnamed_at = l->nr;
	}
	l->done = l->nr - l->unnamed_at >= NAME_WITHIN;
}

/* Takes the next function outwards. */
static void look_at(struct look *l, uint32_t frame, uint32_t i)
{
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	definition_store_frame_view(l->t, frame, i, buf, &v);
	l->nr++;
	look_for_lock(l, &v, buf);
	if (l->done || (!l->f->len && in_library(l->t, frame)))
		return;
	if (says_nothing(&v) || fits_any(starters, LEN(starters), v.name)) {
		l->done = true;
		return;
	}
	if (!v.named) {
		look_at_unnamed(l, &v, buf);
		return;
	}
	keep(l->f, &v, buf);
	l->done = l->is_own = !fits_any(wrappers, LEN(wrappers), v.name);
}

static void use_function(struct wait_function *f, const struct wait_function *other)
{
	f->name = other->name;
	f->len = other->len;
	if (f->name == other->buf)
		f->name = memcpy(f->buf, other->buf, FRAME_TEXT_MAX);
}

void wait_function_of(const struct definition_store *t, uint32_t ustack, struct wait_function *f)
{
	struct look l = { .f = f, .t = t };
	const struct table_node *n;

	f->name = "";
	f->len = 0;
	f->lock = NULL;
	for (; ustack && l.nr < LOOK_AT && (n = definition_store_find_node(t, ustack));
	     ustack = n->parent) {
		uint32_t nr = definition_store_frame_depth(t, n->frame);

		for (uint32_t i = 0; i < nr && l.nr < LOOK_AT; i++)
			look_at(&l, n->frame, i);
	}
	if (!l.is_own && l.unnamed.len)
		use_function(f, &l.unnamed);
	else if (!l.is_own && f->lock)
		use_function(f, &l.locking);
}

bool wait_is_for_answer(const struct definition_store *t, uint32_t ustack)
{
	const struct table_node *n;
	struct wait_function f;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	wait_function_of(t, ustack, &f);
	if (f.lock && (f.lock->class == LOCK_HELD || f.lock->class == LOCK_HELD_ELSEWHERE))
		return true;
	for (int nr = 0; ustack && nr < LOOK_AT && (n = definition_store_find_node(t, ustack));
	     ustack = n->parent) {
		uint32_t inlined = definition_store_frame_depth(t, n->frame);

		for (uint32_t i = 0; i < inlined && nr < LOOK_AT; i++, nr++) {
			definition_store_frame_view(t, n->frame, i, buf, &v);
			if (v.named && fits_any(askers, LEN(askers), v.name))
				return true;
		}
	}
	return false;
}

const struct lock_kind *wait_lock_of_variable(const struct definition_store *t,
					      const struct rec_sample *rec)
{
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!wait_variable(t, rec, buf, &v) || !v.named)
		return NULL;
	for (size_t i = 0; i < LEN(variables); i++)
		if (!strcmp(v.name, variables[i].variable))
			return kind_of(variables[i].function, NULL);
	return NULL;
}

struct worker {
	bool waits, is_pool, is_thread;
	bool has_script;		/* its functions tell what the native ones do not */
	unsigned own;			/* functions of the program */
};

/* true: it is a function of a script. */
static bool look_for_script(struct worker *w, enum script_role role)
{
	if (role == SCRIPT_NONE)
		return false;
	if (!w->has_script) {
		w->waits = false;
		w->own = 0;
		w->has_script = true;
	}
	w->waits |= role == SCRIPT_WAITS;
	w->is_thread |= role == SCRIPT_THREAD;
	w->is_pool |= role == SCRIPT_POOL && !w->own;
	w->own += role == SCRIPT_OWN;
	return true;
}

static void look_for_worker(struct worker *w, const struct frame_view *v, bool in_lib)
{
	const struct lock_kind *kind = v->named ? kind_of(v->name, NULL) : NULL;

	w->is_pool |= v->named && fits_any(pools, LEN(pools), v->name);
	w->is_thread |= v->named && fits_any(thread_starts, LEN(thread_starts), v->name);
	if (kind && kind->class == LOCK_IDLE)
		w->waits = true;
	else if (w->waits && !w->has_script && !in_lib &&
		 !fits_any(wrappers, LEN(wrappers), v->name) &&
		 !fits_any(starters, LEN(starters), v->name))
		w->own++;
}

bool wait_is_for_work(const struct definition_store *t, uint32_t ustack, unsigned depth)
{
	struct worker w = { 0 };
	const struct table_node *n;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	for (int nr = 0; ustack && nr < LOOK_AT && (n = definition_store_find_node(t, ustack));
	     ustack = n->parent) {
		uint32_t inlined = definition_store_frame_depth(t, n->frame);

		for (uint32_t i = 0; i < inlined && nr < LOOK_AT && !w.is_pool; i++, nr++) {
			definition_store_frame_view(t, n->frame, i, buf, &v);
			if (!look_for_script(&w, script_role_of(t, &v)))
				look_for_worker(&w, &v, in_library(t, n->frame));
		}
	}
	return w.is_pool || (w.waits && w.is_thread && w.own <= depth);
}
