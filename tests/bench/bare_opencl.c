/* See bare.h. One kernel object whose arguments are set for each dispatch; buffers of all jobs in one, with offsets as
 * arguments. */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <string.h>

#include "bare.h"

static const char text[] = "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
			   "void k(__global const uint *x, __global uint *y, uint at, uint n) {\n"
			   "	uint i = get_global_id(0);\n"
			   "	if (i < n) y[at + i] = x[at + i] * 2654435761u + i;\n"
			   "}\n";

static cl_device_id find(const char *name)
{
	cl_platform_id platforms[16];
	cl_uint n_platforms = 0;

	if (clGetPlatformIDs(16, platforms, &n_platforms) != CL_SUCCESS)
		return NULL;
	for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
		cl_device_id devices[16];
		cl_uint n = 0;

		if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n) != CL_SUCCESS)
			continue;
		for (cl_uint i = 0; i < n && i < 16; i++) {
			char found[256] = "";

			clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof(found) - 1, found, NULL);
			if (strstr(name, found) != NULL)
				return devices[i];
		}
	}
	return NULL;
}

static cl_int run_once(cl_context context, cl_command_queue queue, cl_kernel kernel, const void *in,
		       void *out, uint32_t jobs)
{
	const size_t n_bytes = (size_t)jobs * BARE_BYTES, size = BARE_BYTES / 4;
	const cl_uint zero = 0, n = BARE_BYTES / 4;
	cl_int error, made;
	cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, n_bytes, NULL, &error);
	cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, n_bytes, NULL, &made);

	error |= made;
	if (error == CL_SUCCESS)
		error = clEnqueueFillBuffer(queue, y, &zero, 4, 0, n_bytes, 0, NULL, NULL);
	if (error == CL_SUCCESS)
		error = clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, n_bytes, in, 0, NULL, NULL);
	for (uint32_t i = 0; i < jobs && error == CL_SUCCESS; i++) {
		const cl_uint at = i * n;

		error = clSetKernelArg(kernel, 0, sizeof(x), &x);
		error |= clSetKernelArg(kernel, 1, sizeof(y), &y);
		error |= clSetKernelArg(kernel, 2, sizeof(at), &at);
		error |= clSetKernelArg(kernel, 3, sizeof(n), &n);
		if (error == CL_SUCCESS)
			error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0,
						       NULL, NULL);
	}
	if (error == CL_SUCCESS)
		error = clEnqueueReadBuffer(queue, y, CL_TRUE, 0, n_bytes, out, 0, NULL, NULL);
	if (x != NULL)
		clReleaseMemObject(x);
	if (y != NULL)
		clReleaseMemObject(y);
	return error;
}

int bare_opencl(const char *name, const void *in, void *out, uint32_t jobs, uint32_t tries,
		double *seconds)
{
	cl_device_id device = find(name);
	const char *source = text;
	cl_command_queue queue = NULL;
	cl_context context = NULL;
	cl_program program = NULL;
	cl_kernel kernel = NULL;
	cl_int error = CL_DEVICE_NOT_FOUND;

	if (device != NULL)
		context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	if (error == CL_SUCCESS)
		queue = clCreateCommandQueue(context, device, 0, &error);
	if (error == CL_SUCCESS)
		program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	if (error == CL_SUCCESS)
		error = clBuildProgram(program, 1, &device, "", NULL, NULL);
	if (error == CL_SUCCESS)
		kernel = clCreateKernel(program, "k", &error);
	for (uint32_t i = 0; i < tries && error == CL_SUCCESS; i++) {
		const double began = bare_now();

		error = run_once(context, queue, kernel, in, out, jobs);
		seconds[i] = bare_now() - began;
	}
	if (kernel != NULL)
		clReleaseKernel(kernel);
	if (program != NULL)
		clReleaseProgram(program);
	if (queue != NULL)
		clReleaseCommandQueue(queue);
	if (context != NULL)
		clReleaseContext(context);
	return error == CL_SUCCESS;
}
