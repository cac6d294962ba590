/* Binding the inputs of a run: where the bytes come from, and the types their sizes give. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/map.h"
#include "foundation/base/num.h"
#include "foundation/conf/conf.h"
#include "foundation/tensorfile/tensor_file.h"
#include "runtime/exec/run_private.h"

#define LARGEST_IN_VIEW (1ull << 32)

int pctl_run_dim(void *running, const char *name, uint64_t *out)
{
	const pctl_running *r = running;
	const uint64_t *known = pctl_map_get(r->dims, name);
	const char *text;

	if (known != NULL) {
		*out = *known;
		return 1;
	}
	text = pctl_graph_param(r->graph, name);
	return text != NULL && pctl_num_parse_u64(text, strlen(text), out);
}

/* Note the dimensions of an input's type, or refuse one that has another value already. */
static pctl_status bind_dims(pctl_running *r, const pctl_pipe_input *in, const pctl_tensor_type *t)
{
	for (uint32_t i = 0; i < in->type.rank; i++) {
		const char *name = in->type.dim[i].name;
		uint64_t *slot, known;

		if (name == NULL)
			continue;
		if (pctl_run_dim(r, name, &known)) {
			if (known != t->dim[i])
				return pctl_refuse_at(r->call, PC4106_DIMENSION, &in->pos, NULL,
						      "input \"%s\" has %s = %" PRIu64
						      ", elsewhere it is %" PRIu64,
						      in->name, name, t->dim[i], known);
			continue;
		}
		slot = pctl_arena_alloc(r->result->arena, sizeof(*slot));
		if (slot == NULL || !pctl_map_put(r->dims, name, slot))
			return pctl_no_memory(r->call, "a run");
		*slot = t->dim[i];
	}
	return PCTL_OK;
}

/* One text may stand for tensors of all layers: what is wrong with it is said once. */
static void said_of(const pctl_running *r, uint32_t i)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];

	pctl_pipe_once_of(r->once, in->tensor == NULL ? NULL : in->name);
}

/* A data file of a pipeline that is read from elsewhere than the file system. */
static pctl_status open_in_view(pctl_running *r, uint32_t i)
{
	const pctl_pipeline *p = r->graph->pipeline;
	const pctl_vfs *vfs = p->vfs->data;
	size_t n_path = strlen(p->inputs[i].file);
	const char *tensor = p->inputs[i].tensor;
	const int is_tensor =
		tensor != NULL || pctl_tensor_ref_parse(p->inputs[i].file, &n_path, &tensor);
	char *path = strndup(p->inputs[i].file, n_path), *name, *data = NULL;
	uint64_t n = 0;
	pctl_status status;

	name = path == NULL ? NULL : pctl_vfs_resolve(vfs, p->file, path);
	status = name == NULL ? pctl_no_memory(r->call, "a path")
			      : pctl_vfs_read(vfs, name, LARGEST_IN_VIEW, r->call, &data, &n);
	if (status == PCTL_OK)
		status = is_tensor
				 ? pctl_source_open_tensor_memory(name, tensor, data, n, r->call,
								  &r->sources[i])
				 : pctl_source_open_memory(name, data, n, r->call, &r->sources[i]);
	free(name);
	free(path);
	return status;
}

/* What the caller holds in memory for input i, NULL: nothing. */
static const pctl_input_bytes *given_bytes(const pctl_running *r, uint32_t i)
{
	for (uint32_t k = 0; k < r->o->n_given; k++) {
		if (strcmp(r->o->given[k].name, r->graph->pipeline->inputs[i].name) == 0)
			return &r->o->given[k];
	}
	return NULL;
}

/* The number of the input of `like` by the name of input i; UINT32_MAX: there is none with data. */
static uint32_t like_of(const pctl_running *r, uint32_t i)
{
	const pctl_running *like = r->o->like;

	for (uint32_t k = 0; like != NULL && k < like->graph->pipeline->n_inputs; k++)
		if (like->sources[k] != NULL && strcmp(like->graph->pipeline->inputs[k].name,
						       r->graph->pipeline->inputs[i].name) == 0)
			return k;
	return UINT32_MAX;
}

int pctl_run_is_borrowed(const pctl_running *r, uint32_t i)
{
	const uint32_t k = like_of(r, i);

	return k != UINT32_MAX && r->sources[i] == r->o->like->sources[k];
}

static pctl_value *value_of(const pctl_running *r, uint32_t i)
{
	if (r->shares && pctl_run_is_borrowed(r, i) && r->o->like->inputs[like_of(r, i)] != NULL)
		return pctl_value_retain(r->o->like->inputs[like_of(r, i)]);
	return pctl_value_from_source(r->sources[i]);
}

/* What --in says of a name, or NULL. */
static const char *given_text(const pctl_running *r, const char *name)
{
	const char *given = NULL;

	for (uint32_t k = 0; name != NULL && k < r->o->n_ins; k++) {
		if (strcmp(r->o->ins[k].name, name) == 0)
			given = r->o->ins[k].value;
	}
	return given;
}

static pctl_status open_path(pctl_running *r, uint32_t i, const char *path)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];
	const pctl_cid *known;

	if (in->tensor == NULL)
		return pctl_source_open_named(path, r->call, &r->sources[i]);
	known = r->o->cid_of == NULL ? NULL : r->o->cid_of(r->o->cid_ctx, in->name);
	return pctl_tensor_sets_source(r->sets, path, in->tensor, &in->pos, known, r->call,
				       &r->sources[i]);
}

static pctl_status open_input(pctl_running *r, uint32_t i)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];
	const pctl_input_bytes *bytes = given_bytes(r, i);
	const char *given = given_text(r, in->name), *set = given_text(r, in->set);
	pctl_status status;
	const pctl_progress now = {.stage = "hash", .what = in->name, .jobs = r->graph->n_nodes};
	pctl_cid cid;
	char *path;

	pctl_progress_tell(&r->o->progress, &now);
	if (bytes != NULL)
		return pctl_source_open_bytes(in->name, bytes->data, bytes->n_bytes, r->call,
					      &r->sources[i]);

	if (given != NULL)
		return pctl_source_open(r->o->store, given, r->call, &r->sources[i]);
	if (set != NULL)
		return open_path(r, i, set);
	if (like_of(r, i) != UINT32_MAX) {
		r->sources[i] = r->o->like->sources[like_of(r, i)];
		return PCTL_OK;
	}
	if (in->cid != NULL) {
		if (!pctl_cid_parse(in->cid, &cid))
			return pctl_refuse_at(r->call, PC4006_INPUT_SOURCE, &in->source_pos, NULL,
					      "\"%s\" is not a CID", in->cid);
		return pctl_source_open_cid(r->o->store, &cid, r->call, &r->sources[i]);
	}
	if (in->is_state)
		return PCTL_OK; /* zeros, of a size that other inputs may tell */
	if (in->file == NULL)
		return pctl_refuse_at(r->call, PC4014_INPUT_MISSING, &in->pos,
				      "give --in NAME=FILE or --in NAME=CID",
				      "input \"%s\" has no data", in->name);
	if (r->graph->pipeline->vfs != NULL && r->graph->pipeline->vfs->data != NULL)
		return open_in_view(r, i);
	path = in->file[0] == '/' ? strdup(in->file)
				  : pctl_path_join(r->graph->pipeline->directory, in->file);
	if (path == NULL)
		return pctl_no_memory(r->call, "a path");
	status = open_path(r, i, path);
	free(path);
	return status;
}

/* Bytes alone take data of any type: they have none that could differ. */
static int is_untyped(const pctl_pipe_input *in)
{
	return in->type.n_dtypes == 1 && in->type.dtype[0] == PCTL_DTYPE_BYTES;
}

/* Data that come with a type, as arrays and files of tensors do, have that one, where the declaration allows it. */
static pctl_status take_given_type(pctl_running *r, uint32_t i, const pctl_tensor_type *t)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];
	int fits = in->type.any_shape || t->rank == in->type.rank;
	uint64_t n_bytes;

	if (!pctl_pattern_has_dtype(&in->type, t->dtype))
		return pctl_refuse_at(r->call, PC4216_INPUT_DTYPE, &in->pos,
				      "nothing is converted silently",
				      "input \"%s\" wants %s, what was given is %s", in->name,
				      pctl_pattern_text(r->result->arena, &in->type),
				      pctl_type_text(r->result->arena, t));
	for (uint32_t k = 0; fits && !in->type.any_shape && k < t->rank; k++)
		fits = in->type.dim[k].name != NULL || in->type.dim[k].value == t->dim[k];
	if (!fits)
		return pctl_refuse_at(r->call, PC4217_INPUT_SHAPE, &in->pos, NULL,
				      "input \"%s\" wants %s, what was given is %s", in->name,
				      pctl_pattern_text(r->result->arena, &in->type),
				      pctl_type_text(r->result->arena, t));
	if (!pctl_type_bytes(t, &n_bytes) || n_bytes != pctl_source_bytes(r->sources[i]))
		return pctl_refuse_at(r->call, PC4015_INPUT_SIZE, &in->pos, NULL,
				      "input \"%s\" was given as %s with %" PRIu64 " bytes",
				      in->name, pctl_type_text(r->result->arena, t),
				      pctl_source_bytes(r->sources[i]));
	r->input_types[i] = *t;
	return bind_dims(r, in, t);
}

static pctl_status take_given_types(pctl_running *r)
{
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < r->graph->pipeline->n_inputs; i++) {
		const pctl_input_bytes *bytes = given_bytes(r, i);
		const pctl_tensor_type *t;
		pctl_status status;

		if (r->sources[i] == NULL)
			continue;
		said_of(r, i);
		t = pctl_source_type(r->sources[i]);
		if (bytes != NULL)
			t = bytes->type.dtype != 0 ? &bytes->type : NULL;
		else if (is_untyped(&r->graph->pipeline->inputs[i]))
			t = NULL;
		if (t == NULL)
			continue;
		status = take_given_type(r, i, t);
		first = first == PCTL_OK ? status : first;
	}
	return first;
}

static pctl_status type_input(pctl_running *r, uint32_t i)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];
	uint64_t n = pctl_source_bytes(r->sources[i]);
	int found;

	if (pctl_pattern_is_any(&in->type))
		return pctl_refuse_at(
			r->call, PC4216_INPUT_DTYPE, &in->pos,
			"give a file of tensors, or CID:TYPE, or declare it under `types`",
			"nothing says of which type input \"%s\" is", in->name);
	found = pctl_type_from_bytes(&in->type, n, pctl_run_dim, r, &r->input_types[i]);

	if (found < 0)
		return pctl_refuse_at(
			r->call, PC4016_DIMENSION_OPEN, &in->pos, NULL,
			"more than one dimension of %s is open, the size of input \"%s\" gives one",
			pctl_pattern_text(r->result->arena, &in->type), in->name);
	if (found == 0)
		return pctl_refuse_at(r->call, PC4015_INPUT_SIZE, &in->pos, "a truncated file?",
				      "input \"%s\" wants %s, and none such has the %" PRIu64
				      " bytes of %s",
				      in->name, pctl_pattern_text(r->result->arena, &in->type), n,
				      pctl_source_name(r->sources[i]));
	return bind_dims(r, in, &r->input_types[i]);
}

/* 1 while the size of the data cannot tell the type: two dimensions are open. */
static uint32_t is_open(pctl_running *r, uint32_t i)
{
	pctl_tensor_type t;

	return pctl_type_from_bytes(&r->graph->pipeline->inputs[i].type,
				    pctl_source_bytes(r->sources[i]), pctl_run_dim, r, &t) < 0;
}

static const char *given_name(const pctl_running *r, uint32_t k)
{
	return k < r->o->n_ins ? r->o->ins[k].name : r->o->given[k - r->o->n_ins].name;
}

static pctl_status check_names(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_status first = PCTL_OK;

	for (uint32_t k = 0; k < r->o->n_ins + r->o->n_given; k++) {
		const char *names[64];
		uint32_t n = 0, known = 0;
		char *hint;

		/* Bytes in memory are no set. */
		for (uint32_t i = 0; k < r->o->n_ins && i < p->n_sets; i++) {
			known |= strcmp(p->sets[i].name, given_name(r, k)) == 0;
			if (n < 64)
				names[n++] = p->sets[i].name;
		}
		for (uint32_t i = 0; i < p->n_inputs; i++) {
			known |= strcmp(p->inputs[i].name, given_name(r, k)) == 0;
			if (n < 64)
				names[n++] = p->inputs[i].name;
		}
		if (known)
			continue;
		hint = pctl_conf_hint_names(given_name(r, k), names, n);
		if (first == PCTL_OK)
			first = PCTL_E_INVALID;
		(void)pctl_refuse_at(r->call, PC4013_INPUT_UNKNOWN, NULL, hint,
				     "--in %s: the pipeline has no such input", given_name(r, k));
		free(hint);
	}
	return first;
}

/* Standard input can be read once: a second reader would see an empty input. */
static pctl_status check_stdin(pctl_running *r)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->o->n_ins; k++)
		n += strcmp(r->o->ins[k].value, "-") == 0;
	return n <= 1 ? PCTL_OK
		      : pctl_refuse(r->call, PC10_USAGE,
				    "standard input can feed one input, it is given to %" PRIu32,
				    n);
}

/* The types of all inputs. One whose size leaves two dimensions open waits for the others, which may
 * give one of them a value, whatever the order in the file. */
static pctl_status type_inputs(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_status first = PCTL_OK;
	uint32_t before, left = p->n_inputs;

	do {
		before = left;
		left = 0;
		for (uint32_t i = 0; i < p->n_inputs; i++) {
			pctl_status status;

			if (r->sources[i] == NULL || r->input_types[i].dtype != 0)
				continue;
			left += is_open(r, i);
			status = is_open(r, i) ? PCTL_OK : type_input(r, i);
			if (first == PCTL_OK)
				first = status;
		}
	} while (left != 0 && left < before);
	for (uint32_t i = 0; left != 0 && i < p->n_inputs; i++) {
		if (r->sources[i] != NULL && r->input_types[i].dtype == 0) {
			pctl_status status = type_input(r, i);

			if (first == PCTL_OK)
				first = status;
		}
	}
	return first;
}

/* States that nothing is given for: zeros. */
static pctl_status open_states(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const pctl_pipe_input *in = &p->inputs[i];
		pctl_tensor_type *t = &r->input_types[i];
		const char *open = NULL;
		pctl_status status = PCTL_OK;
		uint64_t n;

		if (!in->is_state || r->sources[i] != NULL)
			continue;
		*t = (pctl_tensor_type){.dtype = in->type.dtype[0], .rank = in->type.rank};
		for (uint32_t d = 0; d < t->rank; d++) {
			t->dim[d] = in->type.dim[d].value;
			if (in->type.dim[d].name != NULL &&
			    !pctl_run_dim(r, in->type.dim[d].name, &t->dim[d]))
				open = in->type.dim[d].name;
		}
		if (open != NULL)
			status = pctl_refuse_at(
				r->call, PC4016_DIMENSION_OPEN, &in->pos,
				"declare a parameter of that name, or give the state with --in",
				"dimension \"%s\" of state \"%s\" is neither an "
				"input's nor a parameter",
				open, in->name);
		else if (!pctl_type_bytes(t, &n))
			status = pctl_refuse_at(r->call, PC4133_SIZE, &in->pos, NULL,
						"state \"%s\" of type %s does not fit in 64 bits",
						in->name, pctl_type_text(r->result->arena, t));
		else
			status = pctl_source_open_zero(n, r->call, &r->sources[i]);
		first = first == PCTL_OK ? status : first;
	}
	return first;
}

pctl_status pctl_run_check_states(const pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;

	for (uint32_t i = 0; i < p->n_states; i++) {
		const pctl_source next = r->graph->outputs[p->states[i].output];
		const pctl_tensor_type *is = &r->input_types[p->states[i].input],
				       *to = next.job == PCTL_FROM_INPUT
						     ? &r->input_types[next.port]
						     : &r->nodes[next.job].out[next.port];

		if (!pctl_type_equal(is, to))
			return pctl_state_refuse(p, i, pctl_type_text(r->result->arena, is),
						 pctl_type_text(r->result->arena, to), r->call);
	}
	return PCTL_OK;
}

/* Of types that have codes that stand for nothing, or bits behind the last element: element numbers go on from piece to piece. */
struct looking {
	const pctl_dtype *type;
	uint64_t n, n_bytes, bad;
	int padded;
};

static pctl_status look(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	struct looking *l = ctx;
	const uint64_t first = offset * 8 / l->type->bits, left = l->n - first,
		       here = n * 8 / l->type->bits < left ? n * 8 / l->type->bits : left,
		       bad = pctl_dtype_bad(l->type, data, here);

	if (bad < here && l->bad == l->n)
		l->bad = first + bad;
	if (offset + n == l->n_bytes)
		l->padded = pctl_dtype_padded(l->type, data, here, n);
	return PCTL_OK;
}

static pctl_status say_codes(const pctl_running *r, uint32_t i, const struct looking *l,
			     const pctl_call *call)
{
	const pctl_pipe_input *in = &r->graph->pipeline->inputs[i];

	if (l->bad < l->n)
		return pctl_refuse_at(call, PC4213_TENSOR_VALUE, &in->pos, NULL,
				      "input \"%s\": the code of element %" PRIu64 " is no %s",
				      in->name, l->bad, l->type->name);
	if (!l->padded)
		return pctl_refuse_at(call, PC4213_TENSOR_VALUE, &in->pos, NULL,
				      "input \"%s\": bits behind the last element are not zero",
				      in->name);
	return PCTL_OK;
}

/* 1: elements are narrower than a byte, and there are codes to look at. */
static int begin_looking(const pctl_running *r, uint32_t i, struct looking *l)
{
	*l = (struct looking){.type = pctl_dtype_of(r->input_types[i].dtype),
			      .n_bytes = pctl_source_bytes(r->sources[i]),
			      .padded = 1};
	if (l->type == NULL || l->type->bits >= 8 || !pctl_type_elements(&r->input_types[i], &l->n))
		return 0;
	l->bad = l->n;
	return 1;
}

pctl_status pctl_run_check_codes(const pctl_running *r, uint32_t i, const void *data,
				 const pctl_call *call)
{
	struct looking l;

	if (!begin_looking(r, i, &l) || l.n_bytes == 0)
		return PCTL_OK;
	(void)look(&l, 0, data, l.n_bytes);
	return say_codes(r, i, &l, call);
}

/* Types narrower than a byte: the same tensor is the same bytes (SEMANTICS.md 13.3). */
static pctl_status check_codes(pctl_running *r, uint32_t i)
{
	struct looking l;
	pctl_status status;

	if (pctl_source_is_zero(r->sources[i]) || !begin_looking(r, i, &l))
		return PCTL_OK;
	status = pctl_source_stream(r->sources[i], r->call, look, &l);
	return status == PCTL_OK ? say_codes(r, i, &l, r->call) : status;
}

static pctl_status bind_inputs(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_status first = check_names(r), status;

	if (first == PCTL_OK)
		first = check_stdin(r);
	if (first != PCTL_OK)
		return first;
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		said_of(r, i);
		status = open_input(r, i);
		if (first == PCTL_OK)
			first = status;
	}
	status = take_given_types(r);
	if (status == PCTL_OK)
		status = type_inputs(r);
	if (status == PCTL_OK && first == PCTL_OK)
		status = open_states(r);
	if (first == PCTL_OK)
		first = status;
	for (uint32_t i = 0; first == PCTL_OK && i < p->n_inputs; i++)
		first = check_codes(r, i);
	for (uint32_t i = 0; first == PCTL_OK && i < p->n_inputs; i++) {
		r->inputs[i] = value_of(r, i);
		if (r->inputs[i] == NULL)
			return pctl_no_memory(r->call, "a run");
		r->result->inputs[r->result->n_inputs++] =
			(pctl_run_output){.name = p->inputs[i].name,
					  .type = r->input_types[i],
					  .cid = *pctl_source_cid(r->sources[i]),
					  .n_bytes = pctl_source_bytes(r->sources[i]),
					  .evidence = {.kind = PCTL_EVIDENCE_VERIFIED}};
	}
	return first;
}

pctl_status pctl_run_bind_inputs(pctl_running *r)
{
	const pctl_call *call = r->call;
	pctl_status status;

	r->once = pctl_pipe_once_create(call);
	if (r->once == NULL)
		return pctl_no_memory(call, "a run");
	r->call = pctl_pipe_once_call(r->once);
	status = bind_inputs(r);
	r->call = call;
	pctl_pipe_once_destroy(r->once);
	r->once = NULL;
	return status;
}

static pctl_status take_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	memcpy((uint8_t *)ctx + offset, data, n);
	return PCTL_OK;
}

pctl_status pctl_run_keep_inputs(pctl_running *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && r->o->flags & PCTL_RUN_KEEP_INPUTS &&
			     i < r->graph->pipeline->n_inputs;
	     i++) {
		const uint64_t n = pctl_source_bytes(r->sources[i]);
		uint8_t *data;

		if (pctl_store_has(r->o->store, pctl_source_cid(r->sources[i])))
			continue;
		data = malloc(n + 1);
		status = data == NULL
				 ? pctl_no_memory(r->call, "an input")
				 : pctl_source_stream(r->sources[i], r->call, take_piece, data);
		if (status == PCTL_OK)
			status = pctl_store_put(r->o->store, data, n, r->call, NULL);
		free(data);
	}
	return status;
}
