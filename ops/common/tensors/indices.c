/* Indices into a tensor (SEMANTICS.md 16.2): one that is out of range fails the job, which names the lowest position and the number
 * there. Every device finds the same: a minimum commutes. */
#include <inttypes.h>
#include <stdio.h>

#include "common/tensors/elements.h"
#include "kernels.h"

/* fn <name>_value(j: u32) -> i64, and <name>_is(i64) whether that is in range; an unsigned number that no i64 holds is in no range. */
static void add_value(kit_wgsl *w, const char *name, uint32_t dtype, uint64_t n, int negative,
		      int parted)
{
	char text[320];

	kit_wgsl_named(
		w,
		parted ? dtype == PCTL_SCALAR_U32   ? "fn $_value(j: u32) -> i64 {\n\treturn "
						      "i64(u64($_word(j)));\n}\n"
			 : dtype == PCTL_SCALAR_I32 ? "fn $_value(j: u32) -> i64 {\n\treturn "
						      "i64(bitcast<i32>($_word(j)));\n}\n"
			 : dtype == PCTL_SCALAR_I64
				 ? "fn $_value(j: u32) -> i64 {\n\treturn i64($_word(j));\n}\n"
				 : "fn $_value(j: u32) -> i64 {\n\treturn i64(min($_word(j), "
				   "0x7ffffffffffffffflu));\n}\n"
		: dtype == PCTL_SCALAR_U32 ? "fn $_value(j: u32) -> i64 {\n\treturn "
					     "i64(u64($[j]));\n}\n"
		: dtype == PCTL_SCALAR_I32 ? "fn $_value(j: u32) -> i64 {\n\treturn "
					     "i64(bitcast<i32>($[j]));\n}\n"
		: dtype == PCTL_SCALAR_I64 ? "fn $_value(j: u32) -> i64 {\n\treturn i64($[j]);\n}\n"
					   : "fn $_value(j: u32) -> i64 {\n\treturn i64(min($[j], "
					     "0x7ffffffffffffffflu));\n}\n",
		name);
	snprintf(text, sizeof(text),
		 "fn $_is(v: i64) -> bool {\n\treturn v >= %s%" PRIu64 "li && v < %" PRIu64
		 "li;\n}\n",
		 negative ? "-" : "0li - ", negative ? n : (uint64_t)0, n);
	kit_wgsl_named(w, text, name);
}

void tensor_kernel_index(tensor_kernel *k, const char *name, uint32_t dtype, uint64_t n,
			 int negative, uint32_t buffer)
{
	char text[200];

	const int parted =
		tensor_kernel_words(k, name, kit_dtype_bytes(dtype) == 8 ? "u64" : "u32", buffer);

	add_value(&k->w, name, dtype, n, negative, parted);
	snprintf(text, sizeof(text),
		 "fn $_at(j: u32) -> u32 {\n\tlet v = $_value(j);\n\treturn u32(select(v, v + "
		 "%" PRIu64 "li, v < 0li));\n}\n",
		 n);
	kit_wgsl_named(&k->w, text, name);
}

void tensor_index_check(kit_plan *p, uint32_t port, uint64_t n, int negative)
{
	const pctl_tensor_type *t = &p->use->q->in[port];
	const uint32_t count = (uint32_t)kit_elements(t);
	const char *name = p->use->op->desc.in[port].name;
	const int is_unsigned = t->dtype == PCTL_SCALAR_U32 || t->dtype == PCTL_SCALAR_U64;
	const uint64_t bytes = kit_dtype_bytes(t->dtype);
	const int parted = tensor_is_parted(p, kit_in(p, port));
	uint32_t bad, found;
	char message[160];
	pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert),
			      .bytes = 8,
			      .expected = UINT32_MAX,
			      .message = message,
			      .also_offset = 8,
			      .also_bytes = 8};
	kit_wgsl w;

	if (count == 0 || p->status != PCTL_OK)
		return;
	bad = kit_temp(p, 4);
	found = kit_temp(p, 16);
	kit_fill(p, bad, 0, 4, UINT32_MAX);
	for (uint32_t second = 0; second < 2; second++) {
		kit_kernel kernel = {"tensor/index.wgsl", NULL, 64, NULL, 0};
		kit_slot slots[16] = {KIT_ALL(kit_params(p, &count, sizeof(count))),
				      KIT_ALL(kit_in(p, port)), KIT_ALL(bad), KIT_ALL(found)};
		uint32_t n_slots = second ? 4 : 3;

		w = kit_wgsl_make(p->use, 4096);
		if (parted)
			n_slots = 4 + tensor_add_parts(p, &w, "index", bytes == 8 ? "u64" : "u32",
						       port, 4, slots + 4);
		else
			kit_wgsl_add(&w,
				     kit_dtype_bytes(t->dtype) == 8
					     ? "@group(0) @binding(1) var<storage, read> index: "
					       "array<u64>;\n"
					     : "@group(0) @binding(1) var<storage, read> index: "
					       "array<u32>;\n");
		add_value(&w, "index", t->dtype, n, negative, parted);
		kit_wgsl_add(&w, bytes == 8 && parted ? "fn index_told(j: u32) -> u64 {\n\treturn "
							"index_word(j);\n}\n"
				 : bytes == 8
					 ? "fn index_told(j: u32) -> u64 {\n\treturn index[j];\n}\n"
					 : "fn index_told(j: u32) -> u64 {\n\treturn "
					   "u64(index_value(j));\n}\n");
		kit_wgsl_add(&w, second ? KERNEL_INDEX_FOUND : KERNEL_INDEX_CHECK);
		if (p->status == PCTL_OK)
			p->status = kit_wgsl_status(&w);
		kernel.text = w.text;
		/* Of parts the kernel has no binding 1, and what it does not have is not bound. */
		slots[1] = parted ? slots[2] : slots[1];
		kit_run(p, &kernel, second ? 2 : count, slots, n_slots);
		kit_wgsl_free(&w);
	}
	snprintf(message, sizeof(message), "%s[%%v] is %s, out of range of %" PRIu64, name,
		 is_unsigned ? "%u" : "%i", n);
	a.buffer = found;
	if (p->status == PCTL_OK)
		p->status = p->sink->assert_equal(p->sink->ctx, &a);
}

/* ---- plain C -------------------------------------------------------------------------------- */

/* Data of others need not be aligned. */
uint64_t tensor_index_of(uint32_t dtype, const void *index, uint64_t i, uint64_t n)
{
	const uint64_t bytes = kit_dtype_bytes(dtype), raw = tensor_get(index, i, bytes);
	const int64_t v = bytes == 4 ? (int64_t)(int32_t)(uint32_t)raw : (int64_t)raw;

	return tensor_is_signed(dtype) && v < 0 ? (uint64_t)v + n : raw;
}

pctl_status tensor_index_refuse(const kit_use *u, uint32_t port, const void *index, uint64_t n,
				int negative)
{
	const pctl_tensor_type *t = &u->q->in[port];
	const char *name = u->op->desc.in[port].name;

	for (uint64_t i = 0; i < kit_elements(t); i++) {
		const uint64_t v = tensor_get(index, i, kit_dtype_bytes(t->dtype));
		const int64_t s = t->dtype == PCTL_SCALAR_I32 ? (int32_t)(uint32_t)v : (int64_t)v;

		if (!tensor_is_signed(t->dtype) && v >= n)
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   "%s[%" PRIu64 "] is %" PRIu64
					   ", out of range of %" PRIu64,
					   name, i, v, n);
		if (tensor_is_signed(t->dtype) &&
		    (s >= (int64_t)n || s < (negative ? -(int64_t)n : 0)))
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   "%s[%" PRIu64 "] is %" PRId64
					   ", out of range of %" PRIu64,
					   name, i, s, n);
	}
	return PCTL_OK;
}

void tensor_problem_index(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint64_t n,
			  int negative)
{
	const uint64_t bytes = kit_dtype_bytes(t->dtype), count = kit_elements(t);
	void *data = p->status == PCTL_OK ? kit_scratch(&p->use, count * bytes) : NULL;
	const int wrong = kit_random(p->seed, p->number) % 16 == 0;

	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + port, i);
		uint64_t v = n == 0 ? 0 : (r >> 8) % n;

		if (negative && r & 1)
			v -= n;
		if (wrong && r % 64 < 3)
			v = r & 2 ? n : n + (1ull << 31);
		tensor_put(data, i, bytes, v);
	}
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}
