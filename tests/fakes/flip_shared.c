/* Fault: an answer that goes on changing. A thread of the worker keeps writing to the shared memory in which the last large
 * read was answered, long after the host was told that it is there. */
#include <pthread.h>

#include "memory.h"

static uint8_t *volatile answered;
static volatile uint64_t answered_bytes;
static pthread_once_t started = PTHREAD_ONCE_INIT;

static void *flip(void *ctx)
{
	uint64_t at = 0;

	(void)ctx;
	for (;;) {
		uint8_t *data = answered;
		const uint64_t n = answered_bytes;

		for (uint32_t i = 0; data != NULL && i < 4096; i++) {
			at = (at * 6364136223846793005u + 1442695040888963407u);
			data[at % n] ^= (uint8_t)(1u + (at >> 40) % 255);
		}
		usleep(20);
	}
	return NULL;
}

static void start(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, flip, NULL) == 0)
		pthread_detach(t);
}

static pctl_status read_and_flip(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, void *data, uint64_t n_bytes)
{
	const pctl_status s = fake_buffer_read(dev, call, buf, offset, data, n_bytes);

	/* Smaller answers travel in a frame, which is nobody's but the host's once it is sent. */
	if (n_bytes > 32768) {
		answered_bytes = n_bytes;
		answered = data;
		pthread_once(&started, start);
	}
	return s;
}
#define FAULT_SLOTS .buffer_read = read_and_flip
#include "good.h"
