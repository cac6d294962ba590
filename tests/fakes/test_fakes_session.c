/* Backends in workers: everything passes through unchanged, and a worker that dies, hangs or lies
 * costs only its own work. */
#include "setup.h"

#include "runtime/ipc/process.h"
#include "runtime/ipc/remote.h"
#include "foundation/base/clock.h"

#define WORDS 3000000u /* more than the shared window holds */

typedef struct open_device {
	fixture f;
	pctl_backend_instance *s;
	const pctl_backend *t;
	pctl_device *dev;
} open_device;

static void open_fake(open_device *o, const char *library, uint32_t flags)
{
	char path[256];

	fixture_begin(&o->f);
	snprintf(path, sizeof(path), "%s/%s.so", FAKES, library);
	fixture_manifest(&o->f, "fake", path, "in_process = true;");
	fixture_open(&o->f, 5000);
	assert_int_equal(pctl_backend_instance_open(o->f.r, "fake", NULL, flags, o->f.call, &o->s),
			 PCTL_OK);
	o->t = o->s->table;
	assert_int_equal(o->t->device_open(o->s->inst, o->f.call, 0, &o->dev), PCTL_OK);
}

static void close_fake(open_device *o)
{
	o->t->device_close(o->dev);
	pctl_backend_instance_close(o->s, o->f.call);
	fixture_end(&o->f);
}

/* A list that adds n to every word of buf. */
static pctl_list *record(open_device *o, pctl_kernel *k, pctl_buffer *buf, uint64_t n_bytes,
			 uint32_t n)
{
	const pctl_binding b = {0, 1, buf, 0, n_bytes};
	const uint32_t groups[3] = {n, 1, 1};
	pctl_list *l;

	assert_int_equal(o->t->list_begin(o->dev, o->f.call, &l), PCTL_OK);
	assert_int_equal(o->t->list_dispatch(l, o->f.call, k, &b, 1, groups), PCTL_OK);
	assert_int_equal(o->t->list_barrier(l, o->f.call), PCTL_OK);
	assert_int_equal(o->t->list_timestamp(l, o->f.call, 0), PCTL_OK);
	assert_int_equal(o->t->list_end(l, o->f.call), PCTL_OK);
	return l;
}

static pctl_status run(open_device *o, pctl_list *l, uint32_t times, uint64_t timeout_ns)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket;
	pctl_status s = o->t->submit(o->dev, o->f.call, l, times, &ticket);

	if (!s)
		s = o->t->wait(o->dev, o->f.call, ticket, timeout_ns, &c);
	if (!s && c.done) {
		assert_int_equal(c.n_timestamps, 1);
		assert_int_equal(c.timestamps[0], 42);
	}
	return s ? s : c.done ? PCTL_OK : PCTL_E_TIMEOUT;
}

static void describe(open_device *o)
{
	pctl_device_info infos[4] = {{.head = PCTL_HEAD(pctl_device_info)}};
	pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
	pctl_support sup = {.head = PCTL_HEAD(pctl_support)};
	pctl_key_value kv[4];
	pctl_device *none;
	uint32_t n;

	assert_int_equal(o->t->devices(o->s->inst, o->f.call, 4, infos, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_string_equal(infos[0].name, "Fake Device");
	assert_int_equal(o->t->devices(o->s->inst, o->f.call, 0, NULL, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(o->t->device_identity(o->dev, o->f.call, 4, kv, &n), PCTL_OK);
	assert_int_equal(n, 2);
	assert_string_equal(kv[0].value, "nobody");
	assert_int_equal(o->t->device_caps(o->dev, o->f.call, &caps), PCTL_OK);
	assert_int_equal(caps.max_groups[2], 65535);
	assert_int_equal(o->t->supports(o->dev, o->f.call, (const uint8_t *)"yes", 3, &sup),
			 PCTL_OK);
	assert_int_equal(sup.supported, 1);
	assert_int_equal(o->t->supports(o->dev, o->f.call, (const uint8_t *)"no", 2, &sup),
			 PCTL_OK);
	assert_int_equal(sup.supported, 0);
	assert_string_equal(sup.reason, "the first byte is n");
	assert_int_equal(o->t->device_open(o->s->inst, o->f.call, 1, &none), PCTL_E_UNSUPPORTED);
	assert_null(none);
}

static void move_data(open_device *o)
{
	uint32_t *out = calloc(WORDS, 4), *in = calloc(WORDS, 4);
	pctl_buffer *buf, *empty;
	pctl_kernel *k;
	pctl_list *l;
	uint32_t i;

	assert_non_null(out);
	assert_non_null(in);
	for (i = 0; i < WORDS; i++)
		out[i] = i * 2654435761u;
	assert_int_equal(
		o->t->buffer_create(o->dev, o->f.call, 4ull * WORDS, PCTL_BUFFER_STORAGE, &buf),
		PCTL_OK);
	assert_int_equal(o->t->buffer_create(o->dev, o->f.call, 0, PCTL_BUFFER_STORAGE, &empty),
			 PCTL_OK);
	assert_int_equal(o->t->buffer_write(o->dev, o->f.call, buf, 0, out, 4ull * WORDS), PCTL_OK);
	assert_int_equal(o->t->buffer_write(o->dev, o->f.call, buf, 4, out, 8), PCTL_OK);
	assert_int_equal(o->t->buffer_write(o->dev, o->f.call, empty, 0, NULL, 0), PCTL_OK);
	assert_int_equal(
		o->t->kernel_build(o->dev, o->f.call, (const uint8_t *)"good", 4, 0, NULL, 0, &k),
		PCTL_OK);
	l = record(o, k, buf, 4ull * WORDS, 7);
	assert_int_equal(run(o, l, 3, 60000000000u), PCTL_OK);
	assert_int_equal(o->t->buffer_read(o->dev, o->f.call, buf, 0, in, 4ull * WORDS), PCTL_OK);
	for (i = 0; i < WORDS; i++)
		if (in[i] != (i == 1 || i == 2 ? out[i - 1] : out[i]) + 21)
			fail_msg("word %u is %u", i, in[i]);
	assert_int_equal(o->t->buffer_read(o->dev, o->f.call, buf, 4ull * (WORDS - 3), in, 12),
			 PCTL_OK);
	assert_int_equal(in[2], out[WORDS - 1] + 21);
	assert_int_equal(o->t->buffer_read(o->dev, o->f.call, empty, 0, NULL, 0), PCTL_OK);
	o->t->list_destroy(o->dev, l);
	o->t->kernel_destroy(o->dev, k);
	o->t->buffer_destroy(o->dev, empty);
	o->t->buffer_destroy(o->dev, buf);
	free(in);
	free(out);
}

static void pass_refusals(open_device *o)
{
	const uint32_t groups[3] = {1, 1, 1};
	const uint32_t before = pctl_diag_list_count(o->f.diags);
	pctl_binding many[9] = {{0}};
	const pctl_diag *d;
	pctl_kernel *k;
	pctl_list *l;

	assert_int_equal(
		o->t->kernel_build(o->dev, o->f.call, (const uint8_t *)"bad", 3, 0, NULL, 0, &k),
		PCTL_E_UNSUPPORTED);
	assert_null(k);
	assert_int_equal(pctl_diag_list_count(o->f.diags), before + 2);
	d = pctl_diag_list_at(o->f.diags, before);
	assert_int_equal(d->severity, PCTL_SEVERITY_WARNING);
	assert_string_equal(d->pos.file, "kernel.wgsl");
	assert_int_equal(d->pos.end_column, 12);
	assert_string_equal(d->hint, "a hint");
	/* Recording: the first failure is told by list_end, at the latest. */
	assert_int_equal(
		o->t->kernel_build(o->dev, o->f.call, (const uint8_t *)"good", 4, 0, NULL, 0, &k),
		PCTL_OK);
	assert_int_equal(o->t->list_begin(o->dev, o->f.call, &l), PCTL_OK);
	if (o->t->list_dispatch(l, o->f.call, k, many, 9, groups) == PCTL_OK)
		assert_int_equal(o->t->list_end(l, o->f.call), PCTL_E_UNSUPPORTED);
	assert_non_null(
		strstr(pctl_diag_list_at(o->f.diags, pctl_diag_list_count(o->f.diags) - 1)->message,
		       "9 bindings"));
	o->t->list_destroy(o->dev, l);
	o->t->kernel_destroy(o->dev, k);
}

static void ask_extras(open_device *o)
{
	pctl_counts *c = calloc(1, sizeof(*c));
	pctl_finding f[4];
	pctl_kernel *k;
	char blob[8] = "";
	char language[PCTL_NAME_MAX];
	uint64_t n64;
	uint32_t n;

	assert_non_null(c);
	c->head = (pctl_head)PCTL_HEAD(pctl_counts);
	assert_int_equal(o->t->counts(o->dev, o->f.call, c), PCTL_OK);
	assert_int_equal(c->lane_ops, 99);
	assert_int_equal(o->t->findings(o->dev, o->f.call, 4, f, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(f[0].kind, PCTL_FINDING_RACE);
	assert_int_equal(
		o->t->kernel_build(o->dev, o->f.call, (const uint8_t *)"good", 4, 0, NULL, 0, &k),
		PCTL_OK);
	assert_int_equal(o->t->kernel_cache(o->dev, o->f.call, k, 3, blob, &n64), PCTL_OK);
	assert_int_equal(n64, 5);
	assert_string_equal(blob, "cac");
	assert_int_equal(o->t->kernel_source(o->dev, o->f.call, (const uint8_t *)"good", 4, 3, blob,
					     &n64, language),
			 PCTL_OK);
	assert_int_equal(n64, 5);
	assert_string_equal(blob, "sss");
	assert_string_equal(language, "fa\\x1b[31mke");
	o->t->kernel_destroy(o->dev, k);
	free(c);
}

static void whole_table(uint32_t flags)
{
	open_device o;

	open_fake(&o, "fake", flags);
	describe(&o);
	move_data(&o);
	pass_refusals(&o);
	ask_extras(&o);
	assert_null(pctl_backend_instance_lost(o.s));
	close_fake(&o);
}

static void session__a_worker_behaves_as_the_backend_does(void **state)
{
	(void)state;
	whole_table(0);
}

static void session__and_so_does_the_host(void **state)
{
	(void)state;
	whole_table(PCTL_INSTANCE_IN_PROCESS);
}

static void session__a_crash_in_submit_is_a_lost_device_with_its_cause(void **state)
{
	pctl_kernel *k;
	pctl_buffer *buf;
	pctl_list *l;
	open_device o;
	uint32_t word = 0, i, round;

	(void)state;
	open_fake(&o, "crash_submit", 0);
	for (round = 0; round < 3; round++) {
		assert_int_equal(o.t->buffer_create(o.dev, o.f.call, 4, 1, &buf), PCTL_OK);
		assert_int_equal(
			o.t->kernel_build(o.dev, o.f.call, (const uint8_t *)"x", 1, 0, NULL, 0, &k),
			PCTL_OK);
		l = record(&o, k, buf, 4, 1);
		for (i = 0; i < 2; i++)
			assert_int_equal(run(&o, l, 1, 60000000000u), PCTL_OK);
		assert_int_equal(run(&o, l, 1, 60000000000u), PCTL_E_DEVICE_LOST);
		assert_true(has_code(&o.f, PC3103_WORKER_DIED));
		assert_non_null(pctl_backend_instance_lost(o.s));
		assert_non_null(
			strstr(pctl_backend_instance_lost(o.s), "SIGILL; its last words: "));
		assert_non_null(strstr(pctl_backend_instance_lost(o.s), "about to fall|now"));
		/* Everything after fails in the same way, destroying still works. */
		assert_int_equal(o.t->buffer_read(o.dev, o.f.call, buf, 0, &word, 4),
				 PCTL_E_DEVICE_LOST);
		o.t->list_destroy(o.dev, l);
		o.t->kernel_destroy(o.dev, k);
		o.t->buffer_destroy(o.dev, buf);
		o.t->device_close(o.dev);
		pctl_backend_instance_close(o.s, o.f.call);
		assert_no_children();
		if (round == 2)
			break;
		/* The host starts another worker. */
		assert_int_equal(pctl_backend_instance_open(o.f.r, "fake", NULL, 0, o.f.call, &o.s),
				 PCTL_OK);
		o.t = o.s->table;
		assert_int_equal(o.t->device_open(o.s->inst, o.f.call, 0, &o.dev), PCTL_OK);
	}
	/* The third death in a row is one too many, also for the next process. */
	assert_int_equal(pctl_backend_instance_open(o.f.r, "fake", NULL, 0, o.f.call, &o.s),
			 PCTL_E_PLUGIN);
	fixture_open(&o.f, 5000);
	assert_int_equal(pctl_registry_at(o.f.r, 0)->state, PCTL_PLUGIN_IS_QUARANTINED);
	assert_non_null(strstr(pctl_registry_at(o.f.r, 0)->why, "SIGILL"));
	assert_int_equal(pctl_quarantine_release(o.f.r, "fake", NULL, o.f.call, &i), PCTL_OK);
	assert_int_equal(i, 1);
	fixture_open(&o.f, 5000);
	assert_int_equal(pctl_registry_at(o.f.r, 0)->state, PCTL_PLUGIN_USABLE);
	fixture_end(&o.f);
}

static void session__a_hang_is_ended(void **state)
{
	open_device o;
	pctl_list *l;

	(void)state;
	open_fake(&o, "hang_wait", 0);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_OK);
	assert_int_equal(run(&o, l, 1, 1000000), PCTL_E_DEVICE_LOST);
	assert_true(has_code(&o.f, PC3104_WORKER_SILENT));
	o.t->list_destroy(o.dev, l);
	close_fake(&o);
}

static uint32_t answer_yes(void *ctx)
{
	return *(uint32_t *)ctx;
}

static void session__a_cancel_reaches_the_backend(void **state)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint32_t yes = 1;
	uint64_t ticket;
	open_device o;
	pctl_list *l;

	(void)state;
	open_fake(&o, "slow_wait", 0);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_OK);
	/* By the cancel slot, as another thread would call it. */
	assert_int_equal(o.t->submit(o.dev, o.f.call, l, 1, &ticket), PCTL_OK);
	o.t->cancel(o.dev, ticket);
	assert_int_equal(o.t->wait(o.dev, o.f.call, ticket, UINT64_MAX, &c), PCTL_E_CANCELLED);
	/* By the cancel test of the call. */
	assert_int_equal(o.t->submit(o.dev, o.f.call, l, 1, &ticket), PCTL_OK);
	{
		pctl_call call = *o.f.call;

		call.ctx = &yes;
		call.diag = NULL;
		call.cancelled = answer_yes;
		assert_int_equal(o.t->wait(o.dev, &call, ticket, UINT64_MAX, &c), PCTL_E_CANCELLED);
	}
	/* And a timeout is not a failure. */
	assert_int_equal(run(&o, l, 1, 2000000), PCTL_E_TIMEOUT);
	assert_null(pctl_backend_instance_lost(o.s));
	o.t->list_destroy(o.dev, l);
	close_fake(&o);
}

static void session__a_driver_may_work_inside_submit(void **state)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint32_t yes = 1;
	uint64_t ticket;
	pctl_call call;
	open_device o;
	pctl_list *l;

	(void)state;
	open_fake(&o, "slow_submit", 0);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_OK);
	/* Longer than the timeout and the grace together. */
	assert_int_equal(run(&o, l, 1, 1000000), PCTL_OK);
	call = *o.f.call;
	call.ctx = &yes;
	call.diag = NULL;
	call.cancelled = answer_yes;
	assert_int_equal(o.t->submit(o.dev, &call, l, 1, &ticket), PCTL_OK);
	assert_int_equal(o.t->wait(o.dev, &call, ticket, UINT64_MAX, &c), PCTL_E_CANCELLED);
	assert_null(pctl_backend_instance_lost(o.s));
	o.t->list_destroy(o.dev, l);
	close_fake(&o);
}

static void session__work_given_up_is_no_strike(void **state)
{
	open_device o;
	uint64_t ticket;
	pctl_list *l;

	(void)state;
	open_fake(&o, "hang_close", 0);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_OK);
	assert_int_equal(o.t->submit(o.dev, o.f.call, l, 1, &ticket), PCTL_OK);
	o.t->list_destroy(o.dev, l);
	o.t->device_close(o.dev);
	assert_non_null(pctl_backend_instance_lost(o.s));
	pctl_backend_instance_close(o.s, o.f.call);
	assert_int_equal(pctl_quarantine_count(o.f.r), 0);
	/* Without work under way the same hang is the backend's fault. */
	assert_int_equal(pctl_backend_instance_open(o.f.r, "fake", NULL, 0, o.f.call, &o.s),
			 PCTL_OK);
	assert_int_equal(o.s->table->device_open(o.s->inst, o.f.call, 0, &o.dev), PCTL_OK);
	o.s->table->device_close(o.dev);
	pctl_backend_instance_close(o.s, o.f.call);
	assert_int_equal(pctl_quarantine_count(o.f.r), 1);
	fixture_end(&o.f);
}

static void session__lies_are_not_believed(void **state)
{
	pctl_support sup = {.head = PCTL_HEAD(pctl_support)};
	open_device o;
	pctl_list *l;

	(void)state;
	open_fake(&o, "mute_supports", 0);
	assert_int_equal(o.t->supports(o.dev, o.f.call, (const uint8_t *)"x", 1, &sup),
			 PCTL_E_PLUGIN);
	assert_true(has_code(&o.f, PC3108_WORKER_CONTRACT));
	close_fake(&o);
	open_fake(&o, "unknown_status", 0);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_E_PLUGIN);
	assert_true(has_code(&o.f, PC3108_WORKER_CONTRACT));
	o.t->list_destroy(o.dev, l);
	close_fake(&o);
}

static void devices_fail(const char *library)
{
	const pctl_device_entry *e;
	pctl_devices *d;
	char path[256];
	fixture f;

	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/%s.so", FAKES, library);
	fixture_manifest(&f, "fake", path, "");
	snprintf(path, sizeof(path), "%s/fake.so", FAKES);
	fixture_manifest(&f, "other", path, "");
	fixture_open(&f, 5000);
	assert_int_equal(pctl_devices_list(f.r, "fake", 0, f.call, &d), PCTL_OK);
	assert_int_equal(pctl_devices_count(d), 1);
	e = pctl_devices_at(d, 0);
	assert_int_equal(e->state, PCTL_DEVICE_UNUSABLE);
	assert_non_null(strstr(e->cause, "SIG"));
	pctl_devices_destroy(d);
	assert_int_equal(pctl_devices_find(f.r, "fake:0", 0, f.call, &d, &e), PCTL_E_DEVICE_LOST);
	assert_null(d);
	assert_true(has_code(&f, PC3103_WORKER_DIED));
	fixture_end(&f);
}

static void session__a_driver_that_dies_is_listed_with_its_cause(void **state)
{
	(void)state;
	devices_fail("crash_devices");
}

static int count_processes_of(const char *needle)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (proc && (e = readdir(proc))) {
		char path[300], text[512];
		size_t k, i;
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
		text[k] = 0;
		if (strstr(text, needle))
			n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

static void session__what_a_driver_started_dies_with_it(void **state)
{
	int i;

	(void)state;
	devices_fail("leave_child");
	/* The kill is sent before the session closes; the kernel may take a moment. */
	for (i = 0; i < 6000 && count_processes_of("leave_child"); i++)
		usleep(10000);
	assert_int_equal(count_processes_of("leave_child"), 0);
}

static void session__devices_are_found_by_name_and_remembered(void **state)
{
	const pctl_device_entry *e;
	pctl_devices *d;
	fixture f;

	(void)state;
	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/fake.so", "");
	fixture_open(&f, 5000);
	assert_int_equal(pctl_devices_find(f.r, "fake:dev", 0, f.call, &d, &e), PCTL_OK);
	assert_string_equal(e->selector, "fake:0");
	assert_int_equal(e->caps.max_bindings, 8);
	pctl_devices_destroy(d);
	/* A second list starts no worker: without the program for one, memory still answers. */
	{
		const char *dirs[] = {f.dir};
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = f.home,
						 .worker = "/nonexistent"};

		pctl_registry_close(f.r);
		assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
	}
	assert_null(pctl_registry_worker(f.r));
	assert_int_equal(pctl_devices_find(f.r, "fake:PLAIN memory", 0, f.call, &d, &e), PCTL_OK);
	assert_string_equal(e->name, "Fake Device");
	assert_int_equal(e->caps.max_bindings, 8);
	pctl_devices_destroy(d);
	assert_int_equal(pctl_devices_find(f.r, "fake:1", 0, f.call, &d, &e), PCTL_E_UNSUPPORTED);
	assert_true(has_code(&f, PC3231_DEVICE_UNKNOWN));
	assert_int_equal(pctl_devices_find(f.r, "fkae", 0, f.call, &d, &e), PCTL_E_UNSUPPORTED);
	assert_true(has_code(&f, PC3230_BACKEND_UNKNOWN));
	fixture_end(&f);
}

/* A host that is killed leaves no worker: the child here is the host. */
static void session__a_worker_does_not_outlive_the_host(void **state)
{
	pid_t host;
	fixture f;
	int i;

	(void)state;
	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/slow_wait.so", "");
	fixture_open(&f, 5000);
	host = fork();
	if (host == 0) {
		pctl_backend_instance *s;

		if (pctl_backend_instance_open(f.r, "fake", NULL, 0, NULL, &s))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_true(host > 0);
	assert_int_equal(waitpid(host, &i, 0), host);
	assert_true(WIFSIGNALED(i));
	for (i = 0; i < 6000 && count_processes_of("slow_wait"); i++)
		usleep(10000);
	assert_int_equal(count_processes_of("slow_wait"), 0);
	fixture_end(&f);
}

/* Microseconds of an empty submit and wait, here and through a worker; printed, never judged. */
static double measure(uint32_t flags)
{
	const uint32_t n = 2000;
	open_device o;
	uint64_t begin;
	pctl_list *l;
	double us;
	uint32_t i;

	open_fake(&o, "fake", flags);
	assert_int_equal(o.t->list_begin(o.dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_OK);
	begin = pctl_clock_ns();
	for (i = 0; i < n; i++)
		assert_int_equal(run(&o, l, 1, 60000000000u), PCTL_OK);
	us = (double)(pctl_clock_ns() - begin) / 1000.0 / n;
	o.t->list_destroy(o.dev, l);
	close_fake(&o);
	return us;
}

static void session__cost_of_a_submit(void **state)
{
	(void)state;
	print_message("submit and wait: %.2f us direct, %.2f us through a worker\n",
		      measure(PCTL_INSTANCE_IN_PROCESS), measure(0));
}

PCTL_TESTS_MAIN(PCTL_TEST(session__a_worker_behaves_as_the_backend_does),
		PCTL_TEST(session__and_so_does_the_host),
		PCTL_TEST(session__a_crash_in_submit_is_a_lost_device_with_its_cause),
		PCTL_TEST(session__a_hang_is_ended),
		PCTL_TEST(session__a_cancel_reaches_the_backend),
		PCTL_TEST(session__a_driver_may_work_inside_submit),
		PCTL_TEST(session__work_given_up_is_no_strike),
		PCTL_TEST(session__lies_are_not_believed),
		PCTL_TEST(session__a_driver_that_dies_is_listed_with_its_cause),
		PCTL_TEST(session__what_a_driver_started_dies_with_it),
		PCTL_TEST(session__devices_are_found_by_name_and_remembered),
		PCTL_TEST(session__a_worker_does_not_outlive_the_host),
		PCTL_TEST(session__cost_of_a_submit))
