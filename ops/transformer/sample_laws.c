/* Problems of transformer.sample, and its laws, by code that knows neither kernels nor the reference. */
#include "sample.h"

static const uint64_t sizes_of[][2] = {{2, 7}, {1, 1},	 {3, 33}, {1, 300}, {4, 64},
				       {0, 5}, {2, 513}, {8, 3},  {1, 2000}};
static const float temperatures[] = {1, 0.7f, 0, 2, 1e-3f, 1e30f, -1};
static const float shares[] = {1, 0.9f, 0.5f, 0, 1e-6f, 0.999f, 2};
static const float floors[] = {0, 0.1f, 0.5f, 1e-20f, 3, -1};
static const uint32_t counts[] = {0, 1, 2, 40, 5, 100000};

const pctl_op_problems sample_problems = {PCTL_HEAD(pctl_op_problems),
					  "up to 8 rows, of up to 2000 logits, many of them equal",
					  KIT_COUNT(sizes_of) * 8};

static float number(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, 4);
	return v;
}

void sample_problem(kit_problem *p)
{
	const uint64_t *s = sizes_of[p->number % KIT_COUNT(sizes_of)];
	const uint64_t variant = p->number / KIT_COUNT(sizes_of);
	const pctl_tensor_type logits = {PCTL_SCALAR_F32, 2, {s[0], s[1]}},
			       key = {PCTL_SCALAR_U32, 2, {s[0], 2}},
			       row = kit_vector(PCTL_SCALAR_F32, s[0]),
			       word = kit_vector(PCTL_SCALAR_U32, s[0]);
	float f[8];
	uint32_t w[16];

	if (variant < 4)
		transformer_problem_floats(p, SAMPLE_LOGITS, &logits);
	else
		tensor_problem_fill(p, SAMPLE_LOGITS, &logits,
				    variant % 4 == 0 ? TENSOR_EDGES : TENSOR_SMALL);
	for (uint32_t port = SAMPLE_TEMPERATURE; port < SAMPLE_PORTS; port++) {
		for (uint64_t i = 0; i < 16; i++) {
			const uint64_t r = kit_random(p->seed + p->number * 8 + port, i) >> 8;

			w[i] = port == SAMPLE_TOP_K ? counts[r % KIT_COUNT(counts)] : (uint32_t)r;
			if (i < 8)
				f[i] = port == SAMPLE_TEMPERATURE
					       ? temperatures[r % KIT_COUNT(temperatures)]
				       : port == SAMPLE_TOP_P ? shares[r % KIT_COUNT(shares)]
							      : floors[r % KIT_COUNT(floors)];
			if (i < 8 && (r >> 32) % 16 == 0)
				f[i] = number(0x7fc00000u);
		}
		if (port == SAMPLE_TOP_K || port == SAMPLE_POSITION)
			kit_problem_input(p, port, &word, w);
		else if (port == SAMPLE_KEY)
			kit_problem_input(p, port, &key, w);
		else
			kit_problem_input(p, port, &row, f);
	}
	kit_problem_rigid(p);
}

static uint32_t drawn(kit_law *l, const uint32_t in[SAMPLE_PORTS])
{
	return kit_law_use(l, "transformer.sample", in, SAMPLE_PORTS, NULL, 0, 1);
}

/* A tensor of one word for each row. */
static uint32_t same(kit_law *l, uint32_t port, uint32_t value)
{
	const pctl_tensor_type *t = &l->use.q->in[port];
	uint32_t *data = kit_law_scratch(l, 4 * kit_elements(t) + 4), made = 0;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < kit_elements(t); i++)
		data[i] = value;
	made = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return made;
}

static void own(uint32_t in[SAMPLE_PORTS])
{
	for (uint32_t i = 0; i < SAMPLE_PORTS; i++)
		in[i] = i;
}

void sample_law_rows(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[SAMPLE_PORTS];

	for (uint32_t i = 0; i < SAMPLE_PORTS; i++)
		in[i] = transformer_law_rows(l, &q->in[i], i,
					     i == SAMPLE_LOGITS ? q->in[i].dim[1]
					     : i == SAMPLE_KEY	? 2
								: 1);
	kit_law_equal(l, drawn(l, in), transformer_law_rows(l, &l->c->types[y], y, 1));
}

void sample_law_greedy(kit_law *l)
{
	const pctl_attr attr[] = {{"axis", "1", 1}};
	uint32_t in[SAMPLE_PORTS];

	own(in);
	in[SAMPLE_TEMPERATURE] = same(l, SAMPLE_TEMPERATURE, 0);
	kit_law_equal(l, drawn(l, in),
		      kit_law_use(l, "tensor.argmax", (uint32_t[]){SAMPLE_LOGITS}, 1, attr, 1, 1));
}

/* With temperature 1, at which logits are their own z: the first of them in the order. */
void sample_law_one(kit_law *l)
{
	const pctl_attr attr[] = {{"axis", "1", 1}};
	uint32_t in[SAMPLE_PORTS], greedy;

	own(in);
	in[SAMPLE_TEMPERATURE] = same(l, SAMPLE_TEMPERATURE, 0x3f800000u);
	greedy = kit_law_use(l, "tensor.argmax", (uint32_t[]){SAMPLE_LOGITS}, 1, attr, 1, 1);
	in[SAMPLE_TOP_K] = same(l, SAMPLE_TOP_K, 1);
	kit_law_equal(l, drawn(l, in), greedy);
	own(in);
	in[SAMPLE_TEMPERATURE] = same(l, SAMPLE_TEMPERATURE, 0x3f800000u);
	in[SAMPLE_TOP_P] = same(l, SAMPLE_TOP_P, 0);
	kit_law_equal(l, drawn(l, in), greedy);
}

void sample_law_padded(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[SAMPLE_LOGITS];
	const uint64_t n = t->dim[1];
	const pctl_tensor_type wide = {PCTL_SCALAR_F32, 2, {t->dim[0], n + 3}};
	uint32_t *data = kit_law_scratch(l, 4 * kit_elements(&wide) + 4), in[SAMPLE_PORTS];
	int low = 0;

	if (data == NULL)
		return;
	for (uint64_t row = 0; row < t->dim[0]; row++) {
		int above = 0;

		for (uint64_t i = 0; i < n + 3; i++) {
			const uint32_t x =
				i < n ? (uint32_t)tensor_get(kit_law_data(l, SAMPLE_LOGITS),
							     row * n + i, 4)
				      : 0xff800000u;

			data[row * (n + 3) + i] = x;
			above |= x != 0xff800000u && (x & 0x7fffffffu) <= 0x7f800000u;
		}
		low |= !above;
	}
	own(in);
	if (!low) {
		in[SAMPLE_LOGITS] = kit_law_tensor(l, &wide, data);
		kit_law_equal(l, drawn(l, in), kit_law_out(l, 0));
	}
	kit_law_free(l, data);
}

void sample_law_all(kit_law *l)
{
	uint32_t in[SAMPLE_PORTS], with, without;

	own(in);
	in[SAMPLE_TOP_K] = same(l, SAMPLE_TOP_K, (uint32_t)l->use.q->in[SAMPLE_LOGITS].dim[1]);
	in[SAMPLE_TOP_P] = same(l, SAMPLE_TOP_P, 0x3f800000u);
	in[SAMPLE_MIN_P] = same(l, SAMPLE_MIN_P, 0);
	with = drawn(l, in);
	in[SAMPLE_TOP_K] = same(l, SAMPLE_TOP_K, 0);
	in[SAMPLE_TOP_P] = same(l, SAMPLE_TOP_P, 0x7fc00000u);
	in[SAMPLE_MIN_P] = same(l, SAMPLE_MIN_P, 0xbf800000u);
	without = drawn(l, in);
	kit_law_equal(l, with, without);
}
