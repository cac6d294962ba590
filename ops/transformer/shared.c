/* What the ops of this library have in common; see shared.h. */
#include "shared.h"

uint64_t transformer_rows(const pctl_tensor_type *t, uint32_t but)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d + but < t->rank; d++)
		n *= t->dim[d];
	return n;
}

void transformer_cut_rows(const kit_use *u, pctl_op_result *out, uint32_t but, uint32_t along)
{
	out->n_cut = out->out[0].rank - but;
	for (uint32_t i = 0; i < u->q->n_in; i++)
		if (along >> i & 1u)
			out->cut[i] = (1u << out->n_cut) - 1u;
}

void transformer_put(void *data, uint64_t i, float v)
{
	uint32_t bits = 0x7fc00000u;

	if (v == v)
		memcpy(&bits, &v, 4);
	tensor_put(data, i, 4, bits);
}

float transformer_get(const void *data, uint64_t i)
{
	float v;

	memcpy(&v, (const char *)data + 4 * i, 4);
	return v;
}

float transformer_rounded(tensor_sum *s)
{
	const uint32_t bits = tensor_sum_round(s, 1, tensor_float_format_of(PCTL_SCALAR_F32));
	float v;

	memcpy(&v, &bits, 4);
	return v;
}

void transformer_problem_table(kit_problem *p, uint32_t port, const pctl_tensor_type *t)
{
	const uint64_t bytes = kit_bytes(t);
	uint8_t *data = p->status == PCTL_OK ? kit_scratch(&p->use, bytes) : NULL;

	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(kit_random(p->seed + p->number * 8 + port, i) >> 24);
	tensor_mend(t->dtype, data, kit_elements(t), bytes);
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

/* A sign, a significand of all bits, and an exponent from -4 to 3. */
static uint32_t near_one(uint64_t r)
{
	return (uint32_t)((r & 1) << 31 | (123 + (r >> 1 & 7)) << 23 | (r >> 8 & 0x7fffffu));
}

void transformer_problem_floats(kit_problem *p, uint32_t port, const pctl_tensor_type *t)
{
	static const uint32_t edges[] = {0,	      0x80000000u, 0x7f800000u, 0xff800000u,
					 0x7fc00000u, 0x7f7fffffu, 1,		0xffc00001u};
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	const tensor_float_format *format = tensor_float_format_of(t->dtype);
	const int wrong = kit_random(p->seed, p->number * 16 + port) % 8 == 0;
	uint8_t *data = p->status == PCTL_OK ? kit_scratch(&p->use, n * bytes) : NULL;

	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + port, i);
		const uint32_t bits = wrong && r >> 40 & 1 ? edges[r >> 41 & 7] : near_one(r);
		float v;

		memcpy(&v, &bits, 4);
		tensor_put(data, i, bytes,
			   t->dtype == PCTL_SCALAR_F32 ? bits : tensor_narrowed(v, format));
	}
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

uint32_t transformer_law_rows(kit_law *l, const pctl_tensor_type *t, uint32_t of, uint64_t width)
{
	const tensor_lines lines = {1, width == 0 ? 0 : kit_elements(t) / width, width, 0};

	return tensor_law_taken(l, t, of, tensor_law_mirrored, &lines);
}
