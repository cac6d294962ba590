/* What a worker may use, and for how long: memory, processes and threads for as long as it lives, processor time and memory
 * for a build, processor time and the clock for a call. */
#include "setup.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/ipc/patience.h"
#include "runtime/plugin/dispatch.h"
#include "planted/planted.h"
#include "foundation/base/clock.h"

/* As a policy would say. */
static const pctl_worker_limits limits = {
	.memory = 96u << 20, .file = 1u << 30, .tasks = 24, .processes = 12};

/* What a worker takes unasked ends it, and is a strike; with no limit the same is had. */
static size_t gorge_without(const char *program, const pctl_worker_limits *most, uint64_t asked,
			    const char *words, uint32_t n_strikes, uint32_t without)
{
	struct stat st = {0};
	char born[160];
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_backend_instance *s;
	pctl_buffer *buf = NULL;
	pctl_device *dev;
	pctl_status status;
	fixture f;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/glutton.so",
			 "calls = [ \"driver\", \"processes\" ];\n");
	f.limits = *most;
	f.without = without;
	fixture_open(&f, 5000);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	if (asked)
		assert_int_equal(
			s->table->buffer_create(dev, f.call, asked, PCTL_BUFFER_STORAGE, &buf),
			PCTL_OK);
	status = s->table->supports(dev, f.call, (const uint8_t *)program, 6, &support);
	if (words) {
		if (!has_code(&f, PC3112_WORKER_RESOURCES))
			fail_msg("%s: %d, %s", program, status,
				 status ? pctl_backend_instance_lost(s) : "nothing happened");
		assert_int_equal(status, pctl_code_status(PC3112_WORKER_RESOURCES));
		if (!strstr(pctl_backend_instance_lost(s), words))
			fail_msg("\"%s\" lacks \"%s\"", pctl_backend_instance_lost(s), words);
		planted(program, asked ? "a worker, asked for half of it" : "a worker, unasked",
			"PC3112", pctl_backend_instance_lost(s));
	} else {
		if (status)
			fail_msg("%s: %d, %s", program, status, pctl_backend_instance_lost(s));
	}
	if (buf)
		s->table->buffer_destroy(dev, buf);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	assert_int_equal(pctl_quarantine_count(f.r), n_strikes);
	snprintf(born, sizeof(born), "%s/cache/drivers/fake/tmp/born", f.home);
	stat(born, &st);
	fixture_end(&f);
	return (size_t)st.st_size;
}

static size_t gorge(const char *program, const pctl_worker_limits *most, uint64_t asked,
		    const char *words, uint32_t n_strikes)
{
	return gorge_without(program, most, asked, words, n_strikes, 0);
}

/* The supervisor is asked before each of them is made: a limit is not passed for a moment. Where it only looks now and then,
 * all of a storm are there before it does. */
static void allowance__processes_are_bounded_exactly(void **state)
{
	const pctl_worker_limits far = {.memory = 4ull << 30, .tasks = 512, .processes = 256};
	const char *words = "it had more than 12 processes";
	char text[64];
	size_t n;

	(void)state;
	n = gorge("storm!", &limits, 0, words, 1);
	assert_in_range(n, 1, 11); /* beside the first */
	snprintf(text, sizeof(text), "%zu born of 200", n);
	planted("a storm of processes", "limits.worker.processes = 12", "supervisor", text);
	n = gorge("forks!", &limits, 0, words, 1);
	assert_in_range(n, 1, 11);
	n = gorge("thread", &limits, 0, "it had more than 24 processes and threads", 1);
	assert_in_range(n, 1, 23);
	n = gorge_without("storm!", &limits, 0, words, 1, PCTL_CONFINE_SUPERVISOR);
	if (n < 12)
		fail_msg("without being asked, too, there were only %zu", n);
	assert_int_equal(gorge("Storm!", &far, 0, NULL, 0), 200);
	gorge("one..!", &limits, 0, NULL, 0);
}

static void allowance__a_worker_keeps_its_limits(void **state)
{
	const pctl_worker_limits far = {.memory = 4ull << 30, .tasks = 512, .processes = 256};

	(void)state;
	gorge("memory", &limits, 0, "it used more than 100663296 bytes of memory", 1);
	gorge("memory", &limits, 60u << 20, "it used more than 100663296 bytes of memory", 0);
	gorge("people", &limits, 0, "it had more than 12 processes", 1);
	gorge("thread", &limits, 0, "it had more than 24 processes and threads", 1);
	gorge("forks!", &limits, 0, "it had more than 12 processes", 1);
	gorge("Memory", &far, 0, NULL, 0);
	gorge("People", &far, 0, NULL, 0);
	gorge("Thread", &far, 0, NULL, 0);
	gorge("Forks!", &far, 0, NULL, 0);
}

static uint32_t n_in(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t n = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* What a worker leaves in its folder, or holds without a name: it is ended, which is a strike, and its folder is empty then. */
static void fill(const char *program, const char *fault, const pctl_worker_limits *most,
		 const char *words)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_backend_instance *s;
	char own[160];
	pctl_device *dev;
	pctl_status status;
	fixture f;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/glutton.so", "calls = [ \"driver\" ];\n");
	f.limits = *most;
	fixture_open(&f, 5000);
	snprintf(own, sizeof(own), "%s/cache/drivers/fake", f.home);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	status = s->table->supports(dev, f.call, (const uint8_t *)program, 6, &support);
	if (words) {
		if (!has_code(&f, PC3112_WORKER_RESOURCES) ||
		    !strstr(pctl_backend_instance_lost(s), words))
			fail_msg("%s: %d, %s", program, status,
				 status ? pctl_backend_instance_lost(s) : "nothing happened");
		planted(fault, "a worker's own folder", "PC3112", pctl_backend_instance_lost(s));
	} else if (status) {
		fail_msg("%s: %d, %s", program, status, pctl_backend_instance_lost(s));
	}
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	assert_int_equal(pctl_quarantine_count(f.r), words ? 1 : 0);
	if ((n_in(own) == 0) != (words && strstr(words, "folder")))
		fail_msg("%s: %u files are left", program, n_in(own));
	/* What was too much is gone: the next one begins as the first did. */
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	pctl_backend_instance_close(s, f.call);
	fixture_end(&f);
}

static void allowance__a_folder_is_bounded(void **state)
{
	const pctl_worker_limits own = {
		.memory = 96u << 20, .tasks = 24, .folder = 8u << 20, .folder_files = 300};
	const pctl_worker_limits far = {
		.memory = 4ull << 30, .tasks = 24, .folder = 1u << 30, .folder_files = 1000};

	(void)state;
	fill("bytes!", "a file that grows and grows", &own,
	     "it kept more than 8388608 bytes in its own folder");
	fill("names!", "empty files without end", &own,
	     "it kept more than 300 files in its own folder");
	fill("deep!!", "folders in folders, deeper than any is looked for", &own,
	     "its own folder has a folder that cannot be looked into, or lies deeper");
	fill("unname", "bytes in open files without a name", &own,
	     "it kept more than 8388608 bytes in its own folder");
	fill("window", "bytes in memory that is shared and not mapped", &own,
	     "it used more than 100663296 bytes of memory");
	fill("Bytes!", "", &far, NULL);
	fill("Names!", "", &far, NULL);
	fill("Unname", "", &far, NULL);
	fill("Window", "", &far, NULL);
}

/* A call that may take 2 s, on one processor: what it did, and how long that took by the clock. */
static uint64_t call_busy(const char *program, uint32_t code, const char *words, const pid_t *load,
			  int n_load)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_backend_instance *s;
	pctl_device *dev;
	pctl_status status;
	uint64_t ms;
	fixture f;
	int i;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/busy.so", "");
	f.call_ms = 2000;
	fixture_open(&f, 5000);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	ms = pctl_clock_ms();
	status = s->table->supports(dev, f.call, (const uint8_t *)program, 6, &support);
	ms = pctl_clock_ms() - ms;
	if (status != (code ? pctl_code_status(code) : PCTL_OK) || (code && !has_code(&f, code)))
		fail_msg("%s: %d, %s", program, status,
			 status ? pctl_backend_instance_lost(s) : "nothing happened");
	if (code) {
		/* Who sleeps has used what it takes to begin to, seldom none on a busy machine. */
		const char *used = strstr(pctl_backend_instance_lost(s), " it used ");

		if (words ? !strstr(pctl_backend_instance_lost(s), words)
			  : !used || strtoul(used + strlen(" it used "), NULL, 10) > 200)
			fail_msg("\"%s\" lacks \"%s\"", pctl_backend_instance_lost(s),
				 words ? words : "a little processor time");
		planted(program, "a call that may take 2 s", "PC3104",
			pctl_backend_instance_lost(s));
	}
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	assert_int_equal(pctl_quarantine_count(f.r), code ? 1 : 0);
	for (i = 0; i < n_load; i++)
		kill(load[i], SIGKILL);
	for (i = 0; i < n_load; i++)
		waitpid(load[i], NULL, 0);
	fixture_end(&f);
	return ms;
}

/* Processes that take their share of the processor this one runs on, for as long as this one lives. */
static void load_machine(pid_t *pids, int n)
{
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(300);
			for (;;)
				;
		}
	}
}

/* This process and what it starts, on one processor. */
static void stay_on_one(cpu_set_t *before)
{
	cpu_set_t one;
	size_t first = 0;

	CPU_ZERO(&one);
	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	while (first < CPU_SETSIZE && !CPU_ISSET(first, before))
		first++;
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* A process that needs 300 ms to end, where that takes nine times as long, is not taken for one that does not end: its own status is
 * the cause that is named. One that sleeps on is. */
static void allowance__an_end_has_processor_time(void **state)
{
	cpu_set_t before;
	pid_t pids[8];
	uint64_t ms;

	(void)state;
	stay_on_one(&before);
	load_machine(pids, 8);
	for (int sleeps = 0; sleeps < 2; sleeps++) {
		pctl_process p = {.stderr_fd = -1};
		struct timespec t;

		p.pid = fork();
		if (p.pid == 0) {
			setpgid(0, 0);
			do
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 300);
			if (sleeps)
				sleep(600);
			_exit(7);
		}
		setpgid(p.pid, p.pid);
		ms = pctl_clock_ms();
		assert_int_equal(pctl_patience_reap(&p, 1000), !sleeps);
		ms = pctl_clock_ms() - ms;
		if (ms < 1000)
			fail_msg("the machine was not slow: %llu ms", (unsigned long long)ms);
		if (sleeps)
			pctl_process_kill(&p);
		else
			assert_true(WIFEXITED(p.status) && WEXITSTATUS(p.status) == 7);
	}
	for (int i = 0; i < 8; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < 8; i++)
		waitpid(pids[i], NULL, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void allowance__a_call_has_processor_time(void **state)
{
	cpu_set_t before;
	pid_t pids[8];
	uint64_t ms;

	(void)state;
	/* It computes without end, or it hangs. */
	call_busy("endless", PC3104_WORKER_SILENT, "processor time", NULL, 0);
	call_busy("sleeps", PC3104_WORKER_SILENT, NULL, NULL, 0);
	/* 300 ms of work on a machine where that takes nine times as long: no strike. */
	stay_on_one(&before);
	load_machine(pids, 8);
	ms = call_busy("busy", 0, NULL, pids, 8);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	if (ms < 2000)
		fail_msg("the machine was not slow: %llu ms", (unsigned long long)ms);
	planted("300 ms of work beside eight other processes", "a call that may take 2 s",
		"no strike", "more than 2 s by the clock");
}

/* What a build may use is limited, and who breaks the limit is not blamed for it: the program is. Who sleeps through its
 * time hangs, and is. */
static void build(const char *program, uint32_t call_ms, uint32_t cpu_ms, uint32_t code,
		  const char *words, uint32_t n_strikes)
{
	pctl_backend_instance *s;
	pctl_device *dev;
	pctl_kernel *k;
	fixture f;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/build_bomb.so", "");
	{
		const char *dirs[] = {f.dir};
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = f.home,
						 .worker = WORKER,
						 .call_ms = call_ms,
						 .build_cpu_ms = cpu_ms,
						 .build_memory = 256u << 20};

		assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
	}
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	assert_int_equal(
		s->table->kernel_build(dev, f.call, (const uint8_t *)program, 4, 0, NULL, 0, &k),
		pctl_code_status(code));
	assert_true(has_code(&f, code));
	if (!strstr(pctl_backend_instance_lost(s), words))
		fail_msg("\"%s\" lacks \"%s\"", pctl_backend_instance_lost(s), words);
	planted("a program that makes a compiler explode", program, "PC3110 or PC3104",
		pctl_backend_instance_lost(s));
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	assert_int_equal(pctl_quarantine_count(f.r), n_strikes);
	fixture_end(&f);
}

static void allowance__a_build_has_limits(void **state)
{
	(void)state;
	build("cpu ", 2000, 1000, PC3110_WORKER_BUILD, "1000 ms of processor time", 0);
	/* Pages are dear on a busy machine: only memory is to run out. */
	build("mem ", 120000, 60000, PC3110_WORKER_BUILD, "bytes of memory", 0);
	build("slp ", 2000, 1000, PC3104_WORKER_SILENT, "2000 ms", 1);
}

/* A compiler that works when a program is first run: whatever way it takes, and whoever answers meanwhile. Waits of 100 ms,
 * as jobs have them. `warm` 1: the program has run once before. */
static void first_run(const char *program, int warm, uint32_t code, const char *words)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	const uint32_t groups[3] = {1, 1, 1};
	uint64_t begun, ticket = 0, most = 4000;
	pctl_backend_instance *s;
	pctl_status status;
	pctl_device *dev;
	pctl_kernel *k, *other;
	pctl_list *l;
	fixture f;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/build_bomb.so", "");
	{
		const char *dirs[] = {f.dir};
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = f.home,
						 .worker = WORKER,
						 .call_ms = 1000,
						 .grace_ms = 1000,
						 .build_memory = 256u << 20,
						 .first_run_ms = *program == 'M' ? 60000 : 1500};

		assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
	}
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	assert_int_equal(
		s->table->kernel_build(dev, f.call, (const uint8_t *)"good", 4, 0, NULL, 0, &k),
		PCTL_OK);
	if (warm) {
		assert_int_equal(pctl_dispatch_once(s->table, dev, f.call, k, NULL, 0, groups,
						    1000000000, &done),
				 PCTL_OK);
		assert_int_equal(done.done, 1);
	}
	/* The fake goes by the program that it built last. */
	assert_int_equal(s->table->kernel_build(dev, f.call, (const uint8_t *)program, 4, 0, NULL,
						0, &other),
			 PCTL_OK);
	assert_int_equal(s->table->list_begin(dev, f.call, &l), PCTL_OK);
	assert_int_equal(s->table->list_dispatch(l, f.call, warm ? k : other, NULL, 0, groups),
			 PCTL_OK);
	assert_int_equal(s->table->list_end(l, f.call), PCTL_OK);
	assert_int_equal(s->table->submit(dev, f.call, l, 1, &ticket), PCTL_OK);
	begun = pctl_clock_ms();
	do {
		status = s->table->wait(dev, f.call, ticket, 100000000, &done);
	} while (!status && !done.done && (!warm || pctl_clock_ms() - begun < most));
	if (warm) {
		assert_int_equal(status, PCTL_OK);
	} else {
		if (!has_code(&f, code) || !strstr(pctl_backend_instance_lost(s), words))
			fail_msg("%s: %d, \"%s\" lacks \"%s\"", program, status,
				 pctl_backend_instance_lost(s) ? pctl_backend_instance_lost(s) : "",
				 words);
		assert_int_equal(status, pctl_code_status(code));
		planted("a compiler that explodes at the first run", program, "PC3110",
			pctl_backend_instance_lost(s));
	}
	s->table->list_destroy(dev, l);
	s->table->kernel_destroy(dev, k);
	s->table->kernel_destroy(dev, other);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	assert_int_equal(pctl_quarantine_count(f.r), 0);
	fixture_end(&f);
}

static void allowance__a_first_run_has_limits(void **state)
{
	(void)state;
	first_run("Time", 0, PC3110_WORKER_BUILD, "took more than 1500 ms");
	first_run("Cpu ", 0, PC3110_WORKER_BUILD, "first run of a program");
	first_run("Mem ", 0, PC3110_WORKER_BUILD, "bytes of memory");
	/* What has run once is work, and as long as it is. */
	first_run("Time", 1, 0, "");
}

PCTL_TESTS_MAIN(PCTL_TEST(allowance__a_build_has_limits),
		PCTL_TEST(allowance__a_first_run_has_limits),
		PCTL_TEST(allowance__a_worker_keeps_its_limits),
		PCTL_TEST(allowance__a_folder_is_bounded),
		PCTL_TEST(allowance__processes_are_bounded_exactly),
		PCTL_TEST(allowance__an_end_has_processor_time),
		PCTL_TEST(allowance__a_call_has_processor_time))
