/* A driver that a source is compiled by and run on as it stands, over an array that is read and one that is written: for tests of what generators write. */
#ifndef PIPECTL_TESTS_OPENCL_TEXT_DRIVER_H
#define PIPECTL_TESTS_OPENCL_TEXT_DRIVER_H

#include "sketch.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "spmd/spmd.h"

#define N 256u
#define UNTOUCHED 7u

typedef struct driver {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
} driver;

static int open_driver(void **state)
{
	static driver d;
	cl_platform_id platform;
	cl_int error;

	assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
	assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.device, NULL),
			 CL_SUCCESS);
	d.context = clCreateContext(NULL, 1, &d.device, NULL, NULL, &error);
	assert_int_equal(error, CL_SUCCESS);
	d.queue = clCreateCommandQueue(d.context, d.device, 0, &error);
	assert_int_equal(error, CL_SUCCESS);
	*state = &d;
	return 0;
}

static int close_driver(void **state)
{
	driver *d = *state;

	clReleaseCommandQueue(d->queue);
	clReleaseContext(d->context);
	return 0;
}

/* Run the source over in, out: the arguments of clc/emit.h for two arrays, then workgroup memory. */
static void run_text(driver *d, const char *source, size_t groups, size_t local_bytes,
		     const uint32_t *in, uint32_t *out)
{
	const cl_ulong offset = 0;
	const cl_uint length = N, present = 1;
	const size_t one = 1;
	cl_mem mem[2];
	cl_program program;
	cl_kernel kernel;
	cl_int error;

	mem[0] = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, 4 * N, (void *)(uintptr_t)in,
				&error);
	mem[1] = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, 4 * N, out, &error);
	program = clCreateProgramWithSource(d->context, 1, &source, NULL, &error);
	assert_int_equal(clBuildProgram(program, 1, &d->device, "-cl-std=CL1.2", NULL, NULL),
			 CL_SUCCESS);
	kernel = clCreateKernel(program, EMIT_KERNEL_NAME, &error);
	assert_int_equal(error, CL_SUCCESS);
	for (cl_uint i = 0; i < 2; i++) {
		clSetKernelArg(kernel, 4 * i, sizeof(mem[i]), &mem[i]);
		clSetKernelArg(kernel, 4 * i + 1, sizeof(offset), &offset);
		clSetKernelArg(kernel, 4 * i + 2, sizeof(length), &length);
		clSetKernelArg(kernel, 4 * i + 3, sizeof(present), &present);
	}
	if (local_bytes)
		clSetKernelArg(kernel, 8, local_bytes, NULL);
	assert_int_equal(
		clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &groups, &one, 0, NULL, NULL),
		CL_SUCCESS);
	assert_int_equal(
		clEnqueueReadBuffer(d->queue, mem[1], CL_TRUE, 0, 4 * N, out, 0, NULL, NULL),
		CL_SUCCESS);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseMemObject(mem[0]);
	clReleaseMemObject(mem[1]);
}

#endif
