/* Indices into lookup tables, looked at by the host: see lookup.h. */
#include "runtime/graph/lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/diag/diag.h"

#define INVOCATIONS 256u
#define MOST_GROUPS 65535u

uint32_t pctl_lookup_port(const pctl_op_desc *d)
{
	for (uint32_t i = 0; d->convention == 2 && i < d->n_in; i++)
		if (strcmp(d->in[i].name, "lookup") == 0)
			return i;
	return UINT32_MAX;
}

const char *pctl_lookup_fault(const pctl_op_desc *d, const pctl_type_pattern *index,
			      const pctl_type_pattern *table)
{
	if (d->kind != PCTL_OPDEF_PLAN || pctl_lookup_port(d) == 0)
		return "a lookup port is a plan's, and not its first";
	if (table->any_shape || table->rank == 0)
		return "a lookup port says how many dimensions its table has";
	for (uint32_t i = 0; i < index->n_dtypes; i++)
		if (index->dtype[i] != PCTL_SCALAR_U8 && index->dtype[i] != PCTL_SCALAR_U16 &&
		    index->dtype[i] != PCTL_SCALAR_U32 && index->dtype[i] != PCTL_SCALAR_U64)
			return "what indexes a lookup port is u8, u16, u32 or u64";
	return NULL;
}

/* fn told(i) -> u64: index i. */
static const char *reader_of(uint32_t dtype)
{
	switch (dtype) {
	case PCTL_SCALAR_U8:
		return "fn told(i: u32) -> u64 {\n"
		       "\treturn u64((index[i / 4u] >> (i % 4u * 8u)) & 255u);\n}\n";
	case PCTL_SCALAR_U16:
		return "fn told(i: u32) -> u64 {\n"
		       "\treturn u64((index[i / 2u] >> (i % 2u * 16u)) & 65535u);\n}\n";
	case PCTL_SCALAR_U32:
		return "fn told(i: u32) -> u64 {\n\treturn u64(index[i]);\n}\n";
	default:
		return "fn told(i: u32) -> u64 {\n\treturn index[i];\n}\n";
	}
}

/* Of the lowest position the highest complement, 0 where there is none: a maximum commutes, and what it replaces is not used. */
static const char check_text[] =
	"@group(0) @binding(2) var<storage, read_write> bad: array<atomic<u32>>;\n"
	"@compute @workgroup_size(256)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"\tlet i = id.x + id.y * 16776960u;\n"
	"\tif (i < range.x) {\n"
	"\t\tif (told(i) >= (u64(range.w) << 32u) + u64(range.z)) {\n"
	"\t\t\tatomicMax(&bad[0], ~i);\n\t\t}\n\t}\n}\n";

/* The position, and the index there, of which 0 stands where none is out of range. */
static const char found_text[] =
	"@group(0) @binding(2) var<storage, read> bad: array<u32>;\n"
	"@group(0) @binding(3) var<storage, read_write> found: array<u64>;\n"
	"@compute @workgroup_size(256)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"\tif (id.x < 2u) {\n"
	"\t\tlet at = ~bad[0];\n"
	"\t\tvar value = 0lu;\n"
	"\t\tif (at < range.x) {\n\t\t\tvalue = told(at);\n\t\t}\n"
	"\t\tfound[id.x] = select(value, u64(at), id.x == 0u);\n\t}\n}\n";

/* The same of a piece of an index that is too large for a binding: range.y is the number of its first. The piece in which the position lies tells the index. */
static const char check_piece_text[] =
	"@group(0) @binding(2) var<storage, read_write> bad: array<atomic<u32>>;\n"
	"@compute @workgroup_size(256)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"\tlet i = id.x + id.y * 16776960u;\n"
	"\tif (i < range.x) {\n"
	"\t\tif (told(i) >= (u64(range.w) << 32u) + u64(range.z)) {\n"
	"\t\t\tatomicMax(&bad[0], ~(range.y + i));\n\t\t}\n\t}\n}\n";
static const char found_piece_text[] =
	"@group(0) @binding(2) var<storage, read> bad: array<u32>;\n"
	"@group(0) @binding(3) var<storage, read_write> found: array<u64>;\n"
	"@compute @workgroup_size(256)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"\tif (id.x == 0u) {\n"
	"\t\tlet at = ~bad[0];\n"
	"\t\tfound[0] = u64(at);\n"
	"\t\tif (at - range.y < range.x) {\n\t\t\tfound[1] = told(at - range.y);\n\t\t}\n"
	"\t}\n}\n";

#define PIECE_STEP 65536u /* bytes: a multiple of what any device asks of a binding's begin */

static pctl_status add_kernel(const pctl_planner *planner, const pctl_op_ref *op, uint32_t dtype,
			      const char *text, uint64_t n_groups,
			      const pctl_plan_binding *bindings, uint32_t n, const pctl_call *call,
			      pctl_job_plan *plan)
{
	pctl_kernel_source source = {.name = op->desc->name, .flags = planner->wgsl_flags};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	uint32_t groups[3] = {(uint32_t)n_groups, 1, 1};
	pctl_known_binding known[4];
	const pctl_kernel_module *unit;
	pctl_status status;
	char *joined;

	if (n_groups > MOST_GROUPS) {
		groups[0] = MOST_GROUPS;
		groups[1] = (uint32_t)pctl_num_div_up(n_groups, MOST_GROUPS);
	}
	pctl_str_addf(&s,
		      "@group(0) @binding(0) var<uniform> range: vec4<u32>;\n"
		      "@group(0) @binding(1) var<storage, read> index: array<%s>;\n%s%s",
		      dtype == PCTL_SCALAR_U64 ? "u64" : "u32", reader_of(dtype), text);
	joined = pctl_str_finish(&s);
	if (joined == NULL)
		return pctl_no_memory(call, "a kernel");
	for (uint32_t i = 0; i < n; i++)
		known[i] = pctl_job_plan_known(plan, &bindings[i]);
	source.text = joined;
	source.n_text = strlen(joined);
	source.groups = groups;
	source.bindings = known;
	source.n_bindings = n;
	status = pctl_kernels_get(planner->kernels, &source, call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(plan, unit, bindings, n, groups, call);
	free(joined);
	return status;
}

/* 1: an index of the type can be out of range. */
static int can_miss(uint32_t dtype, uint64_t n)
{
	return !(dtype == PCTL_SCALAR_U8 && n >= 256) && !(dtype == PCTL_SCALAR_U16 && n >= 65536);
}

/* All positions first, piece by piece, and then what the lowest holds. */
static pctl_status add_pieces(const pctl_planner *planner, const pctl_op_ref *op, uint32_t dtype,
			      const uint32_t range[4], uint64_t each, const pctl_plan_binding *b,
			      const pctl_call *call, pctl_job_plan *plan)
{
	const uint64_t bytes = pctl_dtype_bytes(dtype);
	pctl_status status = PCTL_OK;

	for (uint32_t found = 0; found < 2; found++)
		for (uint64_t first = 0; status == PCTL_OK && first < range[0]; first += each) {
			const uint64_t n = range[0] - first < each ? range[0] - first : each;
			const uint32_t piece[4] = {(uint32_t)n, (uint32_t)first, range[2],
						   range[3]};
			pctl_plan_binding of[4] = {b[0], b[1], b[2], b[3]};

			of[1].offset += first * bytes;
			of[1].n_bytes = pctl_num_align(n * bytes, 4);
			status = pctl_job_plan_buffer(plan, PCTL_PLAN_PARAMS, sizeof(piece), piece,
						      call, &of[0].buffer);
			if (status == PCTL_OK)
				status = add_kernel(planner, op, dtype,
						    found ? found_piece_text : check_piece_text,
						    found ? 1 : pctl_num_div_up(n, INVOCATIONS), of,
						    found ? 4 : 3, call, plan);
		}
	return status;
}

pctl_status pctl_lookup_plan(const pctl_planner *planner, const pctl_op_ref *op,
			     const pctl_op_query *q, const pctl_plan_slot *slots,
			     const pctl_call *call, pctl_job_plan *plan)
{
	const uint32_t table = pctl_lookup_port(op->desc), dtype = q->in[0].dtype;
	const uint64_t n = q->in[table].rank == 0 ? 1 : q->in[table].dim[0];
	pctl_plan_binding b[4] = {{.binding = 0},
				  {.binding = 1,
				   .buffer = slots[0].buffer,
				   .offset = slots[0].offset,
				   .n_bytes = slots[0].n_bytes}};
	pctl_plan_check check = {
		.bytes = 8, .expected = UINT32_MAX, .also_offset = 8, .also_bytes = 8};
	uint32_t range[4] = {0};
	char message[160];
	const uint64_t bytes = pctl_dtype_bytes(dtype);
	uint64_t count, each;
	pctl_status status;

	if (!pctl_type_elements(&q->in[0], &count) || count >= UINT32_MAX)
		return pctl_refuse(call, PC4133_SIZE, "op \"%s\": an index has 32 bits",
				   op->desc->name);
	if (count == 0 || !can_miss(dtype, n))
		return PCTL_OK;
	range[0] = (uint32_t)count;
	range[2] = (uint32_t)n;
	range[3] = (uint32_t)(n >> 32);
	b[2].binding = 2;
	b[3].binding = 3;
	status = pctl_job_plan_buffer(plan, PCTL_PLAN_PARAMS, sizeof(range), range, call,
				      &b[0].buffer);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(plan, PCTL_PLAN_TEMP, 4, NULL, call, &b[2].buffer);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(plan, PCTL_PLAN_TEMP, 16, NULL, call, &b[3].buffer);
	if (status == PCTL_OK)
		status = pctl_job_plan_zero(plan, b[2].buffer, call);
	each = planner->caps.max_binding_bytes / PIECE_STEP * PIECE_STEP / bytes;
	if (status == PCTL_OK && planner->caps.max_binding_bytes != 0 &&
	    count * bytes > planner->caps.max_binding_bytes && each != 0) {
		status = pctl_job_plan_zero(plan, b[3].buffer, call);
		if (status == PCTL_OK)
			status = add_pieces(planner, op, dtype, range, each, b, call, plan);
	} else {
		if (status == PCTL_OK)
			status = add_kernel(planner, op, dtype, check_text,
					    pctl_num_div_up(count, INVOCATIONS), b, 3, call, plan);
		if (status == PCTL_OK)
			status = add_kernel(planner, op, dtype, found_text, 1, b, 4, call, plan);
	}
	snprintf(message, sizeof(message), "%.64s[%%v] is %%u, out of range of %" PRIu64,
		 op->desc->in[0].name, n);
	check.buffer = b[3].buffer;
	check.message = message;
	return status == PCTL_OK ? pctl_job_plan_check(plan, &check, call) : status;
}

pctl_status pctl_lookup_check(const pctl_op_ref *op, const pctl_op_query *q, const pctl_span *in,
			      const pctl_call *call)
{
	const uint32_t table = pctl_lookup_port(op->desc), bytes = pctl_dtype_bytes(q->in[0].dtype);
	uint64_t n, count, v;

	if (table == UINT32_MAX || !pctl_type_elements(&q->in[0], &count) || bytes == 0)
		return PCTL_OK;
	n = q->in[table].rank == 0 ? 1 : q->in[table].dim[0];
	for (uint64_t i = 0; i < count && i < in[0].n_bytes / bytes; i++) {
		v = 0;
		memcpy(&v, (const uint8_t *)in[0].data + i * bytes, bytes);
		if (v >= n)
			return pctl_refuse(call, PC4205_OP_VALUE,
					   "%s[%" PRIu64 "] is %" PRIu64
					   ", out of range of %" PRIu64,
					   op->desc->in[0].name, i, v, n);
	}
	return PCTL_OK;
}
