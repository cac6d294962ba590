/* Kernels: a decoded program, its prepared code, and one batch of lanes for each thread that ran
 * it. */
#include "runtime/device.h"

#include <stdlib.h>

void pctl_cpu_kernel_release(pctl_kernel *k)
{
	if (!k || --k->refs)
		return;
	for (uint32_t i = 0; k->batches && i < k->n_batches; i++)
		pctl_cpu_batch_destroy(k->batches[i]);
	free(k->batches);
	pctl_cpu_code_destroy(k->code);
	pctl_program_destroy(k->program);
	free(k);
}

void pctl_cpu_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	if (!dev || !k || k->dev != dev)
		return;
	pctl_cpu_kernel_release(k);
}

pctl_status pctl_cpu_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				  uint64_t n, uint32_t flags, const void *cache,
				  uint64_t cache_bytes, pctl_kernel **out)
{
	pctl_kernel *k;
	pctl_status status;

	(void)cache; /* preparing is cheap: nothing is kept, nothing is taken */
	(void)cache_bytes;
	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: a pointer is missing");
	*out = NULL;
	if (flags & ~(PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: unknown flags 0x%x", flags);
	k = calloc(1, sizeof(*k));
	if (!k)
		return pctl_no_memory(call, "a kernel");
	k->dev = dev;
	k->refs = 1;
	k->n_batches = dev->n_threads;
	k->batches = calloc(k->n_batches, sizeof(*k->batches));
	status = k->batches ? PCTL_OK : pctl_no_memory(call, "a kernel");
	if (status == PCTL_OK)
		status = pctl_program_decode(wire, n, call, &k->program);
	if (status == PCTL_OK)
		status = pctl_cpu_check(k->program, call);
	if (status == PCTL_OK)
		status = pctl_cpu_code_create(k->program, dev->k, flags, call, &k->code);
	if (status == PCTL_OK)
		*out = k;
	else
		pctl_cpu_kernel_release(k);
	return status;
}
