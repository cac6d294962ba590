/* The lane kernels compiled for the baseline and for wider vectors give the same bits: every kernel
 * of both tables on the same random and boundary lanes, over ranges that begin and end anywhere. The
 * float ones are also held against the oracle, since devices of other tests only run the wider one. */
#include "float_pairs.h"
#include "harness.h"
#include "main.h"

#include "kernels/kernels_isa.h"
#include "pipectl/float_env.h"

#include <stdlib.h>

#define N 67u

typedef struct lanes {
	uint64_t a[N], b[N], c[N], e[N], d[N];
} lanes;

static void fill(lanes *l, uint64_t seed)
{
	static const uint64_t edges[] = {0,	     1,	    0xffffffff, 0x80000000, 0x7fffffff,
					 1ull << 63, ~0ull, 31,		32,	    64};

	for (uint32_t i = 0; i < N; i++) {
		uint64_t *at[4] = {&l->a[i], &l->b[i], &l->c[i], &l->e[i]};

		for (uint32_t k = 0; k < 4; k++) {
			const uint64_t r = rig_random(seed + k, i);
			*at[k] = r % 3 ? edges[(r >> 8) % 10] | edges[(r >> 16) % 10] << 32 : r;
		}
		l->d[i] = 0x1111111111111111u * (i % 16);
	}
}

static uint32_t agree(pctl_cpu_kernel *x, pctl_cpu_kernel *y, uint64_t seed)
{
	static lanes p, q;

	assert_int_equal(x == NULL, y == NULL);
	if (!x)
		return 0;
	for (uint32_t lo = 0; lo < 20; lo += 5) {
		const uint32_t hi = N - lo / 2;

		fill(&p, seed + lo);
		fill(&q, seed + lo);
		x(lo, hi, p.d, p.a, p.b, p.c, p.e);
		y(lo, hi, q.d, q.a, q.b, q.c, q.e);
		assert_memory_equal(&p, &q, sizeof(p));
	}
	return 1;
}

static void both_tables_agree(void **state)
{
	const pctl_cpu_kernels *x = pctl_cpu_kernels_base(), *y = pctl_cpu_kernels_best();
	uint32_t n = 0;
	(void)state;

	for (uint32_t op = 0; op < PCTL_CPU_N_ROWS; op++)
		for (uint32_t s = 0; s < PCTL_CPU_N_SCALARS; s++)
			for (uint32_t form = 0; form < 3; form++)
				n += agree(x->elem[op][s][form], y->elem[op][s][form],
					   op * 64 + s * 4 + form);
	for (uint32_t s = 0; s < PCTL_CPU_N_CASTS; s++)
		for (uint32_t t = 0; t < PCTL_CPU_N_CASTS; t++)
			n += agree(x->cast[s][t], y->cast[s][t], s * 16 + t);
	for (uint32_t s = 0; s < PCTL_CPU_N_SCALARS; s++)
		for (uint32_t t = 0; t < PCTL_CPU_N_SCALARS; t++)
			n += agree(x->convert[s][t], y->convert[s][t], s * 16 + t);
	for (uint32_t w = 0; w < 2; w++) {
		n += agree(x->select[w], y->select[w], 1);
		n += agree(x->splat[w], y->splat[w], 2);
		n += agree(x->copy[w], y->copy[w], 3);
		n += agree(x->blend[w], y->blend[w], 4);
		n += agree(x->blend_u[w], y->blend_u[w], 5);
	}
	n += agree(x->join, y->join, 6);
	n += agree(x->low, y->low, 7);
	n += agree(x->high, y->high, 8);
	n += agree(x->splat[PCTL_CPU_MEM_2], y->splat[PCTL_CPU_MEM_2], 8);
	n += agree(x->join16, y->join16, 8);
	n += agree(x->low16, y->low16, 8);
	n += agree(x->high16, y->high16, 8);
	n += agree(x->truth, y->truth, 9);
	n += agree(x->mask_or, y->mask_or, 10);
	n += agree(x->mask_equal, y->mask_equal, 11);
	assert_true(n > 400);
	if (x == y)
		fprintf(stderr, "this processor has no wider variant: the baseline was compared "
				"with itself\n");
}

/* Every form of one float kernel of a table, on the same operands. */
static void hold(const pctl_cpu_kernels *k, const float_op *o, const float_format *f)
{
	const uint32_t n = float_awkward(f, o->n_args) + 20000;
	uint32_t *x[3], *d = calloc(n, 4);

	for (uint32_t a = 0; a < 3; a++) {
		x[a] = calloc(n, 4);
		for (uint32_t i = 0; i < n; i++)
			x[a][i] = float_operand(f, o->n_args, a, i, o->op);
	}
	for (uint32_t form = 0; form < 3; form++) {
		pctl_cpu_kernel *kernel = k->elem[PCTL_CPU_ROW(o->op)][f->scalar][form];
		const uint32_t lo = 5, step = form == PCTL_CPU_VV ? n - 8 : 701;

		assert_true(kernel != NULL || form != PCTL_CPU_VV);
		for (uint32_t at = lo; kernel && at + step < n; at += step) {
			/* The shared operand is the one at the start of the piece. */
			kernel(at, at + step, d, form == PCTL_CPU_UV ? x[0] + at : x[0],
			       form == PCTL_CPU_VU ? x[1] + at : x[1], x[2], NULL);
			for (uint32_t i = at; i < at + step; i++) {
				const uint32_t args[3] = {x[0][form == PCTL_CPU_UV ? at : i],
							  x[1][form == PCTL_CPU_VU ? at : i],
							  x[2][i]};

				if (d[i] != float_expect(o->op, f, args))
					fail_msg("%s, %s of %s, form %u: %x %x %x is %x, not %x",
						 k->name, pctl_op_get(o->op)->name, f->name, form,
						 args[0], args[1], args[2], d[i],
						 float_expect(o->op, f, args));
			}
		}
	}
	for (uint32_t a = 0; a < 3; a++)
		free(x[a]);
	free(d);
}

/* Sums and products of f16 and bf16: all left operands with every 1021st right one, or with every
 * PIPECTL_PAIRS-th; 1 is all 2^32 pairs, a minute or two for each of the four. */
static void pairs_of_the_small_formats(void **state)
{
	const char *asked = getenv("PIPECTL_PAIRS");
	const uint32_t step = asked && atoi(asked) > 0 ? (uint32_t)atoi(asked) : 1021;
	const pctl_cpu_kernels *table = pctl_cpu_kernels_best();
	uint32_t *x = calloc(65536, 4), *d = calloc(65536, 4);
	float_parts *parts = calloc(65536, sizeof(*parts));
	(void)state;

	for (uint32_t k = FLOAT_F16; k <= FLOAT_BF16; k++) {
		const float_format *f = &float_formats[k];

		for (uint32_t i = 0; i < 65536; i++) {
			x[i] = i;
			parts[i] = float_take_apart(f, i);
		}
		for (uint32_t product = 0; product < 2; product++) {
			const uint16_t op = product ? PCTL_OP_FMUL : PCTL_OP_FADD;
			pctl_cpu_kernel *kernel =
				table->elem[PCTL_CPU_ROW(op)][f->scalar][PCTL_CPU_VU];

			for (uint32_t b = 0; b < 65536; b += step) {
				kernel(0, 65536, d, x, &b, NULL, NULL);
				for (uint32_t a = 0; a < 65536; a++) {
					const uint32_t want =
						product ? float_product(f, &parts[a], &parts[b])
							: float_sum(f, &parts[a], &parts[b]);

					if (d[a] != want)
						fail_msg("%s of %s: %x %x is %x, not %x",
							 pctl_op_get(op)->name, f->name, a, b, d[a],
							 want);
				}
			}
		}
	}
	free(x);
	free(d);
	free(parts);
}

static void both_tables_round_right(void **state)
{
	const pctl_cpu_kernels *tables[2] = {pctl_cpu_kernels_base(), pctl_cpu_kernels_best()};
	fenv_t saved;
	(void)state;

	pctl_float_env_enter(&saved);
	for (uint32_t t = 0; t < 2; t++)
		for (uint32_t i = 0; i < first_math; i++)
			for (uint32_t k = 0; k < N_FLOAT_FORMATS; k++)
				hold(tables[t], &float_ops[i], &float_formats[k]);
	pctl_float_env_leave(&saved);
	float_oracle_close();
}

PCTL_TESTS_MAIN(PCTL_TEST(pairs_of_the_small_formats), PCTL_TEST(both_tables_round_right),
		PCTL_TEST(both_tables_agree))
