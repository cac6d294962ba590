/* The generator for CPU devices: what its text does on a driver, against C beside it; the same with faults planted into the
 * text, which must be seen; what it refuses, by name; and every allocation failing in turn. The text is compiled here and not
 * by the plugin, so that it can be changed on its way. */
#include "sketch.h"

#include <stdlib.h>

#include "failing.h"
#include "planted.h" /* before spmd.h, whose type `text` its arguments would shadow */

#include "spmd/spmd.h"
#include "text_driver.h"

/* ---- programs ---- */

typedef struct vars {
	uint32_t in, out, shared;
	uint32_t at, local; /* global_id.x, local_index */
} vars;

static void begin(sketch *s, vars *v, uint32_t local, uint32_t shared)
{
	const uint32_t array = (sketch_begin(s, local), pctl_build_array(s->b, s->t_u32, 0, 0));

	v->in = sketch_storage(s, 0, array, PCTL_ACCESS_READ);
	v->out = sketch_storage(s, 1, array, PCTL_ACCESS_READ_WRITE);
	if (shared)
		v->shared = sketch_var(s, PCTL_SPACE_WORKGROUP,
				       pctl_build_array(s->b, s->t_u32, shared, 0));
	sketch_main(s);
	v->at = global_x(s);
	v->local = OP(s, BUILTIN, s->t_u32, PCTL_BUILTIN_LOCAL_INDEX);
}

static pctl_program *end(sketch *s)
{
	const pctl_call call = {0};
	pctl_program *p = NULL;
	pctl_entry entry = {.function = pctl_build_function_end(s->b)};

	memcpy(entry.workgroup_size, s->local_size, sizeof(s->local_size));
	pctl_build_entry(s->b, &entry, "main");
	assert_int_equal(pctl_builder_finish(s->b, &call, &p), PCTL_OK);
	pctl_builder_destroy(s->b);
	return p;
}

static char *written(pctl_program *p)
{
	const pctl_call call = {0};
	const char *why = NULL;
	text t = {0};

	assert_int_equal(spmd_program(p, &call, 0, &t, &why), PCTL_OK);
	if (why)
		fail_msg("refused: %s", why);
	pctl_program_destroy(p);
	return t.s;
}

static uint32_t is_odd(sketch *s, uint32_t x)
{
	return OP(s, EQ, s->t_bool, OP(s, AND, s->t_u32, x, k_u32(s, 1)), k_u32(s, 1));
}

/* Odd ones are tripled, others untouched. */
static pctl_program *some_store(void)
{
	uint32_t x;
	vars v;
	sketch s;

	begin(&s, &v, 64, 0);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	OP(&s, IF, 0, is_odd(&s, x));
	OP(&s, STORE, 0, OP(&s, MUL, s.t_u32, x, k_u32(&s, 3)), v.out, v.at);
	OP0(&s, END_IF, 0);
	return end(&s);
}

static uint32_t want_some_store(const uint32_t *in, uint32_t i)
{
	return in[i] & 1 ? in[i] * 3 : UNTOUCHED;
}

/* Odd ones return early, in a workgroup that is no whole number of vectors. */
static pctl_program *some_return(void)
{
	uint32_t x;
	vars v;
	sketch s;

	begin(&s, &v, 50, 0);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	OP(&s, IF, 0, is_odd(&s, x));
	OP0(&s, RETURN, 0);
	OP0(&s, END_IF, 0);
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, x, k_u32(&s, 5)), v.out, v.at);
	return end(&s);
}

static uint32_t want_some_return(const uint32_t *in, uint32_t i)
{
	return i >= 250 || (in[i] & 1) ? UNTOUCHED : in[i] + 5;
}

/* Each takes what its counterpart from the other end of the workgroup has stored. */
static pctl_program *exchange(void)
{
	uint32_t x;
	vars v;
	sketch s;

	begin(&s, &v, 128, 128);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	OP(&s, STORE, 0, x, v.shared, v.local);
	OP(&s, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	x = OP(&s, LOAD, s.t_u32, v.shared, OP(&s, SUB, s.t_u32, k_u32(&s, 127), v.local));
	OP(&s, STORE, 0, x, v.out, v.at);
	return end(&s);
}

static uint32_t want_exchange(const uint32_t *in, uint32_t i)
{
	return in[i / 128 * 128 + 127 - i % 128];
}

/* The sum of 0 .. in & 15, by a loop of which lanes drop out; every fourth turn is passed over. */
static pctl_program *sums(void)
{
	uint32_t limit, i;
	vars v;
	sketch s;

	begin(&s, &v, 32, 0);
	for (uint32_t k = 0; k < 2; k++)
		pctl_build_local(s.b, k ? "sum" : "i", s.t_u32);
	limit = OP(&s, AND, s.t_u32, OP(&s, LOAD, s.t_u32, v.in, v.at), k_u32(&s, 15));
	OP0(&s, LOOP, 0);
	i = OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL);
	OP(&s, LOOP_TEST, 0, OP(&s, LE, s.t_bool, i, limit));
	i = OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL);
	OP(&s, IF, 0,
	   OP(&s, EQ, s.t_bool, OP(&s, AND, s.t_u32, OP(&s, ADD, s.t_u32, i, limit), k_u32(&s, 3)),
	      k_u32(&s, 0)));
	OP0(&s, CONTINUE, 0);
	OP0(&s, END_IF, 0);
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, i, OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL | 1)),
	   PCTL_PLACE_LOCAL | 1);
	OP0(&s, CONTINUING, 0);
	i = OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL);
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, i, k_u32(&s, 1)), PCTL_PLACE_LOCAL);
	OP0(&s, END_LOOP, 0);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL | 1), v.out, v.at);
	return end(&s);
}

static uint32_t want_sums(const uint32_t *in, uint32_t i)
{
	const uint32_t limit = in[i] & 15;
	uint32_t sum = 0;

	for (uint32_t k = 0; k <= limit; k++)
		sum += (k + limit) & 3 ? k : 0;
	return sum;
}

/* Three places further down: the first row begins before the array, where a number of 32 bits wraps. */
static pctl_program *shifted(void)
{
	uint32_t x;
	vars v;
	sketch s;

	begin(&s, &v, 64, 0);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	OP(&s, STORE, 0, x, v.out, OP(&s, SUB, s.t_u32, v.at, k_u32(&s, 3)));
	return end(&s);
}

static uint32_t want_shifted(const uint32_t *in, uint32_t i)
{
	return i + 3 < N ? in[i + 3] : UNTOUCHED;
}

/* An array of one's own, as a whole set to zero by the odd ones alone. */
static pctl_program *cleared(void)
{
	uint32_t x, type;
	vars v;
	sketch s;

	begin(&s, &v, 64, 0);
	type = pctl_build_array(s.b, s.t_u32, 40, 0);
	pctl_build_local(s.b, "own", type);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	OP(&s, STORE, 0, x, PCTL_PLACE_LOCAL, k_u32(&s, 33));
	OP(&s, IF, 0, is_odd(&s, x));
	OP(&s, STORE, 0, OP0(&s, ZERO, type), PCTL_PLACE_LOCAL);
	OP0(&s, END_IF, 0);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL, k_u32(&s, 33)), v.out, v.at);
	return end(&s);
}

static uint32_t want_cleared(const uint32_t *in, uint32_t i)
{
	return in[i] & 1 ? 0 : in[i];
}

typedef struct sample {
	const char *name;
	pctl_program *(*make)(void);
	uint32_t (*want)(const uint32_t *in, uint32_t i);
	uint32_t local, local_bytes;
} sample;

static const sample samples[] = {
	{"a store of some", some_store, want_some_store, 64, 0},
	{"a return of some", some_return, want_some_return, 50, 0},
	{"an exchange", exchange, want_exchange, 128, 512},
	{"a loop of some", sums, want_sums, 32, 0},
	{"a row that is shifted", shifted, want_shifted, 64, 0},
	{"an array cleared by some", cleared, want_cleared, 64, 0},
};

/* How many elements are wrong; the first one in words. */
static uint32_t wrong(driver *d, const sample *of, const char *source, char *named, size_t n)
{
	uint32_t in[N], out[N], count = 0;

	for (uint32_t i = 0; i < N; i++) {
		in[i] = (uint32_t)rig_random(31, i) >> (i % 23);
		out[i] = UNTOUCHED;
	}
	run_text(d, source, N / of->local, of->local_bytes, in, out);
	for (uint32_t i = 0; i < N; i++)
		if (out[i] != of->want(in, i) && count++ == 0)
			snprintf(named, n, "invocation %u: got %u, want %u", i, out[i],
				 of->want(in, i));
	return count;
}

static void test_spmd__right(void **state)
{
	char named[128] = "";

	for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++) {
		char *source = written(samples[k].make());

		if (wrong(*state, &samples[k], source, named, sizeof(named)))
			fail_msg("%s: %s", samples[k].name, named);
		free(source);
	}
}

/* ---- faults ---- */

/* The source with the last `from` replaced. */
static char *changed(const char *source, const char *from, const char *to)
{
	const char *at = NULL;
	char *out = malloc(strlen(source) + strlen(to) + 1);

	for (const char *s = source; (s = strstr(s, from)) != NULL; s++)
		at = s;
	if (!at)
		fail_msg("nothing to change: %s in\n%s", from, source);
	memcpy(out, source, (size_t)(at - source));
	strcpy(out + (at - source), to);
	strcat(out, at + strlen(from));
	return out;
}

static void plant(driver *d, const sample *of, const char *fault, const char *from, const char *to,
		  const char *also, const char *also_to)
{
	char *source = written(of->make()), *bad = changed(source, from, to), *worse = NULL;
	char named[128] = "";

	if (also)
		worse = changed(bad, also, also_to);
	if (!wrong(d, of, worse ? worse : bad, named, sizeof(named)))
		fail_msg("%s in %s was not seen", fault, of->name);
	planted(fault, of->name, "test_spmd__faults_are_seen", named);
	free(source);
	free(bad);
	free(worse);
}

static void test_spmd__faults_are_seen(void **state)
{
	driver *d = *state;

	plant(d, &samples[0], "the mask forgotten at a store", " = m1 & ", " = ", NULL, NULL);
	plant(d, &samples[0], "lanes that hit alone at the first one's element",
	      "q[k + i] = ", "q[k] = ", NULL, NULL);
	plant(d, &samples[2], "a lane's number off by one", "(0, 1, 2, 3,", "(0, 1, 3, 3,", NULL,
	      NULL);
	plant(d, &samples[5], "zeros for all lanes",
	      "(m1 != (uint16)(0)) ? (uint16)(0) :", "1 ? (uint16)(0) :", NULL, NULL);
	plant(d, &samples[4], "a row from its second lane's element on", "_0.s0;", "_0.s1;", NULL,
	      NULL);
	plant(d, &samples[1], "lanes that have returned stay", " m0 &= ~x;", "", NULL, NULL);
	plant(d, &samples[1], "lanes beyond the workgroup run", "(uint16)(50u)", "(uint16)(64u)",
	      NULL, NULL);
	plant(d, &samples[2], "a barrier merged: what it parts in one loop",
	      "\t}\n\tfor (uint s = 0; s < 8u; s++) {", "\t{", "\n}\n", "\n}}\n");
	plant(d, &samples[3], "a loop that ends with its first lane", "if (!p_any(m1)) break;",
	      "if (!all(as_int16(m1))) break;", NULL, NULL);
}

/* ---- what is not taken ---- */

static const char *refusal(pctl_program *p)
{
	const pctl_call call = {0};
	const char *why = NULL;
	text t = {0};

	assert_int_equal(spmd_program(p, &call, 0, &t, &why), PCTL_OK);
	assert_int_equal(t.n == 0, why != NULL);
	text_free(&t);
	pctl_program_destroy(p);
	return why ? why : "";
}

static pctl_program *with_op(uint32_t local, uint32_t sine)
{
	uint32_t x, f32;
	vars v;
	sketch s;

	begin(&s, &v, local, 0);
	f32 = pctl_build_scalar(s.b, PCTL_SCALAR_F32);
	x = OP(&s, BITCAST, f32, OP(&s, LOAD, s.t_u32, v.in, v.at));
	x = sine ? OP(&s, NSIN, f32, x) : OP(&s, NSQRT, f32, x);
	OP(&s, STORE, 0, OP(&s, BITCAST, s.t_u32, x), v.out, v.at);
	return end(&s);
}

static void test_spmd__refusals(void **state)
{
	(void)state;
	assert_string_equal(refusal(with_op(64, 0)), "");
	assert_string_equal(refusal(with_op(1, 0)), "workgroups of one invocation");
	assert_string_equal(refusal(with_op(64, 1)), "a function of the vendor's");
}

/* ---- products of packed bytes ---- */

/* x + (dot4I8Packed(y ^ high, x) - dot4I8Packed(high, x)) of y = 3 x + 1, the bytes of y being without a sign; but for `of` 0 with something else in the place of one of its values: 1: of x,
 * 2: of high, 3: of the product's sign, 4: turned, which is the same. */
static pctl_program *packed_sum(uint32_t of)
{
	uint32_t x, y, high, all, of_high, both;
	vars v;
	sketch s;

	begin(&s, &v, 64, 0);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	y = OP(&s, ADD, s.t_u32, OP(&s, MUL, s.t_u32, x, k_u32(&s, 3)), k_u32(&s, 1));
	high = k_u32(&s, of == 2 ? 0x80808000 : 0x80808080);
	all = OP(&s, XOR, s.t_u32, y, k_u32(&s, 0x80808080));
	all = of == 3 ? OP(&s, BITCAST, s.t_i32, OP(&s, DOT4_U8, s.t_u32, all, x))
		      : OP(&s, DOT4_I8, s.t_i32, all, x);
	of_high = OP(&s, DOT4_I8, s.t_i32, high, of == 1 ? y : x);
	both = OP(&s, SUB, s.t_i32, all, of_high);
	x = OP(&s, BITCAST, s.t_i32, x);
	both = of == 4 ? OP(&s, ADD, s.t_i32, both, x) : OP(&s, ADD, s.t_i32, x, both);
	OP(&s, STORE, 0, OP(&s, BITCAST, s.t_u32, both), v.out, v.at);
	return end(&s);
}

static uint32_t packed_products(uint32_t a, uint32_t b, int a_signed, int b_signed)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < 32; k += 8) {
		const int64_t p = (a >> k) & 255, q = (b >> k) & 255;

		sum += (a_signed && p > 127 ? p - 256 : p) * (b_signed && q > 127 ? q - 256 : q);
	}
	return (uint32_t)sum;
}

static uint32_t want_packed(const uint32_t *in, uint32_t i, uint32_t of)
{
	const uint32_t x = in[i], y = 3 * x + 1, all = y ^ 0x80808080u;

	return x + packed_products(all, x, of != 3, of != 3) -
	       packed_products(of == 2 ? 0x80808000u : 0x80808080u, of == 1 ? y : x, 1, 1);
}

#define WANT_PACKED(of)                                                 \
	static uint32_t want_packed##of(const uint32_t *in, uint32_t i) \
	{                                                               \
		return want_packed(in, i, of);                          \
	}
WANT_PACKED(0)
WANT_PACKED(1)
WANT_PACKED(2)
WANT_PACKED(3)
WANT_PACKED(4)

static const sample packed[] = {
	{"a sum of packed products", NULL, want_packed0, 64, 0},
	{"products of two things", NULL, want_packed1, 64, 0},
	{"another constant", NULL, want_packed2, 64, 0},
	{"products without a sign", NULL, want_packed3, 64, 0},
	{"a sum turned", NULL, want_packed4, 64, 0},
};

static char *packed_text(uint32_t of, uint32_t flags)
{
	const pctl_call call = {0};
	pctl_program *p = packed_sum(of);
	const char *why = NULL;
	text t = {0};

	assert_int_equal(spmd_program(p, &call, flags, &t, &why), PCTL_OK);
	assert_null(why);
	pctl_program_destroy(p);
	return t.s;
}

static int has_vnni(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
#else
	return 0;
#endif
}

/* By one instruction where that is what is written, and else as it is written; on a processor that has it, and a driver that compiles for it, with the same results as by integers. */
static void test_spmd__packed_sums(void **state)
{
	static const struct {
		const char *fault, *from, *to;
	} faults[] = {{"the factors of the instruction exchanged", "%2, %1, %0", "%1, %2, %0"},
		      {"products that forget their sum", "return sum;", "return u;"},
		      {"bytes without a sign taken for what they are not", "more = p_",
		       "more = (uint16)(0) & p_"}};
	driver *d = *state;
	char named[128] = "";

	for (uint32_t of = 0; of < 5; of++) {
		char *plain = packed_text(of, 0), *own = packed_text(of, EMIT_VNNI);

		assert_null(strstr(plain, "asm"));
		assert_non_null(strstr(own, "vpdpbusd %2, %1, %0"));
		assert_int_equal(strstr(own, "= p_vnni_i8_16_add(v") != NULL, of == 0 || of == 4);
		if (wrong(d, &packed[of], plain, named, sizeof(named)) ||
		    (has_vnni() && wrong(d, &packed[of], own, named, sizeof(named))))
			fail_msg("%s: %s", packed[of].name, named);
		free(plain);
		free(own);
	}
	for (size_t k = 0; has_vnni() && k < sizeof(faults) / sizeof(faults[0]); k++) {
		char *source = packed_text(k == 2 ? 1 : 0, EMIT_VNNI);
		char *bad = changed(source, faults[k].from, faults[k].to);

		if (!wrong(d, &packed[k == 2 ? 1 : 0], bad, named, sizeof(named)))
			fail_msg("not seen: %s", faults[k].fault);
		free(source);
		free(bad);
	}
}

/* ---- asking ahead ---- */

/* The word at 2^28 - 1, far outside, is loaded and used by nothing, or (`used` 1) its double is added, which is 0; `lane` 1: a word for each lane. */
static pctl_program *ahead(uint32_t used, uint32_t lane)
{
	uint32_t x, far, word;
	vars v;
	sketch s;

	begin(&s, &v, 64, 0);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	far = k_u32(&s, 0xfffffff);
	far = lane ? OP(&s, ADD, s.t_u32, far, v.at)
		   : OP(&s, ADD, s.t_u32, far, OP(&s, ARRAY_LENGTH, s.t_u32, v.out));
	word = OP(&s, LOAD, s.t_u32, v.in, far);
	if (used)
		x = OP(&s, ADD, s.t_u32, x, OP(&s, ADD, s.t_u32, word, word));
	OP(&s, STORE, 0, x, v.out, v.at);
	return end(&s);
}

static uint32_t want_ahead(const uint32_t *in, uint32_t i)
{
	return in[i];
}

/* Only what is the same for all lanes and used by nothing is asked for, only where the driver is told so, and it is no access: it may lie anywhere. */
static void test_spmd__ahead(void **state)
{
	static const sample of = {"a word that is asked for", NULL, want_ahead, 64, 0};
	const pctl_call call = {0};
	char named[128] = "";

	for (uint32_t k = 0; k < 8; k++) {
		pctl_program *p = ahead(k & 1, k >> 1 & 1);
		const char *why = NULL;
		text t = {0};

		assert_int_equal(spmd_program(p, &call, k >> 2 ? EMIT_AHEAD : 0, &t, &why),
				 PCTL_OK);
		pctl_program_destroy(p);
		assert_int_equal(strstr(t.s, "__builtin_prefetch((const void *)((size_t)b") != NULL,
				 k == 4);
		if (wrong(*state, &of, t.s, named, sizeof(named)))
			fail_msg("%u: %s", k, named);
		text_free(&t);
	}
}

/* ---- no memory ---- */

static void test_spmd__no_memory(void **state)
{
	const pctl_call call = {0};

	(void)state;
	for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++) {
		pctl_program *p = samples[k].make();
		pctl_status status = PCTL_E_NOMEM;
		const char *why;

		for (long at = 0; status != PCTL_OK; at++) {
			text t = {0};

			n_calls = 0;
			fails_at = at;
			status = spmd_program(p, &call, 0, &t, &why);
			fails_at = -1;
			text_free(&t);
			if (status != PCTL_OK)
				assert_int_equal(status, PCTL_E_NOMEM);
			assert_true(at < 10000);
			if (at == 0)
				assert_int_not_equal(status, PCTL_OK);
		}
		pctl_program_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spmd__right),    cmocka_unit_test(test_spmd__faults_are_seen),
		cmocka_unit_test(test_spmd__refusals), cmocka_unit_test(test_spmd__packed_sums),
		cmocka_unit_test(test_spmd__ahead),    cmocka_unit_test(test_spmd__no_memory),
	};

	return cmocka_run_group_tests(tests, open_driver, close_driver) != 0;
}
