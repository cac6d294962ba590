/* Opening the devices and running one case on them. */
#include "rig.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"

#define TIMEOUT_MS 60000u
#define GPU_EVERY 1u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* TIMEOUT_MS is by the clock, so it is longer by twice as many times as the machine has more work than processors that this process
 * may use, and three times as long where it has none: load comes without a warning. */
static uint32_t patient_ms(void)
{
	cpu_set_t may;
	double load, times = 0;

	if (getloadavg(&load, 1) == 1 && sched_getaffinity(0, sizeof(may), &may) == 0)
		times = 2 * load / CPU_COUNT(&may);
	return (uint32_t)(TIMEOUT_MS * (times < 3 ? 3 : times > 60 ? 60 : times));
}

const char *rig_kind_name(uint32_t kind)
{
	static const char *const names[] = {"same",    "header",  "refused", "judged", "error",
					    "differs", "finding", "gas",     "twin"};

	return names[kind];
}

static pctl_status open_session(rig *r, rig_device *d, const pctl_call *call)
{
	pctl_session_options options = {.index = d->entry->in_driver,
					.device_kind = d->entry->kind,
					.id = d->entry->selector,
					.name = d->name,
					.build_flags = d->build_flags,
					.profiles = r->profiles};
	pctl_status status = pctl_backend_instance_open(r->registry, d->entry->backend,
							d->entry->env, 0, call, &d->backend);

	if (status != PCTL_OK)
		return status;
	options.backend = d->backend;
	status = pctl_session_open(&options, call, &d->session);
	if (status != PCTL_OK) {
		pctl_backend_instance_close(d->backend, NULL);
		d->backend = NULL;
	}
	return status;
}

static void close_session(rig_device *d)
{
	pctl_session_close(d->session);
	pctl_backend_instance_close(d->backend, NULL);
	d->session = NULL;
	d->backend = NULL;
}

static pctl_status add_device(rig *r, const pctl_device_entry *e, uint32_t flags, uint32_t every,
			      const pctl_call *call)
{
	rig_device *d = &r->device[r->n_devices];
	char name[600];
	pctl_status status;

	if (r->n_devices == RIG_DEVICES)
		return PCTL_E_LIMIT;
	snprintf(name, sizeof(name), "%s (%s, %s)%s", e->selector, e->name, e->driver,
		 flags ? " sanitizing" : "");
	*d = (rig_device){.entry = e, .name = strdup(name), .build_flags = flags, .every = every};
	status = open_session(r, d, call);
	if (status == PCTL_OK)
		r->n_devices++;
	return status;
}

static pctl_status add_found(rig *r, const char *selector, uint32_t flags, uint32_t every,
			     const pctl_call *call)
{
	const pctl_device_entry *entry;
	pctl_status status =
		pctl_devices_find(r->registry, selector, 0, call, &r->lists[r->n_lists], &entry);

	if (status != PCTL_OK)
		return status;
	r->n_lists++;
	return add_device(r, entry, flags, every, call);
}

static pctl_status add_all(rig *r, const pctl_call *call)
{
	pctl_devices *list;
	pctl_status status = pctl_devices_list(r->registry, NULL, 0, call, &list);

	if (status != PCTL_OK)
		return status;
	r->lists[r->n_lists++] = list;
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		int skip = e->kind == PCTL_DEVICE_REFERENCE || strcmp(e->backend, "null") == 0 ||
			   e->state != PCTL_DEVICE_USABLE;

		if (!skip)
			status = add_device(
				r, e, 0, strcmp(e->backend, "opencl") == 0 ? 3 : GPU_EVERY, call);
	}
	return status;
}

/* On a machine that it was carried to, the repository is where it runs. */
static pctl_status read_schedule(const char *name, const pctl_call *call, pctl_gas_schedule **out)
{
	char *path = pctl_path_join(PIPECTL_SOURCE_DIR, name);
	pctl_status status = PCTL_E_NOMEM;

	if (path != NULL)
		status = pctl_gas_schedule_read(pctl_file_exists(path) ? path : name, call, out);
	free(path);
	return status;
}

static pctl_status open_all(rig *r, const char *home, const char *const *selectors, uint32_t n,
			    const pctl_call *call)
{
	static const char *const schedules[RIG_SCHEDULES] = {
		"conf/gas/cybergraph-0.2.cfg", "conf/gas/structured-2.cfg",
		"conf/gas/structured-3.cfg", "conf/gas/consensus-2.cfg"};
	/* A fuzzer may kill workers often; none of them is to be locked out for it. */
	pctl_registry_options o = {.home = r->home, .strikes = 1000000};
	const pctl_profiles_options p = {.home = home != NULL ? home : r->home};
	pctl_status status = pctl_registry_open(&o, call, &r->registry);

	if (status == PCTL_OK)
		status = pctl_profiles_open(&p, call, &r->profiles);

	for (uint32_t i = 0; status == PCTL_OK && i < RIG_SCHEDULES; i++)
		status = read_schedule(schedules[i], call, &r->schedule[i]);
	if (status == PCTL_OK && (r->kernels = pctl_kernels_create(NULL)) == NULL)
		status = PCTL_E_NOMEM;
	if (status == PCTL_OK)
		status = add_found(r, "cpu", 0, 1, call);
	if (status == PCTL_OK)
		status = add_found(r, "cpu", PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT, 1, call);
	if (status == PCTL_OK && n == 0)
		status = add_all(r, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		char text[200];
		const char *slash = strchr(selectors[i], '/');
		uint32_t every = slash == NULL ? 1 : (uint32_t)strtoul(slash + 1, NULL, 10);

		snprintf(text, sizeof(text), "%.*s",
			 slash == NULL ? 199 : (int)(slash - selectors[i]), selectors[i]);
		if (strcmp(text, "cpu") == 0)
			continue;
		status = add_found(r, text, 0, every == 0 ? 1 : every, call);
		if (status == PCTL_OK)
			r->device[r->n_devices - 1].may_crash = strchr(selectors[i], '~') != NULL;
	}
	return status;
}

int rig_open(rig *r, const char *profiles, const char *const *selectors, uint32_t n)
{
	char home[] = "/tmp/pipectl-differential-XXXXXX";
	pctl_diag_list *diagnostics = pctl_diag_list_create();
	pctl_status status = PCTL_E_NOMEM;

	memset(r, 0, sizeof(*r));
	if (mkdtemp(home) != NULL && (r->home = strdup(home)) != NULL && diagnostics != NULL)
		status = open_all(r, profiles, selectors, n, pctl_diag_list_call(diagnostics));
	if (status != PCTL_OK && diagnostics != NULL)
		pctl_diag_render_text(diagnostics, stderr, 0);
	pctl_diag_list_destroy(diagnostics);
	return status == PCTL_OK;
}

void rig_close(rig *r)
{
	char command[200];

	for (uint32_t i = 0; i < r->n_devices; i++) {
		close_session(&r->device[i]);
		free((void *)(uintptr_t)r->device[i].name);
	}
	for (uint32_t i = 0; i < r->n_lists; i++)
		pctl_devices_destroy(r->lists[i]);
	pctl_kernels_destroy(r->kernels);
	pctl_profiles_close(r->profiles);
	pctl_registry_close(r->registry);
	for (uint32_t i = 0; i < RIG_SCHEDULES; i++)
		pctl_gas_schedule_destroy(r->schedule[i]);
	if (r->home != NULL) {
		snprintf(command, sizeof(command), "rm -rf '%s'", r->home);
		if (system(command) != 0)
			fprintf(stderr, "%s was left behind\n", r->home);
	}
	free(r->home);
}

int rig_fresh(rig *r)
{
	for (uint32_t i = 0; i < r->n_devices; i++)
		close_session(&r->device[i]);
	pctl_kernels_destroy(r->kernels);
	r->kernels = pctl_kernels_create(NULL);
	return r->kernels != NULL;
}

uint32_t rig_mask(const rig *r, uint64_t i)
{
	uint32_t mask = 3;

	for (uint32_t d = 2; d < r->n_devices; d++) {
		/* devices of one share take turns */
		if ((i + d) % r->device[d].every == 0)
			mask |= 1u << d;
	}
	return mask;
}

/* ---- one case ---------------------------------------------------------------------------------
 */

struct running {
	rig *r;
	const diff_case *c;
	const pctl_kernel_module *unit;
	pctl_job_plan *plan;
	pctl_diag_list *diagnostics;
	uint32_t told; /* diagnostics of devices before this one */
	const pctl_call *call;
	uint32_t n_out;
	uint32_t out_binding[CASE_DISPATCHES * CASE_BINDINGS]; /* of each output */
	uint32_t out_dispatch[CASE_DISPATCHES * CASE_BINDINGS];
	uint8_t *expected[CASE_DISPATCHES * CASE_BINDINGS];
	uint64_t out_bytes[CASE_DISPATCHES * CASE_BINDINGS];
	rig_verdict *verdict, gas; /* of gas last: it does not hide what a device gave */
};

__attribute__((format(printf, 4, 5))) static void blame(struct running *x, uint32_t kind,
							uint32_t device, const char *format, ...)
{
	rig_verdict *v = kind == RIG_GAS ? &x->gas : x->verdict;
	va_list args;

	if (v->kind != RIG_SAME)
		return;
	v->kind = kind;
	v->device = device;
	va_start(args, format);
	vsnprintf(v->message, sizeof(v->message), format, args);
	va_end(args);
}

static const pctl_diag *first_error(const struct running *x)
{
	for (uint32_t i = x->told; i < pctl_diag_list_count(x->diagnostics); i++) {
		const pctl_diag *d = pctl_diag_list_at(x->diagnostics, i);

		if (d->severity == PCTL_SEVERITY_ERROR)
			return d;
	}
	return NULL;
}

static void blame_diagnostics(struct running *x, uint32_t kind, uint32_t device)
{
	const pctl_diag *d = first_error(x);

	/* Every bad access that the sanitizing reference saw is an error of its own there. */
	if (d != NULL && (d->code == PC5220_RACE || d->code == PC5221_DIVERGENT_BARRIER))
		kind = RIG_FINDING;
	if (d == NULL)
		blame(x, kind, device, "failed without a diagnostic");
	else
		blame(x, kind, device, "PC%04u %s (%u:%u)", d->code, d->message, d->pos.line,
		      d->pos.column);
	x->verdict->code = d == NULL ? 0 : d->code;
}

/* A program without a result on this device that is no failure of the run: the record says which and why. */
static void tell(struct running *x, const rig_device *d, const char *what)
{
	const pctl_diag *e = first_error(x);

	printf("%s %s on %s: PC%04u %s\n", what, x->c->name, d->name, e == NULL ? 0 : e->code,
	       e == NULL ? "without a word" : e->message);
	fflush(stdout);
	x->told = pctl_diag_list_count(x->diagnostics);
}

static const pctl_var *variable(const pctl_program *p, uint32_t group, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if ((v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
		    v->group == group && v->binding == binding)
			return v;
	}
	return NULL;
}

static int is_written(const pctl_var *v)
{
	return v != NULL && v->space == PCTL_SPACE_STORAGE && v->access & PCTL_ACCESS_WRITE;
}

/* Outputs come first among the plan's buffers, then the bytes everything starts with. */
static pctl_status plan_case(struct running *x)
{
	const diff_case *c = x->c;
	const pctl_program *p = x->unit->program;
	pctl_status status = pctl_job_plan_create(c->name, x->call, &x->plan);
	uint32_t number, next_out = 0;

	for (uint32_t d = 0; d < c->n_dispatches; d++) {
		for (uint32_t b = 0; status == PCTL_OK && b < c->n_bindings; b++) {
			if (!is_written(variable(p, c->binding[b].group, c->binding[b].binding)))
				continue;
			status =
				pctl_job_plan_buffer(x->plan, PCTL_PLAN_OUTPUT,
						     c->binding[b].n_bytes, NULL, x->call, &number);
			x->out_dispatch[x->n_out] = d;
			x->out_binding[x->n_out] = b;
			x->out_bytes[x->n_out++] = c->binding[b].n_bytes;
		}
	}
	for (uint32_t d = 0; d < c->n_dispatches; d++) {
		pctl_plan_binding bindings[CASE_BINDINGS];

		for (uint32_t b = 0; status == PCTL_OK && b < c->n_bindings; b++) {
			uint64_t n = c->binding[b].n_bytes;
			uint8_t *bytes = calloc(n + 1, 1);

			diff_case_fill(c, d, b, bytes);
			status = pctl_job_plan_buffer(x->plan, PCTL_PLAN_PARAMS, n, bytes, x->call,
						      &number);
			free(bytes);
			bindings[b] = (pctl_plan_binding){.group = c->binding[b].group,
							  .binding = c->binding[b].binding,
							  .buffer = number,
							  .n_bytes = n};
			if (!is_written(variable(p, c->binding[b].group, c->binding[b].binding)))
				continue;
			if (status == PCTL_OK && n != 0)
				status = pctl_job_plan_copy(x->plan, number, next_out, x->call);
			bindings[b].buffer = next_out++;
		}
		if (status == PCTL_OK)
			status = pctl_job_plan_kernel(x->plan, x->unit, bindings, c->n_bindings,
						      c->dispatch[d].groups, x->call);
	}
	return status;
}

/* 1 when they differ. */
static uint32_t compare(struct running *x, uint32_t device, uint32_t out, const uint8_t *got)
{
	const uint8_t *want = x->expected[out];
	uint32_t b = x->out_binding[out], d = x->out_dispatch[out];

	for (uint64_t i = 0; i < x->out_bytes[out]; i += 4) {
		if (memcmp(want + i, got + i, 4) == 0)
			continue;
		blame(x, RIG_DIFFERS, device,
		      "dispatch %" PRIu32 " (inputs %" PRIu64 "), binding %" PRIu32 ":%" PRIu32
		      ", word %" PRIu64 ": %02x%02x%02x%02x, the reference has %02x%02x%02x%02x",
		      d, x->c->dispatch[d].seed, x->c->binding[b].group, x->c->binding[b].binding,
		      i / 4, got[i + 3], got[i + 2], got[i + 1], got[i], want[i + 3], want[i + 2],
		      want[i + 1], want[i]);
		return 1;
	}
	return 0;
}

/* The reference counts; of a program's counts the first that is wrong is told. */
static void examine(struct running *x, uint32_t device, const pctl_counts *counts)
{
	char text[RIG_TEXT];

	if (rig_gas(x->r, x->unit, x->c, counts, text))
		blame(x, RIG_GAS, device, "%s", text);
}

/* The device says that the program is too large for it. */
static int cannot(const struct running *x, pctl_status status)
{
	const pctl_diag *d = first_error(x);

	return status == PCTL_E_UNSUPPORTED ||
	       (status != PCTL_OK && d != NULL && d->code == PC5202_LIMIT);
}

static void run_device(struct running *x, uint32_t device)
{
	rig_device *d = &x->r->device[device];
	pctl_value *out[CASE_DISPATCHES * CASE_BINDINGS];
	pctl_job_run run = {.plan = x->plan,
			    .repeat = 1,
			    .out_bytes = x->out_bytes,
			    .timeout_ms = patient_ms()};
	uint64_t began = now_ns();
	pctl_job_stats stats = {0};
	pctl_status status = PCTL_OK;
	uint32_t differs = 0;

	if (d->session == NULL)
		status = open_session(x->r, d, x->call);
	if (status == PCTL_OK)
		status = pctl_session_qualify(d->session, x->plan, x->call);
	if (status == PCTL_OK)
		status = pctl_job_execute(d->session, &run, NULL, x->call, out, &stats);
	for (uint32_t i = 0; status == PCTL_OK && i < x->n_out; i++) {
		uint8_t *bytes = NULL;

		status = pctl_value_fetch(out[i], x->call, &bytes);
		if (status == PCTL_OK && device == 0) {
			x->expected[i] = bytes;
			continue;
		}
		if (status == PCTL_OK && x->r->plant && device + 1 == x->r->n_devices &&
		    x->out_bytes[i] != 0)
			bytes[x->out_bytes[i] / 2] ^= 0x10;
		if (status == PCTL_OK)
			differs |= compare(x, device, i, bytes);
		free(bytes);
	}
	if (status == PCTL_E_DEVICE_LOST && d->may_crash) {
		d->crashed++;
		tell(x, d, "CRASHED");
	} else if (device > 1 && cannot(x, status)) {
		d->refused++;
		tell(x, d, "REFUSED");
	} else if (status != PCTL_OK) {
		d->failed++;
		blame_diagnostics(x, RIG_ERROR, device);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < x->n_out; i++)
		pctl_value_release(out[i]);
	if (status == PCTL_OK && d->build_flags != 0)
		examine(x, device, &stats.counts);
	d->executed += status == PCTL_OK;
	d->differed += status == PCTL_OK && differs;
	d->ns += now_ns() - began;
	if (status == PCTL_E_DEVICE_LOST)
		close_session(d);
}

static void judge(struct running *x)
{
	const pctl_analysis *a = x->unit->analysis;

	if (a->race == PCTL_PROOF_REFUTED)
		blame(x, RIG_JUDGED, 0, "the analysis says it has a race");
	if (a->order_dependent)
		blame(x, RIG_JUDGED, 0, "the analysis says its atomics depend on order");
}

/* The analysis gave up on a program that is too large for it. */
static int is_unproven(const struct running *x)
{
	const pctl_diag *d = first_error(x);

	return d != NULL && d->code == PC2051_ANALYSE_BARRIER && strstr(d->message, "too large");
}

static pctl_status compile(struct running *x)
{
	const diff_case *c = x->c;
	const pctl_kernel_source source = {.name = c->name,
					   .text = c->text,
					   .n_text = strlen(c->text),
					   .overrides = c->override,
					   .n_overrides = c->n_overrides};

	x->diagnostics = pctl_diag_list_create();
	x->call = pctl_diag_list_call(x->diagnostics);
	return pctl_kernels_get(x->r->kernels, &source, x->call, &x->unit);
}

/* Proofs of the text are no weaker than those of its twin. */
static void compare_proofs(struct running *x, const pctl_analysis *a, const pctl_analysis *twin)
{
	static const char *const words[] = {"unproven", "proven", "refuted"};

	if (a->race != twin->race && a->race != PCTL_PROOF_PROVEN)
		blame(x, RIG_TWIN, 0, "freedom of races is %s, that of its twin %s", words[a->race],
		      words[twin->race]);
	if (a->order_dependent != twin->order_dependent ||
	    a->barriers_uniform != twin->barriers_uniform)
		blame(x, RIG_TWIN, 0, "order %u and barriers %s, its twin %u and %s",
		      a->order_dependent, words[a->barriers_uniform], twin->order_dependent,
		      words[twin->barriers_uniform]);
}

/* Two texts that mean the same, on the reference: the other one's bytes are what is expected of this one. */
static void run_twin(struct running *x)
{
	rig_device counted = x->r->device[1];
	rig_verdict verdict = {0};
	diff_case c = *x->c;
	struct running y = {.r = x->r, .c = &c, .verdict = &verdict};
	uint32_t priceless[RIG_PRICELESS]; /* of programs, and it is one with this */

	c.text = c.twin;
	memcpy(priceless, x->r->n_priceless, sizeof(priceless));
	memcpy(y.expected, x->expected, sizeof(y.expected));
	if (compile(&y) != PCTL_OK || plan_case(&y) != PCTL_OK) {
		blame_diagnostics(&y, RIG_TWIN, 0);
	} else {
		compare_proofs(&y, x->unit->analysis, y.unit->analysis);
		run_device(&y, 1);
	}
	if (verdict.kind != RIG_SAME)
		blame(x, RIG_TWIN, 1, "its twin: %s: %s", rig_kind_name(verdict.kind),
		      verdict.message);
	counted.session = x->r->device[1].session;
	counted.backend = x->r->device[1].backend;
	x->r->device[1] = counted;
	memcpy(x->r->n_priceless, priceless, sizeof(priceless));
	x->r->n_twins++;
	pctl_job_plan_destroy(y.plan);
	pctl_diag_list_destroy(y.diagnostics);
}

void rig_run(rig *r, const diff_case *c, uint32_t mask, rig_verdict *out)
{
	struct running x = {.r = r, .c = c, .verdict = out};

	memset(out, 0, sizeof(*out));
	if (compile(&x) != PCTL_OK) {
		if (r->large && is_unproven(&x))
			r->n_unproven++;
		else
			blame_diagnostics(&x, RIG_REFUSED, 0);
		goto out;
	}
	judge(&x);
	if (plan_case(&x) != PCTL_OK) {
		blame_diagnostics(&x, RIG_HEADER, 0);
		goto out;
	}
	for (uint32_t i = 0; i < r->n_devices; i++) {
		if (mask & 1u << i && (i == 0 || out->kind != RIG_ERROR || out->device != 0))
			run_device(&x, i);
	}
	if (c->twin != NULL && out->kind == RIG_SAME)
		run_twin(&x);
	if (out->kind == RIG_SAME)
		*out = x.gas;
	r->n_cases++;
out:
	for (uint32_t i = 0; i < x.n_out; i++)
		free(x.expected[i]);
	pctl_job_plan_destroy(x.plan);
	pctl_diag_list_destroy(x.diagnostics);
}
