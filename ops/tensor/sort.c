/* tensor.sort_pairs: a stable merge sort. A radix sort would scatter to addresses that depend on
 * data, which no analysis can prove free of races; a merge written from the side of its outputs is
 * proven as it stands. */
#include "common/tensors/elements.h"
#include "kernels.h"
#include "tensor.h"

#define BASE_RUN 16u
#define MERGE_RUN 32u

static pctl_status sort_infer(const kit_use *u, pctl_op_result *out)
{
	pctl_status status;

	for (uint32_t i = 0; i < 2; i++) {
		status = kit_want(u, i, PCTL_SCALAR_U32, 1);
		if (status != PCTL_OK)
			return status;
		out->out[i] = u->q->in[i];
	}
	if (!kit_same_shape(&u->q->in[0], &u->q->in[1]))
		return kit_refuse_type(u, 1, "as many payloads as keys");
	return kit_limit(u, "pairs", u->q->in[0].dim[0], TENSOR_ELEMENTS_MAX);
}

/* As sort_merge.wgsl has it; of each round's the binding begins where any device lets one begin. */
typedef struct merge_params {
	uint32_t n, run, steps;
} merge_params;
#define PARAMS_STRIDE 256u
#define ROUNDS_MAX 32u

/* Keys and payloads on their way. */
typedef struct pairs {
	uint32_t keys, payloads;
} pairs;

/* ---- more pairs than a binding holds -------------------------------------------------------- */

/* As sort_merge_parts.wgsl has it. */
typedef struct part_params {
	uint32_t n, run, steps, begin;
} part_params;

/* A piece by itself: a base and `rounds` rounds, between the places, which end in place[at ^ (rounds & 1)]. */
static void sort_piece(kit_plan *p, const pairs *in, const pairs place[2], uint32_t at,
		       uint64_t first, uint32_t n, uint32_t rounds)
{
	const kit_kernel base = {"tensor/sort_base.wgsl", KERNEL_SORT_BASE, 64, NULL, 0};
	const kit_kernel merge = {"tensor/sort_merge.wgsl", KERNEL_SORT_MERGE, 64, NULL, 0};

#define PIECE(b) KIT_PART(b, 4 * first, 4ull * n)
	kit_run(p, &base, (n + BASE_RUN - 1) / BASE_RUN,
		(kit_slot[]){KIT_ALL(kit_params(p, &n, sizeof(n))), PIECE(in->keys),
			     PIECE(in->payloads), PIECE(place[at].keys), PIECE(place[at].payloads)},
		5);
	for (uint32_t round = 0; round < rounds; round++, at ^= 1) {
		const merge_params params = {n, BASE_RUN << round, round + 5};

		kit_run(p, &merge, (n + MERGE_RUN - 1) / MERGE_RUN,
			(kit_slot[]){KIT_ALL(kit_params(p, &params, sizeof(params))),
				     PIECE(place[at].keys), PIECE(place[at].payloads),
				     PIECE(place[at ^ 1].keys), PIECE(place[at ^ 1].payloads)},
			5);
	}
}

/* The pairs of a piece out of all of them. */
static void merge_piece(kit_plan *p, const pairs *from, const pairs *to, const part_params *params,
			uint32_t n)
{
	const uint64_t first = params->begin, total = 4ull * params->n;
	kit_slot slots[16] = {KIT_ALL(kit_params(p, params, sizeof(*params))), PIECE(to->keys),
			      PIECE(to->payloads)};
	kit_wgsl w = kit_wgsl_make(p->use, 16384);
	kit_kernel merge = {"tensor/sort_merge_parts.wgsl", w.text, 64, NULL, 0};
	uint32_t n_slots = 3;

	kit_wgsl_add(&w, "//# max dispatch = 65535,65535,1\n");
	n_slots += tensor_add_parts_of(p, &w, "keys", "u32", from->keys, total, n_slots,
				       slots + n_slots);
	n_slots += tensor_add_parts_of(p, &w, "payloads", "u32", from->payloads, total, n_slots,
				       slots + n_slots);
	kit_wgsl_add(&w, KERNEL_SORT_MERGE_PARTS);
	merge.text = w.text;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kit_run(p, &merge, (n + MERGE_RUN - 1) / MERGE_RUN, slots, n_slots);
	kit_wgsl_free(&w);
#undef PIECE
}

/* Pieces of a power of two of pairs are sorted one by one, and merged in rounds that look through several bindings. */
static void sort_in_pieces(kit_plan *p, uint64_t n)
{
	const pairs in = {kit_in(p, 0), kit_in(p, 1)};
	pairs place[2] = {{kit_out(p, 0), kit_out(p, 1)}, {kit_temp(p, 4 * n), kit_temp(p, 4 * n)}};
	uint32_t within = 0, rounds = 0, at;
	uint64_t piece = BASE_RUN;

	for (; 8 * piece <= p->caps->max_binding_bytes; piece *= 2)
		within++;
	for (uint64_t run = piece; run < n; run *= 2)
		rounds++;
	at = (within + rounds) & 1;
	for (uint64_t first = 0; first < n; first += piece)
		sort_piece(p, &in, place, at, first,
			   (uint32_t)(n - first < piece ? n - first : piece), within);
	at ^= within & 1;
	for (uint32_t round = 0; round < rounds; round++, at ^= 1)
		for (uint64_t first = 0; first < n; first += piece) {
			const part_params params = {(uint32_t)n, (uint32_t)(piece << round),
						    within + round + 5, (uint32_t)first};

			merge_piece(p, &place[at], &place[at ^ 1], &params,
				    (uint32_t)(n - first < piece ? n - first : piece));
		}
}

static void sort_plan(kit_plan *p)
{
	const uint64_t n = p->use->q->in[0].dim[0];
	const uint32_t n_word = (uint32_t)n;
	const kit_kernel base = {"tensor/sort_base.wgsl", KERNEL_SORT_BASE, 64, NULL, 0};
	const kit_kernel merge = {"tensor/sort_merge.wgsl", KERNEL_SORT_MERGE, 64, NULL, 0};
	const pairs in = {kit_in(p, 0), kit_in(p, 1)};
	pairs place[2] = {{kit_out(p, 0), kit_out(p, 1)}, {0, 0}};
	uint8_t all[PARAMS_STRIDE * ROUNDS_MAX] = {0};
	uint32_t rounds = 0, at;

	if (n == 0)
		return;
	if (tensor_is_too_large(p, 4 * n)) {
		sort_in_pieces(p, n);
		return;
	}
	for (uint64_t run = BASE_RUN; run < n; run *= 2)
		rounds++;
	if (rounds > 0)
		place[1] = (pairs){kit_temp(p, 4 * n), kit_temp(p, 4 * n)};
	/* The places alternate and the last round ends in the outputs. */
	at = rounds & 1;
	kit_run(p, &base, (n + BASE_RUN - 1) / BASE_RUN,
		(kit_slot[]){KIT_ALL(kit_params(p, &n_word, sizeof(n_word))), KIT_ALL(in.keys),
			     KIT_ALL(in.payloads), KIT_ALL(place[at].keys),
			     KIT_ALL(place[at].payloads)},
		5);
	if (rounds == 0)
		return;
	for (uint32_t round = 0; round < rounds; round++) {
		const merge_params params = {n_word, BASE_RUN << round, round + 5};

		memcpy(all + PARAMS_STRIDE * round, &params, sizeof(params));
	}
	kit_repeat(p, rounds,
		   (pctl_plan_pair[]){{place[0].keys, place[1].keys},
				      {place[0].payloads, place[1].payloads}},
		   2);
	kit_run(p, &merge, (n + MERGE_RUN - 1) / MERGE_RUN,
		(kit_slot[]){{kit_params(p, all, PARAMS_STRIDE * rounds), 0, sizeof(merge_params),
			      PARAMS_STRIDE, 0},
			     KIT_ALL(place[at].keys),
			     KIT_ALL(place[at].payloads),
			     KIT_ALL(place[at ^ 1].keys),
			     KIT_ALL(place[at ^ 1].payloads)},
		5);
	kit_repeat_end(p);
}

/* Least significant byte first: stable counting passes, nothing in common with merging. */
static void radix_pass(const uint32_t *keys, const uint32_t *payloads, uint32_t *keys_out,
		       uint32_t *payloads_out, uint64_t n, uint32_t shift)
{
	uint64_t at[257] = {0};

	for (uint64_t i = 0; i < n; i++)
		at[((keys[i] >> shift) & 255) + 1]++;
	for (uint32_t d = 1; d < 257; d++)
		at[d] += at[d - 1];
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t to = at[(keys[i] >> shift) & 255]++;

		keys_out[to] = keys[i];
		payloads_out[to] = payloads[i];
	}
}

static pctl_status sort_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = u->q->in[0].dim[0];
	uint32_t *keys = out[0].data, *payloads = out[1].data;
	uint32_t *tmp = kit_scratch(u, 8 * n);

	if (!tmp)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	radix_pass(in[0].data, in[1].data, tmp, tmp + n, n, 0);
	radix_pass(tmp, tmp + n, keys, payloads, n, 8);
	radix_pass(keys, payloads, tmp, tmp + n, n, 16);
	radix_pass(tmp, tmp + n, keys, payloads, n, 24);
	kit_scratch_free(u, tmp);
	return PCTL_OK;
}

static const pctl_port sort_in[] = {
	{"keys", "u32[n]", "what is compared, unsigned", 0, 0},
	{"payloads", "u32[n]", "what goes along with each key", 0, 0},
};
static const pctl_port sort_out[] = {
	{"keys_sorted", "u32[n]", "the keys in ascending order", 0, 0},
	{"payloads_sorted", "u32[n]", "the payloads, each beside its key", 0, 0},
};
static const pctl_law sort_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "sorted permutation", NULL,
	 "keys_sorted ascends and the pairs are a permutation of the input's"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "stable", NULL,
	 "pairs of equal keys keep their order"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "idempotent", NULL,
	 "sorting what is sorted changes nothing"},
};
static void (*const sort_laws_checks[])(kit_law *) = {tensor_law_permutation, tensor_law_stable,
						      tensor_law_idempotent};
static const pctl_example sort_boundaries[] = {
	{"no pair", {0}},    {"one pair", {1}},		{"one base run", {16}},
	{"one round", {17}}, {"a lone last run", {33}}, {"a short second run", {1025}},
};

static const kit_op sort_ops[] = {
	{
		.desc = {KIT_PLAN_OP("tensor.sort_pairs", 1, PCTL_CLASS_INTEGER),
			 .doc = "stable sort of u32 keys, each with a u32 payload",
			 .spec = "The pairs (keys[i], payloads[i]) in ascending order of the key, "
				 "unsigned; pairs of equal "
				 "keys keep\nthe order of i. n is at most 2^31; n = 0 is valid.",
			 KIT_IN(sort_in), KIT_OUT(sort_out)},
		.rules = KIT_PLAN_RULES(sort_laws, sort_boundaries),
		.laws = sort_laws_checks,
		.infer = sort_infer,
		.plan = sort_plan,
		.reference = sort_reference,
	},
};

const kit_family tensor_sort_family = {sort_ops, NULL, KIT_COUNT(sort_ops), 0};
