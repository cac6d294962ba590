/* Sleeping until the driver says that an event is complete. The callback runs in a thread of the
 * driver and touches nothing but this object, which therefore counts its references. Sleeps are
 * bounded, so a driver that never calls back costs latency and nothing else. */
#include "runtime/opencl.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

waker *opencl_waker_create(void)
{
	pthread_condattr_t attributes;
	waker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->references = 1;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return w;
}

void opencl_waker_release(waker *w)
{
	uint32_t left;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	left = --w->references;
	pthread_mutex_unlock(&w->lock);
	if (left)
		return;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

uint32_t opencl_waker_generation(waker *w)
{
	uint32_t generation;

	pthread_mutex_lock(&w->lock);
	generation = w->generation;
	pthread_mutex_unlock(&w->lock);
	return generation;
}

void opencl_waker_signal(waker *w)
{
	pthread_mutex_lock(&w->lock);
	w->generation++;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *user)
{
	waker *w = user;

	(void)event;
	(void)status;
	opencl_waker_signal(w);
	opencl_waker_release(w);
}

int opencl_waker_watch(waker *w, cl_event event)
{
	pthread_mutex_lock(&w->lock);
	w->references++;
	pthread_mutex_unlock(&w->lock);
	if (clSetEventCallback(event, CL_COMPLETE, on_complete, w) == CL_SUCCESS)
		return 1;
	opencl_waker_release(w);
	return 0;
}

void opencl_waker_sleep(waker *w, uint32_t seen, uint64_t ns)
{
	struct timespec until;
	uint64_t nanoseconds;

	clock_gettime(CLOCK_MONOTONIC, &until);
	nanoseconds = (uint64_t)until.tv_nsec + ns % 1000000000u;
	until.tv_sec += (time_t)(ns / 1000000000u + nanoseconds / 1000000000u);
	until.tv_nsec = (long)(nanoseconds % 1000000000u);
	pthread_mutex_lock(&w->lock);
	while (w->generation == seen)
		if (pthread_cond_timedwait(&w->changed, &w->lock, &until) == ETIMEDOUT)
			break;
	pthread_mutex_unlock(&w->lock);
}
