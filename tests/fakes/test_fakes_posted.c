/* Few bytes for a buffer are posted to a worker with the next request: what fails in writing them is told by whoever asks of
 * the buffer next, each time, and by nobody who uses another. A list that uses it is never run. */
#include "setup.h"

#define LARGE 65536u /* goes by the window, and is asked */

typedef struct rig {
	fixture f;
	pctl_backend_instance *s;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_kernel *k;
	pctl_buffer *bad, *good;
	uint32_t words[LARGE / 4];
} rig;

static void rig_open(rig *g)
{
	fixture_begin(&g->f);
	fixture_manifest(&g->f, "fake", FAKES "/fake.so", "");
	fixture_open(&g->f, 5000);
	assert_int_equal(pctl_backend_instance_open(g->f.r, "fake", NULL, 0, g->f.call, &g->s),
			 PCTL_OK);
	g->t = g->s->table;
	assert_int_equal(g->t->device_open(g->s->inst, g->f.call, 0, &g->dev), PCTL_OK);
	assert_int_equal(g->t->buffer_create(g->dev, g->f.call, LARGE, 1, &g->bad), PCTL_OK);
	assert_int_equal(g->t->buffer_create(g->dev, g->f.call, 8, 1, &g->good), PCTL_OK);
	assert_int_equal(
		g->t->kernel_build(g->dev, g->f.call, (const uint8_t *)"x", 1, 0, NULL, 0, &g->k),
		PCTL_OK);
	/* Half of it is behind the buffer's end. */
	assert_int_equal(g->t->buffer_write(g->dev, g->f.call, g->bad, LARGE - 4, g->words, 8),
			 PCTL_OK);
	assert_int_equal(g->t->buffer_write(g->dev, g->f.call, g->good, 0, g->words, 8), PCTL_OK);
}

static void rig_close(rig *g)
{
	assert_null(pctl_backend_instance_lost(g->s));
	g->t->kernel_destroy(g->dev, g->k);
	g->t->buffer_destroy(g->dev, g->good);
	g->t->buffer_destroy(g->dev, g->bad);
	g->t->device_close(g->dev);
	pctl_backend_instance_close(g->s, g->f.call);
	fixture_end(&g->f);
	free(g);
}

static pctl_status run(rig *g, pctl_list *l)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket;
	const pctl_status s = g->t->submit(g->dev, g->f.call, l, 1, &ticket);

	return s ? s : g->t->wait(g->dev, g->f.call, ticket, 60000000000u, &c);
}

/* A list of one command on a buffer: a dispatch, a copy from it, a copy to it, a fill. */
static pctl_list *record(rig *g, uint32_t how, pctl_buffer *b, pctl_status want)
{
	const pctl_binding binding = {0, 1, b, 0, 8};
	const uint32_t groups[3] = {7, 1, 1};
	pctl_list *l;

	assert_int_equal(g->t->list_begin(g->dev, g->f.call, &l), PCTL_OK);
	if (how == 0)
		assert_int_equal(g->t->list_dispatch(l, g->f.call, g->k, &binding, 1, groups),
				 PCTL_OK);
	else if (how == 3)
		assert_int_equal(g->t->list_fill(l, g->f.call, b, 0, 8, 1), PCTL_OK);
	else
		assert_int_equal(g->t->list_copy(l, g->f.call, how == 1 ? b : g->good, 0,
						 how == 1 ? g->good : b, 0, 8),
				 PCTL_OK);
	assert_int_equal(g->t->list_end(l, g->f.call), want);
	return l;
}

static void posted__a_write_that_failed_is_told_where_the_buffer_is_used(void **state)
{
	rig *g = calloc(1, sizeof(*g));
	pctl_list *l;

	(void)state;
	assert_non_null(g);
	rig_open(g);
	l = record(g, 0, g->good, PCTL_OK);
	assert_true(has_code(&g->f, PC3107_WORKER_REQUEST));
	assert_int_equal(run(g, l), PCTL_OK);
	g->t->list_destroy(g->dev, l);
	for (uint32_t how = 0; how < 4; how++) {
		l = record(g, how, g->bad, PCTL_E_INTERNAL);
		assert_int_equal(run(g, l), PCTL_E_INTERNAL);
		g->t->list_destroy(g->dev, l);
	}
	assert_int_equal(g->t->buffer_read(g->dev, g->f.call, g->bad, 0, g->words, 4),
			 PCTL_E_INTERNAL);
	assert_int_equal(g->t->buffer_read(g->dev, g->f.call, g->bad, 0, g->words, LARGE),
			 PCTL_E_INTERNAL);
	assert_int_equal(g->t->buffer_write(g->dev, g->f.call, g->bad, 0, g->words, LARGE),
			 PCTL_E_INTERNAL);
	assert_int_equal(g->t->buffer_read(g->dev, g->f.call, g->good, 0, g->words, 8), PCTL_OK);
	assert_int_equal(g->words[0], 7);
	rig_close(g);
}

PCTL_TESTS_MAIN(PCTL_TEST(posted__a_write_that_failed_is_told_where_the_buffer_is_used))
