/* The program binary the host keeps for us, wrapped so that a stale or damaged one is known: magic,
 * key of device, driver, options and source, check sum and length, then the driver's own bytes. */
#include "runtime/opencl.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_MAGIC 0x314c434c54435050ull /* "PPCTLCL1" */

typedef struct cache_head {
	uint64_t magic;
	uint64_t key[2];
	uint64_t sum;
	uint64_t n_bytes;
} cache_head;

/* FNV-1a; it tells versions apart and is no protection against forgery. */
static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	return h;
}

void opencl_cache_key(const pctl_device *dev, const char *source, size_t n, uint64_t out[2])
{
	const uint64_t bases[2] = {0xcbf29ce484222325ull, 0x9ae16a3b2f90404full};

	for (uint32_t k = 0; k < 2; k++) {
		out[k] = bases[k];
		for (uint32_t i = 0; i < dev->n_kv; i++)
			out[k] = mix(out[k], dev->identity[i].value,
				     strlen(dev->identity[i].value) + 1);
		out[k] = mix(out[k], source, n);
	}
}

cl_program opencl_cache_load(pctl_device *dev, const uint64_t key[2], const void *cache,
			     uint64_t cache_bytes)
{
	const unsigned char *bytes = cache;
	cl_int error, status;
	cl_program program;
	cache_head head;
	size_t n;

	if (!cache || cache_bytes <= sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	bytes += sizeof(head);
	n = (size_t)(cache_bytes - sizeof(head));
	if (head.magic != CACHE_MAGIC || head.key[0] != key[0] || head.key[1] != key[1] ||
	    head.n_bytes != n || head.sum != mix(key[0], bytes, n))
		return NULL;
	program = clCreateProgramWithBinary(dev->context, 1, &dev->id.device, &n, &bytes, &status,
					    &error);
	if (error != CL_SUCCESS)
		return NULL;
	if (status != CL_SUCCESS ||
	    clBuildProgram(program, 1, &dev->id.device, dev->options, NULL, NULL) != CL_SUCCESS) {
		clReleaseProgram(program);
		return NULL;
	}
	return program;
}

pctl_status opencl_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				uint64_t capacity, void *out, uint64_t *n_out)
{
	cache_head head = {.magic = CACHE_MAGIC, .key = {k->key[0], k->key[1]}};
	unsigned char *bytes = NULL;
	size_t n = 0;
	cl_int error;

	*n_out = 0;
	/* Asked for a binary, PoCL compiles the kernel again, for any size of workgroup; what it built is in its own folder. */
	if (dev->keeps_kernels)
		return PCTL_OK;
	error = clGetProgramInfo(k->built, CL_PROGRAM_BINARY_SIZES, sizeof(n), &n, NULL);
	if (error != CL_SUCCESS)
		return opencl_fail(dev, call, error, "clGetProgramInfo");
	if (!n)
		return PCTL_OK;
	*n_out = sizeof(head) + n;
	if (capacity < *n_out)
		return PCTL_OK;
	bytes = (unsigned char *)out + sizeof(head);
	error = clGetProgramInfo(k->built, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL);
	if (error != CL_SUCCESS) {
		*n_out = 0;
		return opencl_fail(dev, call, error, "clGetProgramInfo");
	}
	head.n_bytes = n;
	head.sum = mix(head.key[0], bytes, n);
	memcpy(out, &head, sizeof(head));
	return PCTL_OK;
}
