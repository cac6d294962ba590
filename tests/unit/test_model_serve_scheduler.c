/* The scheduler over an engine that notes what it is asked: who is admitted first, how a step's tokens are given out, what happens to
 * those without room, and that no slot is left to a request that has ended. */
#include "main.h"

#include <stdlib.h>

#include "model/serve/scheduler.h"

#define SLOTS 4u

static uint32_t last_rows, counts[SLOTS], starts[SLOTS], room, used[SLOTS];
static char first_byte[SLOTS];

static pctl_status step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call)
{
	(void)self;
	(void)call;
	memset(counts, 0, sizeof(counts));
	last_rows = n_rows;
	for (uint32_t i = 0; i < n_rows; i++) {
		pctl_engine_row *r = &rows[i];
		uint32_t all = 0;

		for (uint32_t k = 0; k < SLOTS; k++)
			all += used[k];
		assert_int_equal(used[r->slot], r->start);
		r->status = room != 0 && all + r->count > room ? PCTL_E_LIMIT : PCTL_OK;
		if (r->status != PCTL_OK)
			continue;
		used[r->slot] += r->count;
		counts[r->slot] = r->count;
		starts[r->slot] = r->start;
		first_byte[r->slot] = (char)r->tokens[0];
		r->token = 'x';
	}
	return PCTL_OK;
}

static void release(void *self, uint32_t slot)
{
	(void)self;
	used[slot] = 0;
	first_byte[slot] = 0;
}

static pctl_status encode(void *self, const char *text, const pctl_call *call, uint32_t **out,
			  uint32_t *n_out)
{
	(void)self;
	(void)call;
	*n_out = (uint32_t)strlen(text);
	*out = calloc(*n_out + 1u, sizeof(**out));
	for (uint32_t i = 0; i < *n_out; i++)
		(*out)[i] = (unsigned char)text[i];
	return PCTL_OK;
}

static void piece(void *self, uint32_t before, uint32_t token, const char **out, uint32_t *n_out)
{
	(void)self;
	(void)before;
	(void)token;
	*out = "x";
	*n_out = 1;
}

static uint32_t is_end(void *self, uint32_t token)
{
	(void)self;
	(void)token;
	return 0;
}

static const pctl_engine engine = {.model_name = "m",
				   .model_cid = "c",
				   .semantics = "1",
				   .n_slots = SLOTS,
				   .max_chunk = 10,
				   .context = 1000,
				   .n_vocab = 256,
				   .step = step,
				   .release = release,
				   .encode = encode,
				   .piece = piece,
				   .is_end = is_end};
static pctl_serve_limits limits;
static serve_scheduler s;
static serve_request *ended_ones[16];
static uint32_t n_ended;

static void told(void *ctx, serve_request *r)
{
	(void)ctx;
	(void)r;
}

static void ended(void *ctx, serve_request *r)
{
	(void)ctx;
	assert_true(n_ended < 16);
	ended_ones[n_ended++] = r;
}

static int begin(void **unused)
{
	(void)unused;
	pctl_serve_limits_init(&limits);
	s = (serve_scheduler){.engine = &engine, .limits = &limits, .told = told, .ended = ended};
	memset(used, 0, sizeof(used));
	memset(first_byte, 0, sizeof(first_byte));
	room = n_ended = 0;
	return serve_scheduler_open(&s, NULL);
}

static int finish(void **unused)
{
	(void)unused;
	serve_scheduler_stop(&s, PC6270_SERVE_STOPPING);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(used[i], 0);
	assert_int_equal(s.counts.active + s.counts.waiting, 0);
	for (uint32_t i = 0; i < n_ended; i++)
		serve_request_destroy(ended_ones[i]);
	serve_scheduler_close(&s);
	return 0;
}

/* A request of a peer with a prompt of n times a letter. */
static serve_request *add(uint64_t peer, char letter, uint32_t n, uint32_t max_tokens,
			  const char *more)
{
	serve_request *r = serve_request_create(SERVE_COMPLETIONS);
	serve_refusal refusal = {.code = 0};
	char prompt[512];

	memset(prompt, letter, n);
	prompt[n] = '\0';
	r->peer = peer;
	r->n_body = (size_t)asprintf(&r->body,
				     "{\"model\":\"m\",\"prompt\":\"%s\",\"max_tokens\":%u%s}",
				     prompt, max_tokens, more);
	assert_int_equal(serve_request_read(r, &engine, &limits, &refusal), 1);
	serve_scheduler_add(&s, r);
	return r;
}

static uint32_t one_step(void)
{
	const uint32_t n = serve_scheduler_plan(&s, 0);

	if (n != 0) {
		serve_scheduler_run(&s);
		serve_scheduler_apply(&s, 0);
	}
	return n;
}

/* The letters in slots, in order. */
static const char *in_slots(void)
{
	static char text[SLOTS + 1];

	for (uint32_t i = 0; i < SLOTS; i++)
		text[i] = first_byte[i] == 0 ? '.' : first_byte[i];
	return text;
}

static void test_model_serve_scheduler__clients_take_turns(void **unused)
{
	(void)unused;
	for (char c = 'a'; c < 'g'; c++)
		(void)add(1, c, 3, 50, "");
	(void)add(2, 'y', 3, 50, "");
	(void)add(3, 'z', 3, 50, "");
	assert_int_equal(one_step(), SLOTS);
	/* One of each first, then the first client's second, which came before. */
	assert_string_equal(in_slots(), "ayzb");
}

static void test_model_serve_scheduler__a_step_has_its_tokens(void **unused)
{
	(void)unused;
	limits.step_tokens = 14;
	(void)add(1, 'a', 1, 50, "");
	(void)add(1, 'b', 100, 50, "");
	(void)add(1, 'c', 100, 50, "");
	assert_int_equal(one_step(), 3);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 10); /* a chunk */
	assert_int_equal(counts[2], 3);	 /* what is left */
	/* Who was cut short comes first, and who generates always. */
	assert_int_equal(one_step(), 3);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[2], 10);
	assert_int_equal(counts[1], 3);
	assert_int_equal(one_step(), 3);
	assert_int_equal(counts[1], 10);
	assert_int_equal(starts[1], 13);
	assert_int_equal(starts[2] + counts[2], 16);
}

static void test_model_serve_scheduler__no_room(void **unused)
{
	(void)unused;
	room = 30;
	(void)add(1, 'a', 10, 15, "");
	(void)add(2, 'b', 10, 15, "");
	for (uint32_t i = 0; i < 200 && one_step() != 0; i++)
		;
	assert_int_equal(n_ended, 2);
	assert_true(s.counts.preempted >= 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ended_ones[i]->refusal.code, 0);
		assert_int_equal(ended_ones[i]->completion_tokens, 15);
	}
	/* Alone it does not fit. */
	(void)add(1, 'c', 25, 15, "");
	for (uint32_t i = 0; i < 200 && one_step() != 0; i++)
		;
	assert_int_equal(ended_ones[2]->refusal.code, PC6273_SERVE_ROOM);
}

static void test_model_serve_scheduler__who_is_gone_leaves(void **unused)
{
	serve_request *r = add(1, 'a', 50, 50, ",\"n\":4");

	(void)unused;
	assert_int_equal(one_step(), SLOTS);
	r->is_cancelled = 1;
	assert_int_equal(one_step(), 0);
	assert_int_equal(n_ended, 1);
	assert_string_equal(in_slots(), "....");
}

static void test_model_serve_scheduler__a_reader_that_is_behind(void **unused)
{
	serve_request *r = add(1, 'a', 1, 200, ",\"stream\":true");

	(void)unused;
	limits.output_bytes = 1000;
	limits.stall_s = 5;
	while (one_step() != 0)
		;
	assert_true(r->out.n > 1000 && r->out.n < 2000);
	assert_int_equal(s.counts.active, 1);
	/* Its place is another's, if one comes. */
	for (uint32_t i = 0; i < SLOTS; i++)
		(void)add(2, 'b', 1, 50, "");
	assert_int_equal(one_step(), SLOTS);
	assert_string_equal(in_slots(), "bbbb");
	/* It goes on when it has read, from where it was. */
	r->out_at = r->out.n;
	while (n_ended < SLOTS)
		assert_true(one_step() != 0);
	assert_true(one_step() != 0);
	assert_int_equal(first_byte[0], 'a');
	(void)serve_scheduler_plan(&s, 1);
	while (one_step() != 0)
		;
	(void)serve_scheduler_plan(&s, 1000);
	(void)serve_scheduler_plan(&s, 1000 + 5001);
	assert_int_equal(n_ended, SLOTS + 1);
	assert_int_equal(r->refusal.code, PC6275_SERVE_STALL);
}

static void test_model_serve_scheduler__time(void **unused)
{
	serve_request *r = add(1, 'a', 1, 200, "");

	(void)unused;
	limits.total_s = 3;
	assert_int_equal(one_step(), 1);
	assert_int_equal(serve_scheduler_plan(&s, 3000), 1);
	assert_int_equal(serve_scheduler_plan(&s, 3001), 0);
	assert_int_equal(r->refusal.code, PC6271_SERVE_TIME);
}

#define T(name) cmocka_unit_test_setup_teardown(test_model_serve_scheduler__##name, begin, finish)
PCTL_TESTS_MAIN(T(clients_take_turns), T(a_step_has_its_tokens), T(no_room), T(who_is_gone_leaves),
		T(a_reader_that_is_behind), T(time))
