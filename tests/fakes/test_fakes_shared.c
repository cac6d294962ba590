/* What a worker still writes after it answered: the host hands out, compares and hashes one copy, which nobody else can
 * write. The same look at the shared memory itself, as a host without the copy would have it, sees bytes change. */
#include "setup.h"

#include <stdio.h>

#include "planted/planted.h"

#define BYTES (1u << 20)
#define READS 40u
#define LOOKS 20u

/* Where this process has the window of its only worker mapped. */
static const uint8_t *find_window(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from = 0;
	char line[512];

	assert_non_null(maps);
	while (from == 0 && fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, "/memfd:pipectl-window") != NULL)
			assert_int_equal(sscanf(line, "%lx-", &from), 1);
	fclose(maps);
	assert_int_not_equal(from, 0);
	return (const uint8_t *)from;
}

/* The first byte that is another one now than when `kept` was made of them; BYTES: none. */
static uint32_t changed(const uint8_t *kept, const uint8_t *now)
{
	for (uint32_t i = 0; i < BYTES; i++)
		if (((const volatile uint8_t *)now)[i] != kept[i])
			return i;
	return BYTES;
}

static void one_copy(void **state)
{
	uint8_t *sent = malloc(BYTES), *got = malloc(BYTES), *kept = malloc(BYTES);
	uint32_t outside = 0;
	pctl_backend_instance *s;
	const uint8_t *window;
	pctl_device *dev;
	pctl_buffer *b;
	fixture f;

	(void)state;
	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/flip_shared.so", "");
	fixture_open(&f, 5000);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	assert_int_equal(s->table->buffer_create(dev, f.call, BYTES, PCTL_BUFFER_TRANSFER, &b),
			 PCTL_OK);
	for (uint32_t i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(s->table->buffer_write(dev, f.call, b, 0, sent, BYTES), PCTL_OK);
	window = find_window();
	/* And until it has struck, which takes a busy machine a while. */
	for (uint32_t k = 0; k < READS || (outside == 0 && k < 50 * READS); k++) {
		assert_int_equal(s->table->buffer_read(dev, f.call, b, 0, got, BYTES), PCTL_OK);
		memcpy(kept, got, BYTES);
		/* What was compared is what is hashed, stored and handed out, however much later. */
		for (uint32_t i = 0; i < LOOKS; i++) {
			usleep(200);
			assert_int_equal(changed(kept, got), BYTES);
		}
		memcpy(kept, window, BYTES);
		usleep(2000);
		outside += changed(kept, window) != BYTES;
	}
	/* The plant did strike: whoever took the window for the answer would have had two of them. */
	assert_int_not_equal(outside, 0);
	planted("a worker writes on in shared memory after its answer", "flip_shared",
		"the host's one copy of an answer",
		"the copy stays as it was when it was compared, the shared memory does not");
	s->table->buffer_destroy(dev, b);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	free(sent);
	free(got);
	free(kept);
	fixture_end(&f);
}

PCTL_TESTS_MAIN(PCTL_TEST(one_copy))
