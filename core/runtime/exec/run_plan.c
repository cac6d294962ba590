/* From a resolved job to a plan: concrete types by the op library's infer, kernels by its plan, or
 * the dispatch a shader job declares. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/eval/float.h"
#include "foundation/base/num.h"
#include "runtime/exec/run_private.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/dispatch.h"
#include "runtime/graph/vm.h"

/* WebGPU's default limits: what every plan keeps to, and what gas is priced with. */
#define CANONICAL_GROUPS 65535u
#define CANONICAL_INVOCATIONS 256u
#define CANONICAL_WORKGROUP_BYTES 16384u
#define CANONICAL_BINDINGS 9u /* eight storage buffers, one uniform */

pctl_plan_caps pctl_run_canonical_caps(void)
{
	return (pctl_plan_caps){PCTL_HEAD(pctl_plan_caps),
				UINT32_MAX - 3u,
				{CANONICAL_GROUPS, CANONICAL_GROUPS, CANONICAL_GROUPS},
				CANONICAL_INVOCATIONS,
				CANONICAL_WORKGROUP_BYTES,
				PCTL_DEVICE_OTHER,
				0,
				0,
				0,
				PCTL_PLAN_ALIGN,
				CANONICAL_BINDINGS,
				0,
				{0}};
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

pctl_plan_caps pctl_session_plan_caps(const pctl_session *s)
{
	const pctl_device_caps *d = pctl_session_caps(s);
	pctl_plan_caps caps = pctl_run_canonical_caps();

	for (uint32_t i = 0; i < 3; i++)
		caps.max_groups[i] = least(caps.max_groups[i], d->max_groups[i]);
	caps.max_invocations = (uint32_t)least(caps.max_invocations, d->max_invocations);
	caps.max_workgroup_bytes =
		(uint32_t)least(caps.max_workgroup_bytes, d->max_workgroup_bytes);
	caps.max_binding_bytes = least(caps.max_binding_bytes, d->max_binding_bytes);
	caps.binding_alignment = d->binding_alignment;
	caps.max_bindings = d->max_bindings;
	caps.device_kind = pctl_session_kind(s);
	caps.max_turns = pctl_session_plan_turns(s);
	pctl_session_tunables(s, caps.tunable);
	caps.proven = pctl_session_proven(s);
	if (caps.device_kind != PCTL_DEVICE_CPU || (caps.proven & PCTL_PLAN_PROVEN_F64_TILES))
		caps.max_workgroup_bytes = pctl_session_plan_workgroup(s);
	return caps;
}

static pctl_planner planner_with(const pctl_running *r, pctl_plan_caps caps)
{
	return (pctl_planner){r->o->ops, r->graph->kernels, caps, 0};
}

void pctl_run_node_clear(pctl_run_node *n)
{
	pctl_job_plan_destroy(n->canonical);
	pctl_job_plan_destroy(n->tuned);
	pctl_job_plan_destroy(n->measure);
	n->canonical = n->tuned = n->measure = NULL;
	if (n->group != NULL) {
		pctl_job_plan_destroy(n->group->plan);
		n->group->plan = NULL;
	}
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++) {
		pctl_value_release(n->values[i]);
		pctl_value_release(n->right[i]);
		pctl_source_close(n->stored[i]);
		n->values[i] = n->right[i] = NULL;
		n->stored[i] = NULL;
	}
}

uint64_t pctl_run_second_bytes(const pctl_run_node *n, const pctl_job_plan *plan)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; n->node->repeat > 1 && n->node->carry != NULL && i < n->node->n_in;
	     i++) {
		if (n->node->carry[i] != 0 && n->node->carry[i] <= plan->n_out)
			(void)pctl_num_add(
				sum, plan->buffers[plan->n_in + n->node->carry[i] - 1].n_bytes,
				&sum);
	}
	return sum;
}

uint64_t pctl_run_peak_bytes(const pctl_run_node *n, const pctl_job_plan *plan)
{
	uint64_t sum = pctl_job_plan_peak(plan);

	(void)pctl_num_add(sum, pctl_run_second_bytes(n, plan), &sum);
	return sum;
}

uint64_t pctl_run_own_bytes(const pctl_run_node *n, const pctl_job_plan *plan)
{
	uint64_t sum = pctl_run_peak_bytes(n, plan);

	for (uint32_t i = 0; sum != UINT64_MAX && i < plan->n_in; i++)
		sum -= plan->buffers[i].n_bytes;
	return sum;
}

static void in_types(const pctl_running *r, pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		pctl_source s = n->node->in[i];

		n->in[i] = s.job == PCTL_FROM_INPUT ? r->input_types[s.port]
						    : r->nodes[s.job].out[s.port];
	}
}

static pctl_status finish_types(pctl_running *r, pctl_run_node *n)
{
	const pctl_graph_node *node = n->node;

	for (uint32_t i = 0; i < node->n_out; i++) {
		uint64_t buffer_bytes;

		if (!pctl_type_buffer_bytes(&n->out[i], &buffer_bytes) ||
		    !pctl_type_bytes(&n->out[i], &n->out_bytes[i]))
			return pctl_refuse(
				r->call, PC4133_SIZE,
				"job \"%s\": output \"%s\" of type %s does not fit in 64 bits",
				node->job->id, pctl_node_out_name(node, i),
				pctl_type_text(r->result->arena, &n->out[i]));
	}
	for (uint32_t i = 0; i < node->n_in; i++) {
		if (node->carry[i] != 0 && !pctl_type_equal(&n->in[i], &n->out[node->carry[i] - 1]))
			return pctl_refuse_at(
				r->call, PC4117_REPEAT, &node->job->pos, NULL,
				"job \"%s\" cannot carry \"%s\" of type %s to an input of type %s",
				node->job->id, pctl_node_out_name(node, node->carry[i] - 1),
				pctl_type_text(r->result->arena, &n->out[node->carry[i] - 1]),
				pctl_type_text(r->result->arena, &n->in[i]));
	}
	for (uint32_t i = 0; node->repeat == 0 && i < node->n_out; i++) {
		uint32_t carried = 0;

		for (uint32_t k = 0; k < node->n_in; k++)
			carried |= node->carry[k] == i + 1;
		if (!carried)
			return pctl_refuse_at(
				r->call, PC4117_REPEAT, &node->job->pos, "repeat at least once",
				"job \"%s\" runs 0 times, so its output \"%s\" has no value",
				node->job->id, pctl_node_out_name(node, i));
	}
	n->typed = 1;
	return PCTL_OK;
}

static pctl_status check_class(const pctl_running *r, const pctl_run_node *n,
			       const pctl_job_plan *plan)
{
	/* An order that shows is refused with its place, by the policy's check. */
	if (plan->determinism <= r->graph->pipeline->max_class || plan->order != NULL)
		return PCTL_OK;
	return pctl_refuse_at(r->call, PC4114_CLASS, &n->node->job->pos, NULL,
			      "job \"%s\" needs class %s by the analysis of its kernels, "
			      "the pipeline allows %s",
			      n->node->job->id, pctl_class_name(plan->determinism),
			      pctl_class_name(r->graph->pipeline->max_class));
}

pctl_op_query pctl_run_query(const pctl_run_node *n)
{
	return (pctl_op_query){
		PCTL_HEAD(pctl_op_query), n->node->op.index, n->node->n_in, n->in, n->node->attr,
		n->node->n_attr,	  n->n_measured,     n->measured};
}

static pctl_status plan_op(pctl_running *r, pctl_run_node *n, uint32_t *blocked)
{
	pctl_planner planner = planner_with(r, pctl_run_canonical_caps());
	const pctl_op_ref *op = &n->node->op;
	pctl_op_query q = pctl_run_query(n);
	pctl_op_result result;
	pctl_status status;

	status = pctl_run_infer_once(r, n, &q, &result);
	if (status != PCTL_OK)
		return status;
	if (result.measure != NULL) {
		if (n->n_measured == 4)
			return pctl_refuse(r->call, PC4132_PLAN,
					   "op \"%s\" measures more than 4 sizes", op->desc->name);
		n->measured[n->n_measured].name = result.measure;
		*blocked = 1;
		pctl_job_plan_destroy(n->measure);
		n->measure = NULL;
		status = pctl_job_plan_op(&planner, n->node->job->id, op, &q, NULL,
					  PCTL_PLAN_MEASURE, r->call, &n->measure);
		return status == PCTL_OK ? check_class(r, n, n->measure) : status;
	}
	memcpy(n->out, result.out, sizeof(n->out));
	status = finish_types(r, n);
	if (status == PCTL_OK)
		status = pctl_run_plan_once(r, n, &planner.caps, &q, r->call, &n->canonical);
	return status;
}

/* ---- shader jobs -------------------------------------------------------------------------- */

static pctl_status group_count(pctl_running *r, const pctl_graph_node *node,
			       const pctl_pipe_value *v, uint32_t *out)
{
	pctl_group_count count;

	*out = 0;
	if (!pctl_group_count_parse(v, r->result->arena, &count) ||
	    !pctl_group_count_value(&count, pctl_run_dim, r, out))
		return pctl_refuse_at(r->call, PC4131_DISPATCH, &v->pos, PCTL_GROUP_COUNT_HINT,
				      "job \"%s\": \"%s\" is no number of workgroups",
				      node->job->id, v->text);
	return PCTL_OK;
}

pctl_status pctl_run_declared_types(pctl_running *r, pctl_run_node *n)
{
	const pctl_pipe_job *job = n->node->job;

	for (uint32_t i = 0; i < n->node->n_out; i++) {
		const pctl_type_pattern *p = &job->out[i].type;

		n->out[i] = (pctl_tensor_type){.dtype = p->dtype[0], .rank = p->rank};
		for (uint32_t k = 0; k < p->rank; k++) {
			n->out[i].dim[k] = p->dim[k].value;
			if (p->dim[k].name != NULL &&
			    !pctl_run_dim(r, p->dim[k].name, &n->out[i].dim[k]))
				return pctl_refuse_at(r->call, PC4016_DIMENSION_OPEN,
						      &job->out[i].pos, NULL,
						      "dimension \"%s\" of output \"%s\" is "
						      "neither an input's nor a parameter",
						      p->dim[k].name, job->out[i].name);
		}
		if (p->any_shape)
			return pctl_refuse_at(r->call, PC4016_DIMENSION_OPEN, &job->out[i].pos,
					      NULL, "output \"%s\" needs a shape",
					      job->out[i].name);
	}
	return finish_types(r, n);
}

/* Of every variable: an output's bytes where it becomes one, else its input's. */
static const pctl_known_binding *known_bindings(pctl_running *r, const pctl_run_node *n)
{
	const pctl_graph_node *node = n->node;
	pctl_known_binding *known =
		pctl_arena_array(r->result->arena, node->n_vars, sizeof(*known));

	for (uint32_t i = 0; known != NULL && i < node->n_vars; i++) {
		const pctl_shader_var *v = &node->vars[i];
		uint64_t n_bytes = 0;

		(void)pctl_type_buffer_bytes(v->out != UINT32_MAX ? &n->out[v->out] : &n->in[v->in],
					     &n_bytes);
		known[i] = (pctl_known_binding){v->group, v->binding, n_bytes};
	}
	return known;
}

pctl_status pctl_run_shader_unit(pctl_running *r, pctl_run_node *n, uint32_t groups[3],
				 const pctl_kernel_module **unit)
{
	const pctl_graph_node *node = n->node;
	pctl_kernel_source source = {.name = node->job->shader == NULL ? node->job->id
								       : node->job->shader,
				     .text = node->text,
				     .n_text = node->n_text,
				     .entry = node->job->entry,
				     .overrides = node->overrides,
				     .n_overrides = node->n_overrides,
				     .groups = groups};
	pctl_status status = pctl_run_declared_types(r, n);

	groups[0] = groups[1] = groups[2] = 1;
	for (uint32_t i = 0; status == PCTL_OK && i < node->job->n_groups; i++)
		status = group_count(r, node, &node->job->groups[i], &groups[i]);
	if (status == PCTL_OK) {
		source.bindings = known_bindings(r, n);
		source.n_bindings = node->n_vars;
		if (source.bindings == NULL)
			return pctl_no_memory(r->call, "a run");
	}
	return status == PCTL_OK ? pctl_kernels_get(r->graph->kernels, &source, r->call, unit)
				 : status;
}

static pctl_status plan_shader(pctl_running *r, pctl_run_node *n)
{
	const pctl_graph_node *node = n->node;
	pctl_plan_binding *bindings =
		pctl_arena_array(r->result->arena, node->n_vars, sizeof(*bindings));
	uint32_t groups[3], number;
	const pctl_kernel_module *unit;
	pctl_status status = pctl_run_shader_unit(r, n, groups, &unit);
	uint64_t n_bytes;

	if (bindings == NULL)
		return pctl_no_memory(r->call, "a run");
	if (status == PCTL_OK)
		status = pctl_job_plan_create(node->job->id, r->call, &n->canonical);
	for (uint32_t i = 0; status == PCTL_OK && i < node->n_in + node->n_out; i++) {
		(void)pctl_type_buffer_bytes(i < node->n_in ? &n->in[i] : &n->out[i - node->n_in],
					     &n_bytes);
		status = pctl_job_plan_buffer(n->canonical,
					      i < node->n_in ? PCTL_PLAN_INPUT : PCTL_PLAN_OUTPUT,
					      n_bytes, NULL, r->call, &number);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < node->n_vars; i++) {
		const pctl_shader_var *v = &node->vars[i];
		uint32_t buffer = v->out != UINT32_MAX ? node->n_in + v->out : v->in;

		if (v->out == UINT32_MAX && v->access & PCTL_ACCESS_WRITE) {
			/* The kernel may write it, others read the value: it gets a copy. */
			status = pctl_job_plan_buffer(n->canonical, PCTL_PLAN_TEMP,
						      n->canonical->buffers[v->in].n_bytes, NULL,
						      r->call, &buffer);
			if (status == PCTL_OK)
				status = pctl_job_plan_copy(n->canonical, v->in, buffer, r->call);
		}
		bindings[i] = (pctl_plan_binding){
			.group = v->group, .binding = v->binding, .buffer = buffer};
		if (v->out == UINT32_MAX)
			continue;
		status = v->in != UINT32_MAX
				 ? pctl_job_plan_copy(n->canonical, v->in, buffer, r->call)
				 : pctl_job_plan_zero(n->canonical, buffer, r->call);
	}
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(n->canonical, unit, bindings, node->n_vars, groups,
					      r->call);
	if (status == PCTL_OK)
		status = pctl_job_plan_place(n->canonical, r->call);
	return status;
}

/* ---- vm jobs ------------------------------------------------------------------------------ */

static pctl_status machine_plan(const pctl_run_node *n, const pctl_planner *planner,
				const pctl_call *call, pctl_job_plan **out)
{
	const pctl_graph_node *node = n->node;
	uint64_t in[PCTL_PORTS_MAX] = {0}, result[PCTL_PORTS_MAX] = {0};

	for (uint32_t i = 0; i < node->n_in; i++)
		(void)pctl_type_buffer_bytes(&n->in[i], &in[i]);
	for (uint32_t i = 0; i < node->n_out; i++)
		(void)pctl_type_buffer_bytes(&n->out[i], &result[i]);
	return pctl_vm_job_plan(planner, node->job->id, node->vm, node->ports, in, node->n_in,
				node->ports + node->n_in, result, node->n_out, call, out);
}

static pctl_status plan_machine(pctl_running *r, pctl_run_node *n)
{
	const pctl_planner planner = planner_with(r, pctl_run_canonical_caps());
	pctl_status status = pctl_run_declared_types(r, n);

	return status == PCTL_OK ? machine_plan(n, &planner, r->call, &n->canonical) : status;
}

static pctl_status plan_job(pctl_running *r, pctl_run_node *n, uint32_t *blocked)
{
	if (n->node->job->kind == PCTL_JOB_OP)
		return plan_op(r, n, blocked);
	return n->node->job->kind == PCTL_JOB_VM ? plan_machine(r, n) : plan_shader(r, n);
}

pctl_status pctl_run_plan_node(pctl_running *r, pctl_run_node *n, uint32_t *blocked)
{
	pctl_status status;

	*blocked = 0;
	in_types(r, n);
	status = plan_job(r, n, blocked);
	if (status != PCTL_OK || *blocked)
		return status;
	status = check_class(r, n, n->canonical);
	if (status != PCTL_OK)
		return status;
	return pctl_job_plan_gas(n->canonical, r->o->schedule, n->node->repeat, n->node->n_in,
				 r->call, &n->gas);
}

/* Products of many small integers may go by way of floats, in which they are exact, or by the device's own of packed bytes. */
#define MANY_BYTES 65536u

static int is_many_bytes(const pctl_tensor_type *t)
{
	uint64_t n = 0;

	return (t->dtype == PCTL_SCALAR_I8 || t->dtype == PCTL_SCALAR_U8) &&
	       pctl_type_elements(t, &n) && n >= MANY_BYTES;
}

static int has_many_bytes(const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++)
		if (is_many_bytes(&n->in[i]))
			return 1;
	return 0;
}

/* Floats of its own that a plan may use where the device has them. */
static int has_floats(const pctl_run_node *n)
{
	if (n->node->job->kind == PCTL_JOB_VM)
		return n->canonical->determinism >= PCTL_CLASS_STRICT;
	if (n->node->op.desc->op_class < PCTL_CLASS_STRICT)
		return 0;
	for (uint32_t i = 0; i < n->node->n_in; i++)
		if (pctl_float_is((uint8_t)n->in[i].dtype))
			return 1;
	return 0;
}

/* What was asked for goes before what the device's record says. */
static void take_tunables(const pctl_running *r, pctl_plan_caps *caps)
{
	const uint32_t by = r->o->flags & (PCTL_RUN_PROFILE_SC | PCTL_RUN_PROFILE_MC);

	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
		if (r->o->tunable != NULL)
			caps->tunable[i] = r->o->tunable[i];
		else if (by != 0)
			caps->tunable[i] = pctl_tunable_of(
				i, by == PCTL_RUN_PROFILE_SC ? PCTL_TUNING_SC : PCTL_TUNING_MC);
}

pctl_status pctl_run_plan_caps(pctl_running *r, const pctl_run_node *n, pctl_session *s,
			       const pctl_call *call, pctl_plan_caps *out)
{
	const int has_bytes = n->node->job->kind == PCTL_JOB_OP &&
			      n->node->op.desc->op_class >= PCTL_CLASS_STRICT && has_many_bytes(n);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n->canonical->n_steps; i++)
		if (n->canonical->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_learn(s, n->canonical->steps[i].unit, call);
	if (status == PCTL_OK && has_bytes)
		status = pctl_session_learn_bytes(s, call);
	/* What floats the device has of its own is asked where a plan may use them: that may probe it. */
	if (status == PCTL_OK && r->graph->pipeline->max_class >= PCTL_CLASS_STRICT &&
	    (has_floats(n) || (has_bytes && !(pctl_session_proven(s) & PCTL_PLAN_PROVEN_DOT4))))
		status = pctl_session_learn_doubles(s, call);
	if (status == PCTL_OK)
		status = pctl_session_learn_tuning(s, r->call); /* its warnings are heard */
	*out = pctl_session_plan_caps(s);
	take_tunables(r, out);
	if (r->graph->pipeline->max_class < PCTL_CLASS_STRICT)
		out->proven &= PCTL_PLAN_PROVEN_DOT4 | PCTL_PLAN_PROVEN_I8_TILES |
			       PCTL_PLAN_PROVEN_U8_TILES;
	return status;
}

pctl_status pctl_run_tuned_plan(pctl_running *r, pctl_run_node *n, pctl_session *s,
				const pctl_call *call, pctl_job_plan **out)
{
	pctl_plan_caps caps, canonical = pctl_run_canonical_caps();
	pctl_op_query q = pctl_run_query(n);
	pctl_status status;

	*out = NULL;
	if (n->node->job->kind == PCTL_JOB_SHADER || r->o->flags & PCTL_RUN_CANONICAL ||
	    n->canonical == NULL)
		return PCTL_OK;
	status = pctl_run_plan_caps(r, n, s, call, &caps);
	if (status != PCTL_OK || memcmp(&caps, &canonical, sizeof(caps)) == 0)
		return status;
	if (n->node->job->kind == PCTL_JOB_VM) {
		const pctl_planner planner = planner_with(r, caps);

		return machine_plan(n, &planner, call, out);
	}
	return pctl_run_plan_once(r, n, &caps, &q, call, out);
}
