/* One job on a fake backend that records what it is asked: where barriers stand, which buffers a repeat
 * uses, what a cancelled or late job leaves behind, and that no failing call loses anything. */
#include "main.h"

#include "foundation/diag/diag.h"
#include "runtime/exec/job.h"

#define FAKE_KERNEL                                                       \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { y[id.x] = x[id.x] + 1u; }\n}\n"

#include "fakes/memory.h"

/* ---- the backend ------------------------------------------------------------------------------ */

static struct {
	int alive;		 /* objects made and not yet destroyed */
	uint32_t calls, fail_at; /* the fail_at-th fallible call fails, 0 none */
	uint32_t toggles;	 /* a dispatch computes x ^ 1 in place of x + 1 */
	uint32_t never_done, cancels, submits;
	uint32_t strays; /* 1: it writes the byte behind each binding too, 2: before it */
	uint64_t shapes; /* not 0: jobs come in a shape of this key, in zones where it is odd */
	char trace
		[256]; /* of the last list: d dispatch, i one by numbers in a buffer, b barrier, f fill, c copy */
} log_;

static void reset(void)
{
	memset(&log_, 0, sizeof(log_));
}

static int fails(void)
{
	return ++log_.calls == log_.fail_at;
}

#define COUNTED(name, arguments, values, object)             \
	static pctl_status name arguments                    \
	{                                                    \
		pctl_status status;                          \
		if (fails())                                 \
			return PCTL_E_DEVICE_LOST;           \
		status = fake_##name values;                 \
		log_.alive += status == PCTL_OK && (object); \
		return status;                               \
	}
#define MARKED(name, arguments, values, mark)                                           \
	static pctl_status name arguments                                               \
	{                                                                               \
		if (fails())                                                            \
			return PCTL_E_DEVICE_LOST;                                      \
		strncat(log_.trace, mark, sizeof(log_.trace) - strlen(log_.trace) - 1); \
		return fake_##name values;                                              \
	}
static uint64_t made_bytes; /* of all buffers */
static pctl_status buffer_of(pctl_device *d, const pctl_call *c, uint64_t n, uint32_t u,
			     pctl_buffer **out)
{
	made_bytes += n;
	return fake_buffer_create(d, c, n, u, out);
}
#define fake_buffer_create buffer_of
COUNTED(buffer_create,
	(pctl_device * d, const pctl_call *c, uint64_t n, uint32_t u, pctl_buffer **out),
	(d, c, n, u, out), 1)
#undef fake_buffer_create
COUNTED(kernel_build,
	(pctl_device * d, const pctl_call *c, const uint8_t *w, uint64_t n, uint32_t f,
	 const void *k, uint64_t kn, pctl_kernel **out),
	(d, c, w, n, f, k, kn, out), 1)
COUNTED(list_begin, (pctl_device * d, const pctl_call *c, pctl_list **out), (d, c, out), 1)
COUNTED(buffer_write,
	(pctl_device * d, const pctl_call *c, pctl_buffer *b, uint64_t o, const void *p,
	 uint64_t n),
	(d, c, b, o, p, n), 0)
COUNTED(buffer_read,
	(pctl_device * d, const pctl_call *c, pctl_buffer *b, uint64_t o, void *p, uint64_t n),
	(d, c, b, o, p, n), 0)
COUNTED(supports,
	(pctl_device * d, const pctl_call *c, const uint8_t *w, uint64_t n, pctl_support *out),
	(d, c, w, n, out), 0)
COUNTED(list_end, (pctl_list * l, const pctl_call *c), (l, c), 0)
MARKED(list_dispatch,
       (pctl_list * l, const pctl_call *c, pctl_kernel *k, const pctl_binding *b, uint32_t n,
	const uint32_t g[3]),
       (l, c, k, b, n, g), "d")
MARKED(list_dispatch_indirect,
       (pctl_list * l, const pctl_call *c, pctl_kernel *k, const pctl_binding *b, uint32_t n,
	pctl_buffer *counts, uint64_t at, const uint32_t g[3]),
       (l, c, k, b, n, counts, at, g), "i")
MARKED(list_copy,
       (pctl_list * l, const pctl_call *c, pctl_buffer *f, uint64_t fo, pctl_buffer *t, uint64_t to,
	uint64_t n),
       (l, c, f, fo, t, to, n), "c")
MARKED(list_fill,
       (pctl_list * l, const pctl_call *c, pctl_buffer *b, uint64_t o, uint64_t n, uint32_t w),
       (l, c, b, o, n, w), "f")
MARKED(list_barrier, (pctl_list * l, const pctl_call *c), (l, c), "b")

static void buffer_destroy(pctl_device *d, pctl_buffer *b)
{
	log_.alive--;
	fake_buffer_destroy(d, b);
}

static void kernel_destroy(pctl_device *d, pctl_kernel *k)
{
	log_.alive--;
	fake_kernel_destroy(d, k);
}

static void list_destroy(pctl_device *d, pctl_list *l)
{
	log_.alive--;
	fake_list_destroy(d, l);
}

static void run_command(const fake_command *c)
{
	if (c->what != FAKE_DISPATCH) {
		fake_run(c);
		return;
	}
	for (uint64_t i = 0; i + 4 <= c->bindings[1].n_bytes; i += 4) {
		uint32_t v;

		memcpy(&v, c->bindings[0].buffer->data + c->bindings[0].offset + i, 4);
		v = log_.toggles ? v ^ 1 : v + 1;
		memcpy(c->bindings[1].buffer->data + c->bindings[1].offset + i, &v, 4);
	}
	for (uint32_t i = 0; log_.strays && i < 2; i++) {
		const pctl_binding *b = &c->bindings[i];
		const uint64_t at = log_.strays == 1 ? b->offset + b->n_bytes : b->offset - 1;

		if (at < b->buffer->n_bytes)
			b->buffer->data[at] ^= 1;
	}
}

static pctl_status submit(pctl_device *d, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	(void)call;
	*ticket = 0;
	if (fails())
		return PCTL_E_DEVICE_LOST;
	log_.submits++;
	for (uint32_t t = 0; t < times; t++) {
		for (uint32_t i = 0; i < l->n; i++)
			run_command(&l->commands[i]);
	}
	*ticket = d->done_ticket = d->next_ticket++;
	return PCTL_OK;
}

static pctl_status wait_(pctl_device *d, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out)
{
	if (fails())
		return PCTL_E_DEVICE_LOST;
	if (log_.never_done && log_.cancels == 0) {
		out->done = 0;
		usleep(2000);
		return PCTL_OK;
	}
	return fake_wait(d, call, ticket, timeout_ns, out);
}

static void cancel(pctl_device *d, uint64_t ticket)
{
	(void)d;
	(void)ticket;
	log_.cancels++;
}

static pctl_status caps(pctl_device *d, const pctl_call *call, pctl_device_caps *out)
{
	pctl_status status = fake_device_caps(d, call, out);

	out->max_local[0] = out->max_local[1] = out->max_local[2] = 256;
	return status;
}

static const pctl_backend template = {FAKE_TABLE};

/* ---- the bench --------------------------------------------------------------------------------- */

struct bench {
	pctl_backend table;
	struct pctl_instance inst;
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_kernels *kernels;
	const pctl_kernel_module *unit;
	pctl_session *s;
};

#define N 16u

static pctl_status bench_open(struct bench *b)
{
	static const uint32_t groups[3] = {1, 1, 1};
	const pctl_kernel_source source = {.name = "k",
					   .text = FAKE_KERNEL,
					   .n_text = sizeof(FAKE_KERNEL) - 1,
					   .groups = groups};
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "fake", .id = "fake:0"};

	memset(b, 0, sizeof(*b));
	b->table = template;
	b->table.buffer_create = buffer_create;
	b->table.buffer_destroy = buffer_destroy;
	b->table.buffer_write = buffer_write;
	b->table.buffer_read = buffer_read;
	b->table.supports = supports;
	b->table.kernel_build = kernel_build;
	b->table.kernel_destroy = kernel_destroy;
	b->table.list_begin = list_begin;
	b->table.list_dispatch = list_dispatch;
	b->table.list_dispatch_indirect = list_dispatch_indirect;
	b->table.list_copy = list_copy;
	b->table.list_fill = list_fill;
	b->table.list_barrier = list_barrier;
	b->table.list_end = list_end;
	b->table.list_destroy = list_destroy;
	b->table.submit = submit;
	b->table.wait = wait_;
	b->table.cancel = cancel;
	b->table.device_caps = caps;
	b->l = pctl_diag_list_create();
	b->call = pctl_diag_list_call(b->l);
	b->kernels = pctl_kernels_create(NULL);
	assert_int_equal(pctl_kernels_get(b->kernels, &source, b->call, &b->unit), PCTL_OK);
	o.table = &b->table;
	o.inst = &b->inst;
	return pctl_session_open(&o, b->call, &b->s);
}

static void bench_close(struct bench *b)
{
	pctl_session_close(b->s);
	pctl_kernels_destroy(b->kernels);
	pctl_diag_list_destroy(b->l);
	assert_int_equal(log_.alive, 0);
}

/* A plan of n_in inputs, n_out outputs and n_temp temporaries of N words. */
static pctl_job_plan *plan_of(struct bench *b, uint32_t n_in, uint32_t n_out, uint32_t n_temp)
{
	pctl_job_plan *p;
	uint32_t number;

	assert_int_equal(pctl_job_plan_create("j", b->call, &p), PCTL_OK);
	for (uint32_t i = 0; i < n_in + n_out + n_temp; i++)
		assert_int_equal(pctl_job_plan_buffer(p,
						      i < n_in		 ? PCTL_PLAN_INPUT
						      : i < n_in + n_out ? PCTL_PLAN_OUTPUT
									 : PCTL_PLAN_TEMP,
						      N * 4, NULL, b->call, &number),
				 PCTL_OK);
	return p;
}

static void dispatch(struct bench *b, pctl_job_plan *p, uint32_t from, uint32_t to)
{
	static const uint32_t groups[3] = {1, 1, 1};
	const pctl_plan_binding bindings[2] = {{0, 0, from, 0, 0, 0}, {0, 1, to, 0, 0, 0}};

	assert_int_equal(pctl_job_plan_kernel(p, b->unit, bindings, 2, groups, b->call), PCTL_OK);
}

/* n inputs; input i starts as words 100 * i + 0, 1, 2 .. */
static void feed(struct bench *b, uint32_t n, pctl_data_source **sources, pctl_value **values)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t words[N];
		char path[] = "/tmp/pipectl-job-XXXXXX";
		int fd = mkstemp(path);

		for (uint32_t k = 0; k < N; k++)
			words[k] = 100 * i + k;
		assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
		close(fd);
		assert_int_equal(pctl_source_open_file(path, b->call, &sources[i]), PCTL_OK);
		unlink(path);
		values[i] = pctl_value_from_source(sources[i]);
		assert_non_null(values[i]);
	}
}

static void drop(uint32_t n, pctl_data_source **sources, pctl_value **values)
{
	for (uint32_t i = 0; i < n; i++) {
		pctl_value_release(values[i]);
		if (sources != NULL)
			pctl_source_close(sources[i]);
	}
}

/* ---- tests ------------------------------------------------------------------------------------- */

#define BY(counts) (((counts) + 1u) << 8)

/* Steps as pairs of buffers; 'f' in `from` fills, BY() in it has the workgroups in a buffer. Two inputs 0 1, two outputs 2 3, a temporary 4. */
static void expect_trace(const uint32_t (*steps)[2], uint32_t n, int same_input, const char *want)
{
	static const uint64_t out_bytes[2] = {N * 4, N * 4};
	pctl_value *in[2], *out[2];
	pctl_data_source *sources[2];
	struct bench b;
	pctl_job_run run = {.repeat = 1, .out_bytes = out_bytes};
	pctl_job_plan *p;

	reset();
	assert_int_equal(bench_open(&b), PCTL_OK);
	p = plan_of(&b, 2, 2, 1);
	for (uint32_t i = 0; i < n; i++) {
		if (steps[i][0] == 'f')
			assert_int_equal(pctl_job_plan_zero(p, steps[i][1], b.call), PCTL_OK);
		else
			dispatch(&b, p, steps[i][0] & 255u, steps[i][1]);
		if (steps[i][0] >> 8 != 0)
			pctl_job_plan_indirect(p, p->n_steps - 1u, (steps[i][0] >> 8) - 1u, 0);
	}
	run.plan = p;
	feed(&b, 2, sources, in);
	if (same_input) {
		pctl_value_release(in[1]);
		in[1] = pctl_value_retain(in[0]);
	}
	assert_int_equal(pctl_job_execute(b.s, &run, in, b.call, out, NULL), PCTL_OK);
	assert_string_equal(log_.trace, want);
	drop(2, NULL, out);
	drop(2, sources, in);
	pctl_job_plan_destroy(p);
	bench_close(&b);
}

static void barriers(void **state)
{
	(void)state;
	expect_trace((const uint32_t[][2]){{0, 2}, {1, 3}}, 2, 0, "dd"); /* nothing shared */
	expect_trace((const uint32_t[][2]){{0, 2}, {0, 3}}, 2, 0, "dd"); /* both read */
	expect_trace((const uint32_t[][2]){{0, 2}, {1, 3}}, 2, 1,
		     "dd"); /* one value on two ports */
	expect_trace((const uint32_t[][2]){{0, 4}, {4, 2}}, 2, 0, "dbd"); /* read after write */
	expect_trace((const uint32_t[][2]){{0, 2}, {1, 2}}, 2, 0, "dbd"); /* write after write */
	expect_trace((const uint32_t[][2]){{4, 2}, {0, 4}}, 2, 0, "dbd"); /* write after read */
	expect_trace((const uint32_t[][2]){{'f', 2}, {'f', 3}, {0, 2}}, 3, 0, "ffbd");
	/* A barrier orders all before it: the third needs none of its own. */
	expect_trace((const uint32_t[][2]){{0, 4}, {4, 2}, {1, 3}, {3, 4}}, 4, 0, "dbddbd");
	/* Numbers of workgroups are read. */
	expect_trace((const uint32_t[][2]){{0, 4}, {1 | BY(4), 2}}, 2, 0, "dbi");
	expect_trace((const uint32_t[][2]){{1 | BY(4), 2}, {0, 4}}, 2, 0, "ibd");
	expect_trace((const uint32_t[][2]){{0 | BY(4), 2}, {1 | BY(4), 3}}, 2, 0, "ii");
}

/* `rounds` of (a, b) -> (a', b') with a' = a + 1, b' = b + 1, carried as `carry` says; the oracle is a loop. */
static pctl_status repeat(uint32_t rounds, const uint32_t carry[2], int checked, uint32_t expected)
{
	static const uint64_t out_bytes[2] = {N * 4, N * 4};
	pctl_value *in[2] = {NULL}, *out[2] = {NULL};
	pctl_data_source *sources[2] = {NULL};
	pctl_plan_check check = {2, 4, 0, expected, "found %v", 0, 0};
	struct bench b;
	pctl_job_run run = {.repeat = rounds, .carry = carry, .out_bytes = out_bytes};
	const uint64_t zones = log_.shapes % 2 * 256;
	const pctl_shape shape = {zones, zones, log_.shapes, 0, 0};
	uint32_t x[2][N], y[2][N];
	pctl_job_plan *p;
	pctl_status status;

	status = bench_open(&b);
	if (status != PCTL_OK) {
		bench_close(&b);
		return status;
	}
	p = plan_of(&b, 2, 2, 0);
	dispatch(&b, p, 0, 2);
	dispatch(&b, p, 1, 3);
	if (checked) {
		p->checks = malloc(sizeof(check));
		p->checks[0] = check;
		p->n_checks = 1;
	}
	run.plan = p;
	run.shape = log_.shapes == 0 ? NULL : &shape;
	feed(&b, 2, sources, in);
	status = pctl_job_execute(b.s, &run, in, b.call, out, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < N; k++)
			x[i][k] = y[i][k] = 100 * i + k;
	}
	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t i = 0; i < 2; i++) {
			for (uint32_t k = 0; k < N; k++)
				y[i][k] = log_.toggles ? x[i][k] ^ 1 : x[i][k] + 1;
		}
		for (uint32_t i = 0; i < 2; i++) {
			if (carry[i] != 0)
				memcpy(x[i], y[carry[i] - 1], sizeof(x[i]));
		}
	}
	for (uint32_t i = 0; status == PCTL_OK && i < 2; i++) {
		uint32_t want = rounds == 0 ? (carry[0] == i + 1 ? 0 : 1) : i;
		uint8_t *got;

		status = pctl_value_fetch(out[i], b.call, &got);
		if (status == PCTL_OK)
			assert_memory_equal(got, y[want], sizeof(y[want]));
		free(got);
	}
	if (status != PCTL_OK && log_.fail_at == 0)
		assert_true(out[0] == NULL && out[1] == NULL);
	drop(2, NULL, out);
	drop(2, sources, in);
	pctl_job_plan_destroy(p);
	bench_close(&b);
	return status;
}

static void repeats(void **state)
{
	static const uint32_t straight[2] = {1, 2}, crossed[2] = {2, 1};

	(void)state;
	for (uint32_t rounds = 0; rounds < 9; rounds++) {
		reset();
		assert_int_equal(repeat(rounds, straight, 0, 0), PCTL_OK);
		reset();
		assert_int_equal(repeat(rounds, crossed, 0, 0), PCTL_OK);
		for (uint64_t key = 1; key < 17; key++) {
			reset();
			log_.shapes = key;
			assert_int_equal(repeat(rounds, key & 2 ? crossed : straight, 0, 0),
					 PCTL_OK);
		}
	}
	reset();
	assert_int_equal(repeat(1001, crossed, 0, 0), PCTL_OK);
	/* Recorded once: the first, 500 pairs in two submits. */
	assert_int_equal(log_.submits, 3);
}

#include "test_exec_job_memory.h"

/* The value toggles: an assertion that holds in the first and last round and not between fails the job. */
static void assertions(void **state)
{
	static const uint32_t straight[2] = {1, 2};

	(void)state;
	reset();
	log_.toggles = 1;
	assert_int_equal(repeat(1, straight, 1, 1), PCTL_OK);
	reset();
	log_.toggles = 1;
	assert_int_equal(repeat(3, straight, 1, 1), PCTL_E_EXEC);
	reset();
	log_.toggles = 1;
	assert_int_equal(repeat(1, straight, 1, 0), PCTL_E_EXEC);
}

/* A write beside what is bound: seen where the job lies between zones, whichever round it was. */
static void strays(void **state)
{
	static const uint32_t straight[2] = {1, 2};

	(void)state;
	for (uint32_t how = 1; how < 3; how++)
		for (uint64_t key = 1; key < 9; key++)
			for (uint32_t rounds = 1; rounds < 4; rounds += 2) {
				reset();
				log_.strays = how;
				log_.shapes = 2 * key + 1;
				log_.toggles = 1;
				assert_int_equal(repeat(rounds, straight, 0, 0), PCTL_E_MISMATCH);
			}
	reset();
	log_.strays = 1;
	assert_int_equal(repeat(3, straight, 0, 0), PCTL_OK); /* nothing lies there */
}

/* Zones of small buffers cost a call each: outputs are written once more, before, and inputs read once more, behind; outputs are
 * read in the one call that there is without zones. */
static void zones_cost_few_calls(void **state)
{
	static const uint32_t straight[2] = {1, 2};
	uint32_t plain;

	(void)state;
	reset();
	assert_int_equal(repeat(1, straight, 0, 0), PCTL_OK);
	plain = log_.calls;
	for (uint64_t key = 1; key < 9; key++) {
		reset();
		log_.shapes = 2 * key + 1;
		assert_int_equal(repeat(1, straight, 0, 0), PCTL_OK);
		assert_in_range(log_.calls, plain + 2, plain + 4);
	}
}

static void failing_calls(void **state)
{
	static const uint32_t crossed[2] = {2, 1};
	uint32_t n;

	(void)state;
	for (int way = 0; way < 4; way++) {
		const int checked = way % 2, shaped = way / 2;

		reset();
		log_.toggles = 1;
		log_.shapes = (uint64_t)shaped;
		(void)repeat(6, crossed, checked, 1);
		n = log_.calls;
		assert_true(n > 20);
		for (uint32_t k = 1; k <= n; k++) {
			pctl_status status;

			reset();
			log_.toggles = 1;
			log_.fail_at = k;
			log_.shapes = (uint64_t)shaped;
			status = repeat(6, crossed, checked, 1);
			if (status != PCTL_E_DEVICE_LOST)
				fail_msg("call %u of %u failed, the job says %d", k, n,
					 (int)status);
		}
	}
}

static uint32_t cancelled_after(void *ctx)
{
	uint32_t *left = ctx;

	return *left == 0 || --*left == 0;
}

static void stops(void **state)
{
	static const uint64_t out_bytes[1] = {N * 4};
	static const uint32_t carry[1] = {1};
	uint32_t most_ms = 500;

	(void)state;
	for (int late = 0; late < 3; late++) {
		uint32_t left = 40;
		pctl_value *in[1], *out[1];
		pctl_data_source *sources[1];
		struct bench b;
		pctl_job_run run = {.repeat = 4000000000u, .carry = carry, .out_bytes = out_bytes};

		reset();
		assert_int_equal(bench_open(&b), PCTL_OK);
		run.plan = plan_of(&b, 1, 1, 0);
		dispatch(&b, (pctl_job_plan *)run.plan, 0, 1);
		feed(&b, 1, sources, in);
		if (late == 0) /* every submit is short: only the space between them can notice */
			pctl_diag_list_set_cancel(b.l, cancelled_after, &left);
		else
			run.timeout_ms = late == 2 ? most_ms : 20;
		log_.never_done = late == 2; /* one submit that hangs until it is cancelled */
		assert_int_equal(pctl_job_execute(b.s, &run, in, b.call, out, NULL),
				 late ? PCTL_E_TIMEOUT : PCTL_E_CANCELLED);
		assert_null(out[0]);
		/* The submit has to begin in that time, on a machine that has other work and under sanitizers too. */
		if (late == 2 && log_.submits == 0 && most_ms < 60000) {
			most_ms *= 2;
			late--;
		} else {
			assert_int_equal(log_.cancels, late == 2);
		}
		pctl_diag_list_set_cancel(b.l, NULL, NULL);
		drop(1, sources, in);
		pctl_job_plan_destroy((pctl_job_plan *)run.plan);
		bench_close(&b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(barriers), PCTL_TEST(repeats), PCTL_TEST(assertions),
		PCTL_TEST(temporaries_share), PCTL_TEST(constants_are_shared), PCTL_TEST(strays),
		PCTL_TEST(zones_cost_few_calls), PCTL_TEST(failing_calls), PCTL_TEST(stops))
