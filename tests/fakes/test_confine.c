/* What a worker gets to see and to do: the bytes that were hashed and no others, an environment from a list, nothing of the
 * job it works for, and no way out. Every attempt is made by spy.c inside a worker and told by it. */
#include "setup.h"

#include <sys/resource.h>

#include "planted/planted.h"

#define FACTS 128u

typedef struct spying {
	fixture f;
	pctl_backend_instance *s;
	pctl_device *dev;
	pctl_key_value *facts;
	uint32_t n;
	char key[128], store[128];
} spying;

static void copy_file(const char *from, const char *to)
{
	char cmd[600];

	snprintf(cmd, sizeof(cmd), "cp %s/%s.so %s", FAKES, from, to);
	assert_int_equal(system(cmd), 0);
}

static void look(spying *o, const pctl_call *call)
{
	o->facts = calloc(FACTS, sizeof(*o->facts));
	assert_non_null(o->facts);
	assert_int_equal(o->s->table->device_open(o->s->inst, o->f.call, 0, &o->dev), PCTL_OK);
	assert_int_equal(o->s->table->device_identity(o->dev, call, FACTS, o->facts, &o->n),
			 PCTL_OK);
	assert_true(o->n > 10 && o->n <= FACTS);
}

/* As a policy would say. */
static const pctl_worker_limits limits = {
	.memory = 96u << 20, .file = 1u << 30, .tasks = 24, .processes = 12};

static void spy_open_without(spying *o, const char *more, uint32_t without)
{
	char text[512];
	FILE *key;

	memset(o, 0, sizeof(*o));
	fixture_begin(&o->f);
	snprintf(o->key, sizeof(o->key), "%s/signing.key", o->f.home);
	snprintf(o->store, sizeof(o->store), "%s/cas", o->f.home);
	key = fopen(o->key, "w");
	assert_non_null(key);
	fputs("secret", key);
	fclose(key);
	assert_int_equal(mkdir(o->store, 0700), 0);
	setenv("SPY_KEY", o->key, 1);
	setenv("SPY_STORE", o->store, 1);
	setenv("SPY_SECRET", "not declared", 1);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("SPY_HOST", text, 1);
	o->f.limits = limits;
	o->f.without = without;
	snprintf(text, sizeof(text),
		 "environment = [ \"SPY_KEY\", \"SPY_STORE\", \"SPY_HOST\" ];\n"
		 "calls = [ \"driver\", \"processes\"%s ];\n%s",
		 strstr(more, "programs") ? ", \"munlockall\"" : "", more);
	fixture_manifest(&o->f, "fake", FAKES "/spy.so", text);
	if (strstr(more, "synthetic") != NULL)
		fixture_pin(&o->f, "fake", FAKES "/spy.so");
	fixture_open(&o->f, 5000);
}

static void spy_open(spying *o, const char *more)
{
	spy_open_without(o, more, 0);
}

static void spy_look(spying *o, const pctl_call *call)
{
	assert_int_equal(pctl_backend_instance_open(o->f.r, "fake", NULL, 0, o->f.call, &o->s),
			 PCTL_OK);
	look(o, call ? call : o->f.call);
}

static void spy_end(spying *o)
{
	o->s->table->device_close(o->dev);
	pctl_backend_instance_close(o->s, o->f.call);
	free(o->facts);
	fixture_end(&o->f);
}

static const char *fact(const spying *o, const char *key)
{
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (!strcmp(o->facts[i].key, key))
			return o->facts[i].value;
	fail_msg("the spy says nothing of \"%s\"", key);
	return "";
}

/* 1 when a variable of the worker begins so. */
static int has_variable(const spying *o, const char *begin)
{
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (!strcmp(o->facts[i].key, "environment") &&
		    !strncmp(o->facts[i].value, begin, strlen(begin)))
			return 1;
	return 0;
}

/* What loaders and drivers listen to, and people set: libraries, layers, drivers, compilers, folders. */
static const char *const strange[] = {"LD_PRELOAD",
				      "LD_LIBRARY_PATH",
				      "LD_AUDIT",
				      "LD_BIND_NOW",
				      "GLIBC_TUNABLES",
				      "MALLOC_PERTURB_",
				      "VK_DRIVER_FILES",
				      "VK_ICD_FILENAMES",
				      "VK_ADD_DRIVER_FILES",
				      "VK_LAYER_PATH",
				      "VK_ADD_LAYER_PATH",
				      "VK_INSTANCE_LAYERS",
				      "VK_LOADER_LAYERS_ENABLE",
				      "VK_LOADER_DRIVERS_SELECT",
				      "VK_LOADER_DRIVERS_DISABLE",
				      "OCL_ICD_VENDORS",
				      "OCL_ICD_FILENAMES",
				      "OPENCL_VENDOR_PATH",
				      "OPENCL_LAYERS",
				      "POCL_DEBUG",
				      "POCL_DEVICES",
				      "POCL_WORK_GROUP_METHOD",
				      "POCL_EXTRA_BUILD_FLAGS",
				      "GALLIUM_DRIVER",
				      "GALLIVM_DEBUG",
				      "GALLIVM_PERF",
				      "LP_NUM_THREADS",
				      "LIBGL_DRIVERS_PATH",
				      "MESA_LOADER_DRIVER_OVERRIDE",
				      "MESA_GLSL_CACHE_DIR",
				      "RUSTICL_ENABLE",
				      "RUSTICL_FEATURES",
				      "CUDA_VISIBLE_DEVICES",
				      "CLC_OPTIONS",
				      "XDG_CONFIG_HOME",
				      "XDG_DATA_HOME",
				      "XDG_DATA_DIRS",
				      "XDG_CONFIG_DIRS",
				      "SPY_SECRET",
				      "PIPECTL_HOME"};

static void set_strange(int on)
{
	for (uint32_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		if (on)
			setenv(strange[i],
			       !strcmp(strange[i], "LD_PRELOAD") ? FAKES "/preload.so" : "planted",
			       1);
		else
			unsetenv(strange[i]);
}

/* Names that a worker may have, and no others: a name that nobody has thought of is not among them either. */
static void only_named(const spying *o, const char *const *names)
{
	for (uint32_t i = 0; i < o->n; i++) {
		const char *variable = o->facts[i].value;
		uint32_t k = 0;

		if (strcmp(o->facts[i].key, "environment") != 0)
			continue;
		while (names[k] != NULL && (strncmp(variable, names[k], strlen(names[k])) != 0 ||
					    variable[strlen(names[k])] != '='))
			k++;
		if (names[k] == NULL)
			fail_msg("%s reaches the worker", variable);
		if (strstr(variable, "planted"))
			fail_msg("%s has the user's value", variable);
	}
}

static void confine__the_environment_comes_from_a_list(void **state)
{
	static const char *const given[] = {"HOME",
					    "TMPDIR",
					    "POCL_CACHE_DIR",
					    "XDG_RUNTIME_DIR",
					    "MESA_SHADER_CACHE_DIR",
					    "XDG_CACHE_HOME",
					    "__GL_SHADER_DISK_CACHE_PATH",
					    "CUDA_CACHE_PATH",
					    "PATH",
					    "LANG",
					    "LC_ALL",
					    "TZ",
					    "GLIBC_TUNABLES",
					    "VK_LOADER_LAYERS_DISABLE",
					    "SPY_KEY",
					    "SPY_STORE",
					    "SPY_HOST",
					    "ASAN_OPTIONS",
					    "LSAN_OPTIONS",
					    "TSAN_OPTIONS",
					    "UBSAN_OPTIONS",
					    "LLVM_PROFILE_FILE",
					    NULL};
	spying o;

	(void)state;
	set_strange(1);
	spy_open(&o, "");
	spy_look(&o, NULL);
	only_named(&o, given);
	assert_true(has_variable(&o, "SPY_KEY="));
	assert_true(has_variable(&o, "PATH=/usr/bin:/bin"));
	assert_true(has_variable(&o, "LC_ALL=C"));
	assert_true(has_variable(&o, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"));
	assert_true(has_variable(&o, "HOME="));
	assert_string_not_equal(fact(&o, "page size"), "3");
	planted("a library that changes a result (LD_PRELOAD)", "fake", "environment of workers",
		fact(&o, "page size"));
	set_strange(0);
	spy_end(&o);
	/* The same library, asked for in a declared way, does change it: the gate is the list. */
	setenv("LD_PRELOAD", FAKES "/preload.so", 1);
	spy_open(&o, "");
	fixture_manifest(&o.f, "fake", FAKES "/spy.so",
			 "environment = [ \"LD_PRELOAD\" ];\n"
			 "calls = [ \"driver\", \"processes\" ];\n");
	fixture_open(&o.f, 5000);
	spy_look(&o, NULL);
	unsetenv("LD_PRELOAD");
	assert_string_equal(fact(&o, "page size"), "3");
	spy_end(&o);
}

static void confine__only_who_fails_on_purpose_learns_the_job(void **state)
{
	pctl_call call;
	spying o;

	(void)state;
	spy_open(&o, "");
	call = *o.f.call;
	call.trace_id = 0x1234567890u;
	spy_look(&o, &call);
	assert_string_equal(fact(&o, "trace id"), "0");
	spy_end(&o);
	spy_open(&o, "roles = [ \"synthetic\" ];");
	call = *o.f.call;
	call.trace_id = 0x1234567890u;
	spy_look(&o, &call);
	assert_string_equal(fact(&o, "trace id"), "1234567890");
	spy_end(&o);
}

/* A library that is replaced after it was judged is not loaded, and one that was loaded stays the same for every further
 * worker, whatever becomes of its file. */
static void confine__what_was_hashed_is_what_is_loaded(void **state)
{
	pctl_device_info info = {.head = PCTL_HEAD(pctl_device_info)};
	pctl_backend_instance *s;
	char path[128], sha[65];
	uint32_t n;
	fixture f;

	(void)state;
	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/lib.so", f.home);
	copy_file("fake", path);
	fixture_manifest(&f, "fake", path, "");
	fixture_open(&f, 5000);
	snprintf(sha, sizeof(sha), "%s", pctl_registry_find(f.r, "fake")->sha256);
	copy_file("crash_devices", path);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->devices(s->inst, f.call, 1, &info, &n), PCTL_OK);
	pctl_backend_instance_close(s, f.call);
	planted("a library replaced between hash and load", "fake", "sealed copy", sha);
	/* Remembered, not read: the copy is made when it is first wanted, and must have the hash that is remembered. The
	 * file keeps its size and times, as a careful forger would see to. */
	copy_file("fake", path);
	fixture_open(&f, 5000);
	fixture_open(&f, 5000);
	copy_file("crash_devices", path);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s),
			 PCTL_E_PLUGIN);
	assert_true(has_code(&f, PC3035_PLUGIN_CHANGED));
	planted("a library replaced after it was judged", "fake", "PC3035", sha);
	fixture_end(&f);
}

/* Attempts that must fail in a confined worker; each succeeds without confinement, so that it is the confinement which
 * makes it fail. */
static const char *const attempts[] = {"read the key",
				       "write the store",
				       "truncate the key",
				       "change the key's mode",
				       "write /tmp",
				       "internet socket",
				       "unix socket",
				       "read the parent's command line",
				       "signal the parent",
				       "read the host's memory",
				       "read the host's environment",
				       "read the host's command line",
				       "signal the host",
				       "look into the host",
				       "look at the host's files",
				       "signal the host by a descriptor",
				       "be traced",
				       "leave the session",
				       "io_uring",
				       "userfaultfd",
				       "bpf",
				       "perf_event_open",
				       "keyctl",
				       "mount",
				       "new namespace",
				       "personality",
				       "run a program from memory",
				       "run a program from memory by its path",
				       "run a descriptor that it was given",
				       "run a file that it wrote",
				       "run /bin/true",
				       "run /bin/ls",
				       "a call that is not listed",
				       "a giant file"};
#define N_ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

static void open_unconfined(fixture *f)
{
	static const char *const ids[] = {"fake"};
	const char *dirs[] = {f->dir};
	const pctl_registry_options o = {.dirs = dirs,
					 .n_dirs = 1,
					 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
					 .home = f->home,
					 .worker = WORKER,
					 .unconfined = ids,
					 .n_unconfined = 1};

	pctl_registry_close(f->r);
	f->r = NULL;
	assert_int_equal(pctl_registry_open(&o, f->call, &f->r), PCTL_OK);
}

static void confine__a_worker_gets_nowhere(void **state)
{
	spying o;
	size_t i;

	(void)state;
	spy_open(&o, "");
	if (pctl_registry_unconfined(o.f.r, "fake"))
		fail_msg("this kernel cannot confine: %s", pctl_registry_unconfined(o.f.r, "fake"));
	spy_look(&o, NULL);
	for (i = 0; i < N_ATTEMPTS; i++) {
		const char *came_of_it = fact(&o, attempts[i]);

		if (!strcmp(came_of_it, "done"))
			fail_msg("a confined worker may %s", attempts[i]);
		planted(attempts[i], "a confined worker", "confinement", came_of_it);
	}
	/* None of the above is had by breaking what a driver needs. */
	assert_string_equal(fact(&o, "write its own folder"), "done");
	assert_string_not_equal(fact(&o, "command line"), "");
	spy_end(&o);
	spy_open(&o, "");
	open_unconfined(&o.f);
	spy_look(&o, NULL);
	for (i = 0; i < N_ATTEMPTS; i++)
		if (strcmp(fact(&o, attempts[i]), "done") != 0 &&
		    (geteuid() == 0 || strcmp(fact(&o, attempts[i]), "EPERM") != 0))
			fail_msg("without confinement, too, %s fails: %s", attempts[i],
				 fact(&o, attempts[i]));
	spy_end(&o);
	unlink("/tmp/pipectl-spy");
}

/* On a kernel without landlock it is namespaces that keep the host's processes out of sight, and on one without those of
 * processes it is that of the user. */
static void look_without(uint32_t without, const char *words)
{
	static const char *const reading[] = {
		"read the host's memory", "read the host's environment",
		"read the host's command line", "look at the host's files", "look into the host"};
	const size_t n = without & PCTL_CONFINE_PROCESSES ? 2 : 3;
	spying o;
	size_t i;

	spy_open_without(&o, "", without);
	if (pctl_registry_shares_namespaces(o.f.r, "fake"))
		fail_msg("this kernel cannot: %s", pctl_registry_shares_namespaces(o.f.r, "fake"));
	spy_look(&o, NULL);
	assert_string_equal(fact(&o, "write /tmp"), "done"); /* there is no landlock */
	for (i = 0; i < n + 2; i++) {
		const char *what = reading[i < n ? i : 5 - (n + 2 - i)];

		if (!strcmp(fact(&o, what), "done"))
			fail_msg("%s: a worker may %s", words, what);
		planted(what, words, "namespaces", fact(&o, what));
	}
	unlink("/tmp/pipectl-spy");
	spy_end(&o);
}

static void confine__without_landlock_there_are_namespaces(void **state)
{
	(void)state;
	look_without(PCTL_CONFINE_LANDLOCK | PCTL_CONFINE_SECCOMP,
		     "a worker without landlock and seccomp");
	look_without(PCTL_CONFINE_LANDLOCK | PCTL_CONFINE_SECCOMP | PCTL_CONFINE_PROCESSES,
		     "a worker without landlock, seccomp and PID namespaces");
}

/* Keys of a manifest allow what they name and nothing beside it; and what was refused is remembered. */
static void confine__a_manifest_allows_what_it_names(void **state)
{
	static const char *const still[] = {
		"run a program from memory", "run a program from memory by its path",
		"run a descriptor that it was given", "run a file that it wrote", "run /bin/ls"};
	char path[128], text[1024] = "";
	spying o;
	FILE *in;
	size_t i;

	(void)state;
	spy_open(&o, "programs = [ \"/bin/true\" ];\n");
	spy_look(&o, NULL);
	assert_string_equal(fact(&o, "run /bin/true"), "done");
	assert_string_equal(fact(&o, "a call that is not listed"), "done");
	for (i = 0; i < sizeof(still) / sizeof(still[0]); i++) {
		if (!strcmp(fact(&o, still[i]), "done"))
			fail_msg("a worker that may run /bin/true may %s", still[i]);
		planted(still[i], "a worker that may run /bin/true", "confinement",
			fact(&o, still[i]));
	}
	o.s->table->device_close(o.dev);
	pctl_backend_instance_close(o.s, o.f.call);
	snprintf(path, sizeof(path), "%s/cache/refused.tsv", o.f.home);
	in = fopen(path, "r");
	assert_non_null(in);
	i = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	assert_non_null(strstr(text, "ptrace"));
	assert_non_null(strstr(text, "memfd_create"));
	assert_null(strstr(text, "munlockall"));
	free(o.facts);
	fixture_end(&o.f);
}

static int n_workers(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (proc && (e = readdir(proc))) {
		char path[300], text[512] = "";
		size_t i, k;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		k = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		for (i = 0; i < k; i++)
			if (!text[i])
				text[i] = ' ';
		n += strstr(text, FAKES "/spy.so") != NULL;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* The spy leaves a daemon behind, in a session of its own where it can; with or without confinement it goes with the
 * worker. */
static void confine__a_daemon_does_not_survive(void **state)
{
	spying o;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		spy_open(&o, "");
		if (i)
			open_unconfined(&o.f);
		spy_look(&o, NULL);
		assert_true(n_workers() >= 3);
		spy_end(&o);
		assert_int_equal(n_workers(), 0);
	}
	unlink("/tmp/pipectl-spy");
	planted("a daemon in a session of its own", "a worker", "supervisor", "no process is left");
}

/* A core would hold what the worker was given, and lie where drivers' caches lie. */
static void confine__no_core_is_left(void **state)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	int status = 0;
	pid_t pid;
	spying o;

	(void)state;
	spy_open(&o, "");
	spy_look(&o, NULL);
	assert_string_not_equal(fact(&o, "leave a core"), "done");
	planted("leave a core", "a worker", "RLIMIT_CORE", fact(&o, "leave a core"));
	pid = fork();
	if (pid == 0) {
		if (chdir(o.f.home) == 0)
			setrlimit(RLIMIT_CORE, &all);
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	waitpid(pid, &status, 0);
	/* Without the limit there is one, where this machine writes any. */
	if (geteuid() == 0 && !WCOREDUMP(status))
		fail_msg("this machine writes no cores at all");
	spy_end(&o);
}

PCTL_TESTS_MAIN(PCTL_TEST(confine__no_core_is_left),
		PCTL_TEST(confine__without_landlock_there_are_namespaces),
		PCTL_TEST(confine__the_environment_comes_from_a_list),
		PCTL_TEST(confine__only_who_fails_on_purpose_learns_the_job),
		PCTL_TEST(confine__a_worker_gets_nowhere),
		PCTL_TEST(confine__a_manifest_allows_what_it_names),
		PCTL_TEST(confine__a_daemon_does_not_survive),
		PCTL_TEST(confine__what_was_hashed_is_what_is_loaded))
