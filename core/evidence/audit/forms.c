/* Implementation of forms.h: rows are noted while a device runs, and measured afterwards in sessions of their own. */
#include "evidence/audit/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/value.h"
#include "runtime/graph/type.h"
#include "foundation/base/clock.h"

#define N_OPS (PCTL_NATIVE_FIRST - PCTL_STRICT_FIRST)
#define ELEMENTS (1u << 20)
#define RUNS 4u /* the first warms up */
#define RUN_MS 20000u

static const uint8_t scalars[] = {PCTL_SCALAR_F16, PCTL_SCALAR_BF16, PCTL_SCALAR_F32};
#define N_SCALARS (sizeof(scalars) / sizeof(scalars[0]))

/* ---- which forms -------------------------------------------------------------------------------- */

static const char *form_name(uint32_t kind)
{
	static const char *const names[] = {"none", "native", "guarded", "f64", "int"};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "none";
}

/* Operations and scalars that occur, over all functions of a program. */
static void walk(const pctl_program *p, uint8_t seen[N_OPS][N_SCALARS])
{
	for (uint32_t f = 0; f < p->n_functions; f++) {
		const pctl_inst *insts = p->insts + p->functions[f].first_inst;

		for (uint32_t i = 0; i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &insts[i];

			if (!PCTL_IS_STRICT(in->op) ||
			    pctl_op_get(in->op)->kind != PCTL_OPKIND_elem ||
			    in->op == PCTL_OP_FNEG || in->op == PCTL_OP_FABS || in->n_args == 0)
				continue;
			for (uint32_t s = 0; s < N_SCALARS; s++) {
				if (p->types[insts[pctl_arg(p, in, 0)].type].scalar == scalars[s])
					seen[in->op - PCTL_STRICT_FIRST][s] = 1;
			}
		}
	}
}

static int order(const pctl_audit_form *a, const pctl_audit_form *b)
{
	int sign = (a->device > b->device) - (a->device < b->device);

	if (sign == 0)
		sign = strcmp(a->op, b->op);
	return sign != 0 ? sign : strcmp(a->type, b->type);
}

static pctl_status add(pctl_audit_result *r, const pctl_audit_form *form, const pctl_call *call)
{
	pctl_audit_form *grown;
	uint32_t at = 0;

	while (at < r->n_forms && order(&r->forms[at], form) < 0)
		at++;
	if (at < r->n_forms && order(&r->forms[at], form) == 0)
		return PCTL_OK;
	grown = pctl_arena_array(r->arena, r->n_forms + 1u, sizeof(*grown));
	if (grown == NULL)
		return pctl_no_memory(call, "an audit");
	if (r->n_forms != 0) {
		memcpy(grown, r->forms, at * sizeof(*grown));
		memcpy(grown + at + 1, r->forms + at, (r->n_forms - at) * sizeof(*grown));
	}
	grown[at] = *form;
	r->forms = grown;
	r->n_forms++;
	return PCTL_OK;
}

pctl_status pctl_forms_note(pctl_audit_result *r, uint32_t device, const pctl_job_plan *plan,
			    const pctl_session *s, const pctl_call *call)
{
	const pctl_profile_record *profile = pctl_session_profile_known(s);
	uint8_t seen[N_OPS][N_SCALARS] = {{0}};
	pctl_status status = PCTL_OK;

	if (profile == NULL || pctl_session_kind(s) == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			walk(plan->steps[i].unit->program, seen);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < N_OPS * N_SCALARS; i++) {
		const uint16_t op = (uint16_t)(PCTL_STRICT_FIRST + i / N_SCALARS);
		const uint8_t scalar = scalars[i % N_SCALARS];
		pctl_audit_form form = {.device = device};
		uint32_t kind = PCTL_FORM_NONE;

		if (!seen[i / N_SCALARS][i % N_SCALARS])
			continue;
		(void)pctl_legal_form(&profile->profile, pctl_session_caps(s), op, scalar, &kind);
		form.op = pctl_op_get(op)->name;
		form.type = pctl_dtype_name(scalar);
		form.form = form_name(kind);
		status = add(r, &form, call);
	}
	return status;
}

/* ---- what they cost ----------------------------------------------------------------------------- */

typedef struct comparison {
	const pctl_run_options *o;
	const pctl_call *call; /* silent: what cannot be run is left at 0 */
	const pctl_device_entry *entry;
	pctl_kernels *kernels;
	pctl_backend_instance *backend[2]; /* strict, native */
	pctl_session *session[2];
} comparison;

static pctl_status open_side(comparison *b, uint32_t side)
{
	const uint32_t flags = b->o->flags & PCTL_RUN_IN_PROCESS ? PCTL_INSTANCE_IN_PROCESS : 0;
	pctl_session_options options = {.index = b->entry->in_driver,
					.device_kind = b->entry->kind,
					.name = b->entry->selector,
					.id = b->entry->selector,
					.cache_dir = b->o->cache_dir,
					.profiles = b->o->profiles,
					.legal_flags = side == 1 ? PCTL_LEGAL_NATIVE : 0};
	pctl_status status =
		pctl_backend_instance_open(b->o->registry, b->entry->backend, b->entry->env, flags,
					   b->call, &b->backend[side]);

	if (status != PCTL_OK)
		return status;
	options.backend = b->backend[side];
	return pctl_session_open(&options, b->call, &b->session[side]);
}

static void close_comparison(comparison *b)
{
	for (uint32_t side = 0; side < 2; side++) {
		pctl_session_close(b->session[side]);
		pctl_backend_instance_close(b->backend[side], NULL);
	}
	pctl_kernels_destroy(b->kernels);
}

/* Values from 1/4 to 1 with mixed bits: no operation meets its special cases there. */
static void *make_data(uint32_t scalar, uint32_t port)
{
	const uint32_t width = pctl_dtype_bytes(scalar),
		       m = scalar == PCTL_SCALAR_F16	? 10
			   : scalar == PCTL_SCALAR_BF16 ? 7
							: 23,
		       one = scalar == PCTL_SCALAR_F16 ? 15 : 127;
	uint8_t *data = malloc((size_t)ELEMENTS * width);
	uint64_t seed = 0x9e3779b97f4a7c15u * (port + 1);

	for (uint32_t i = 0; data != NULL && i < ELEMENTS; i++) {
		uint32_t bits;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bits = (one - 2 + (uint32_t)(seed >> 63)) << m |
		       (uint32_t)(seed >> 33 & ((1u << m) - 1));
		memcpy(data + (size_t)i * width, &bits, width);
	}
	return data;
}

static pctl_status make_value(comparison *b, uint32_t side, uint32_t scalar, uint32_t port,
			      pctl_value **out)
{
	const pctl_backend *table = pctl_session_table(b->session[side]);
	pctl_device *dev = pctl_session_device(b->session[side]);
	const uint64_t n = (uint64_t)ELEMENTS * pctl_dtype_bytes(scalar);
	void *data = make_data(scalar, port);
	pctl_buffer *buffer = NULL;
	pctl_status status = data == NULL ? PCTL_E_NOMEM : PCTL_OK;

	if (status == PCTL_OK)
		status = table->buffer_create(dev, b->call, n,
					      PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &buffer);
	if (status == PCTL_OK)
		status = table->buffer_write(dev, b->call, buffer, 0, data, n);
	if (status == PCTL_OK) {
		*out = pctl_value_from_buffer(b->session[side], buffer, n);
		status = *out == NULL ? PCTL_E_NOMEM : PCTL_OK;
	}
	if (status != PCTL_OK && buffer != NULL)
		table->buffer_destroy(dev, buffer);
	free(data);
	return status;
}

static int by_time(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median nanoseconds per million elements; 0 when it cannot be run. */
static double time_plan(comparison *b, uint32_t side, const pctl_job_plan *plan, uint32_t scalar,
			uint64_t out_bytes)
{
	const pctl_job_run run = {
		.plan = plan, .repeat = 1, .out_bytes = &out_bytes, .timeout_ms = RUN_MS};
	pctl_value *in[PCTL_PORTS_MAX] = {NULL}, *out[PCTL_PORTS_MAX] = {NULL};
	double times[RUNS] = {0};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_in; i++)
		status = make_value(b, side, scalar, i, &in[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < RUNS; i++) {
		pctl_job_stats stats = {0};

		status = pctl_job_execute(b->session[side], &run, in, b->call, out, &stats);
		times[i] = (double)(stats.device_ns != 0 ? stats.device_ns : stats.wall_ns);
		for (uint32_t k = 0; k < plan->n_out; k++) {
			pctl_value_release(out[k]);
			out[k] = NULL;
		}
	}
	for (uint32_t i = 0; i < plan->n_in; i++)
		pctl_value_release(in[i]);
	if (status != PCTL_OK)
		return 0;
	qsort(times + 1, RUNS - 1, sizeof(*times), by_time);
	return times[1 + (RUNS - 1) / 2] * 1e6 / (double)ELEMENTS;
}

/* "FADD" is ieee.add. */
static pctl_status find_op(const comparison *b, const pctl_audit_form *f, pctl_op_ref *out)
{
	char name[64] = "ieee.";
	size_t n = strlen(name);

	for (const char *at = f->op + 1; *at != '\0' && n + 1 < sizeof(name); at++)
		name[n++] = (char)tolower((unsigned char)*at);
	name[n] = '\0';
	return pctl_op_find(b->o->ops, name, 0, 0, NULL, b->call, out);
}

static void measure(comparison *b, pctl_audit_form *f)
{
	const uint32_t scalar = pctl_dtype_find(f->type, strlen(f->type));
	pctl_tensor_type in[PCTL_PORTS_MAX];
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .in = in};
	pctl_job_plan *plan = NULL;
	pctl_op_ref op;
	uint64_t out_bytes = 0;
	double *const times[2] = {&f->strict_ns, &f->native_ns};
	pctl_status status = find_op(b, f, &op);

	if (status != PCTL_OK || op.desc->n_out != 1 || op.desc->n_attr != 0)
		return;
	for (uint32_t i = 0; i < op.desc->n_in; i++)
		in[i] = (pctl_tensor_type){scalar, 1, {ELEMENTS}};
	q.op = op.index;
	q.n_in = op.desc->n_in;
	status = op.lib->infer(op.inst, b->call, &q, &result);
	for (uint32_t side = 0; status == PCTL_OK && side < 2; side++) {
		const pctl_planner planner = {b->o->ops, b->kernels,
					      pctl_session_plan_caps(b->session[side]), 0};

		status = pctl_job_plan_op(&planner, "forms", &op, &q, result.out, PCTL_PLAN_RUN,
					  b->call, &plan);
		if (status == PCTL_OK && pctl_type_bytes(&result.out[0], &out_bytes))
			*times[side] = time_plan(b, side, plan, scalar, out_bytes);
		pctl_job_plan_destroy(plan);
		plan = NULL;
	}
}

static void measure_device(pctl_audit_result *r, uint32_t device, comparison *b, uint32_t budget_ms)
{
	const uint64_t started = pctl_clock_ms();
	pctl_status status;

	b->kernels = pctl_kernels_create(b->o->ops);
	status = b->kernels == NULL ? PCTL_E_NOMEM : open_side(b, 0);
	if (status == PCTL_OK)
		status = open_side(b, 1);
	/* What is not native first: there is the cost. */
	for (uint32_t i = 0; status == PCTL_OK && i < 2 * r->n_forms; i++) {
		pctl_audit_form *f = &r->forms[i % r->n_forms];
		const uint32_t is_native = strcmp(f->form, "native") == 0;

		if (f->device == device && is_native == i / r->n_forms &&
		    pctl_clock_ms() - started < budget_ms && !pctl_is_cancelled(b->call))
			measure(b, f);
	}
	close_comparison(b);
}

pctl_status pctl_forms_measure(pctl_audit_result *r, const pctl_run_options *o, uint32_t budget_ms,
			       const pctl_call *call)
{
	pctl_call quiet = *call;

	quiet.diag = NULL;
	for (uint32_t i = 0; i < r->n_devices && r->n_forms != 0; i++) {
		comparison b = {.o = o, .call = &quiet};
		pctl_devices *list = NULL;

		/* A device that lies or died says nothing about cost. */
		if (r->devices[i].outcome != PCTL_AUDIT_AGREES)
			continue;
		if (pctl_devices_find(o->registry, r->devices[i].selector, 0, &quiet, &list,
				      &b.entry) == PCTL_OK)
			measure_device(r, i, &b, budget_ms);
		pctl_devices_destroy(list);
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "while forms were measured");
	}
	return PCTL_OK;
}
