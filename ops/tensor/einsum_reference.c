/* tensor.einsum in plain C: every combination of values of the letters, one after another. */
#include "einsum.h"
#include "common/tensors/exact_reference.h"

/* The element of a tensor that the values of the letters name. */
static uint64_t place(const einsum_operand *o, const uint64_t *value)
{
	uint64_t at = 0;

	for (uint32_t d = 0; d < o->type.rank; d++)
		at = at * o->type.dim[d] + value[einsum_letter(o->letters[d])];
	return at;
}

static uint64_t integer(uint32_t dtype, const void *data, uint64_t i)
{
	const uint64_t bytes = kit_dtype_bytes(dtype), v = tensor_get(data, i, bytes),
		       unused = 64 - 8 * bytes;

	return tensor_is_signed(dtype) ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

/* Values of the letters of `letters` counted on, the last one fastest; 0 when all are 0 again. */
static int next(const einsum *e, const char *letters, uint64_t *value)
{
	for (size_t i = strlen(letters); i-- > 0;) {
		const uint32_t l = einsum_letter(letters[i]);

		if (++value[l] < e->extent[l])
			return 1;
		value[l] = 0;
	}
	return 0;
}

/* Letters of the operands that `out` lacks, each once; 1 where one of them has no value. */
static int summed_letters(const einsum *e, const einsum_operand *const *in, uint32_t n,
			  const einsum_operand *out, char *to)
{
	int empty = 0;

	for (uint32_t i = 0; i < n; i++)
		for (const char *l = in[i]->letters; *l != '\0'; l++)
			if (strchr(out->letters, *l) == NULL && strchr(to, *l) == NULL) {
				to[strlen(to)] = *l;
				empty |= e->extent[einsum_letter(*l)] == 0;
			}
	return empty;
}

/* One product of n tensors (1 or 2), or one sum. */
static pctl_status evaluate(const kit_use *u, const einsum *e, const einsum_operand *const *in,
			    const void *const *data, uint32_t n, const einsum_operand *out,
			    void *to)
{
	const tensor_float_format *f = tensor_float_format_of(out->type.dtype);
	const uint64_t bytes = kit_dtype_bytes(out->type.dtype), count = kit_elements(&out->type);
	uint64_t value[EINSUM_LETTERS] = {0};
	char over[EINSUM_AXES + 1] = "";
	const int empty = summed_letters(e, in, n, out, over);
	tensor_sum *sum = kit_scratch(u, sizeof(*sum));

	if (sum == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for a sum");
	for (uint64_t i = 0; i < count; i++, next(e, out->letters, value)) {
		uint64_t total = 0;

		memset(sum, 0, sizeof(*sum));
		/* Nothing is added: the bits move. */
		if (n == 1 && *over == '\0') {
			tensor_put(to, i, bytes, tensor_get(data[0], place(in[0], value), bytes));
			continue;
		}
		do {
			const uint64_t a = place(in[0], value),
				       b = n == 2 ? place(in[1], value) : 0;

			if (empty)
				break;
			if (f != NULL)
				tensor_sum_product(
					sum, tensor_value(in[0]->type.dtype, data[0], a),
					n == 2 ? tensor_value(in[1]->type.dtype, data[1], b) : 1);
			else
				total += integer(in[0]->type.dtype, data[0], a) *
					 (n == 2 ? integer(in[1]->type.dtype, data[1], b) : 1);
		} while (next(e, over, value));
		tensor_put(to, i, bytes, f != NULL ? tensor_sum_round(sum, 1, f) : total);
	}
	kit_scratch_free(u, sum);
	return PCTL_OK;
}

pctl_status einsum_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	einsum e;
	pctl_status status = einsum_of(u, &e);
	void *between = NULL;

	if (status != PCTL_OK)
		return status;
	if (e.n_in < 3)
		return evaluate(u, &e, (const einsum_operand *const[]){&e.in[0], &e.in[1]},
				(const void *const[]){in[0].data, e.n_in == 2 ? in[1].data : NULL},
				e.n_in, &e.out, out[0].data);
	between = kit_scratch(
		u, kit_elements(&e.between.type) * kit_dtype_bytes(e.between.type.dtype) + 1);
	if (between == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for a product");
	status = evaluate(u, &e, (const einsum_operand *const[]){&e.in[0], &e.in[1]},
			  (const void *const[]){in[0].data, in[1].data}, 2, &e.between, between);
	if (status == PCTL_OK)
		status = evaluate(u, &e, (const einsum_operand *const[]){&e.between, &e.in[2]},
				  (const void *const[]){between, in[2].data}, 2, &e.out,
				  out[0].data);
	kit_scratch_free(u, between);
	return status;
}
