/* Buffers: cl_mem objects that start as zero, and copies between them and host memory. */
#include "runtime/opencl.h"

#include <stdlib.h>

#define USAGE_ALL \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

pctl_status opencl_zeros(pctl_device *dev, const pctl_call *call, uint64_t n_bytes, cl_mem *out)
{
	const cl_uint zero = 0;
	const size_t rounded = (size_t)((n_bytes + 3) & ~(uint64_t)3);
	cl_int error;
	cl_mem mem;

	*out = NULL;
	mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, rounded, NULL, &error);
	if (error != CL_SUCCESS)
		return opencl_fail(dev, call, error, "clCreateBuffer");
	error = clEnqueueFillBuffer(dev->queue, mem, &zero, sizeof(zero), 0, rounded, 0, NULL,
				    NULL);
	if (error != CL_SUCCESS) {
		clReleaseMemObject(mem);
		return opencl_fail(dev, call, error, "clEnqueueFillBuffer");
	}
	*out = mem;
	return PCTL_OK;
}

pctl_status opencl_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				 uint32_t usage, pctl_buffer **out)
{
	pctl_status status = PCTL_OK;
	pctl_buffer *buf;

	*out = NULL;
	if (usage & ~USAGE_ALL)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer usage 0x%x has unknown bits", usage);
	if (n_bytes > dev->max_alloc)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "a buffer of %llu bytes, the device allows %llu",
				   (unsigned long long)n_bytes, (unsigned long long)dev->max_alloc);
	buf = calloc(1, sizeof(*buf));
	if (!buf)
		return pctl_refuse(call, PC2_NOMEM, "opencl: a buffer");
	buf->n_bytes = n_bytes;
	if (n_bytes)
		status = opencl_zeros(dev, call, n_bytes, &buf->mem);
	if (status != PCTL_OK) {
		free(buf);
		return status;
	}
	*out = buf;
	return PCTL_OK;
}

void opencl_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	(void)dev;
	if (!buf)
		return;
	if (buf->mem)
		clReleaseMemObject(buf->mem);
	free(buf);
}

static pctl_status check_range(const pctl_call *call, const pctl_buffer *buf, uint64_t offset,
			       uint64_t n_bytes)
{
	if (offset <= buf->n_bytes && n_bytes <= buf->n_bytes - offset)
		return PCTL_OK;
	return pctl_refuse(call, PC3202_BACKEND_RANGE, "bytes [%llu, +%llu) of a buffer of %llu",
			   (unsigned long long)offset, (unsigned long long)n_bytes,
			   (unsigned long long)buf->n_bytes);
}

/* Blocking copies also on devices that share the host's memory: a map would still need the same one
 * copy. */
pctl_status opencl_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status status = check_range(call, buf, offset, n_bytes);
	cl_int error;

	if (status != PCTL_OK || !n_bytes)
		return status;
	error = clEnqueueWriteBuffer(dev->queue, buf->mem, CL_TRUE, (size_t)offset, (size_t)n_bytes,
				     data, 0, NULL, NULL);
	return error == CL_SUCCESS ? PCTL_OK
				   : opencl_fail(dev, call, error, "clEnqueueWriteBuffer");
}

pctl_status opencl_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status status = check_range(call, buf, offset, n_bytes);
	cl_int error;

	if (status != PCTL_OK || !n_bytes)
		return status;
	if (dev->lost)
		return opencl_fail(dev, call, CL_DEVICE_NOT_AVAILABLE, "reading a lost device");
	error = clEnqueueReadBuffer(dev->queue, buf->mem, CL_TRUE, (size_t)offset, (size_t)n_bytes,
				    data, 0, NULL, NULL);
	return error == CL_SUCCESS ? PCTL_OK : opencl_fail(dev, call, error, "clEnqueueReadBuffer");
}
