/* Compiling to the end. PoCL and rusticl make machine code at a kernel's first dispatch, when nobody holds them to what a build
 * may take. So there kernels have a switch, and a build ends with a dispatch of one workgroup that is switched off. A
 * dispatch of no workgroups does not do: PoCL compiles another variant for it, rusticl nothing. */
#include "runtime/opencl.h"

pctl_status opencl_switch(pctl_device *dev, const pctl_call *call, const pctl_kernel *k,
			  cl_kernel kernel, cl_uint on)
{
	const cl_uint at =
		k->facts.n_bindings * EMIT_ARGS_PER_VAR + (k->facts.workgroup_bytes ? 1u : 0u);
	const cl_int error = dev->emit_flags & EMIT_SWITCH
				     ? clSetKernelArg(kernel, at, sizeof(on), &on)
				     : CL_SUCCESS;

	return error == CL_SUCCESS ? PCTL_OK : opencl_fail(dev, call, error, "clSetKernelArg");
}

/* Every variable is the same few bytes, which nobody looks at. */
static cl_int set_arguments(const pctl_kernel *k, cl_kernel kernel, cl_mem some)
{
	const cl_ulong offset = 0;
	const cl_uint none = 0;
	cl_int error = CL_SUCCESS;

	for (cl_uint v = 0; v < k->facts.n_bindings && error == CL_SUCCESS; v++) {
		const cl_uint first = v * EMIT_ARGS_PER_VAR;

		error = clSetKernelArg(kernel, first, sizeof(some), &some);
		if (error == CL_SUCCESS)
			error = clSetKernelArg(kernel, first + 1, sizeof(offset), &offset);
		if (error == CL_SUCCESS)
			error = clSetKernelArg(kernel, first + 2, sizeof(none), &none);
		if (error == CL_SUCCESS)
			error = clSetKernelArg(kernel, first + 3, sizeof(none), &none);
	}
	if (error == CL_SUCCESS && k->facts.workgroup_bytes)
		error = clSetKernelArg(kernel, k->facts.n_bindings * EMIT_ARGS_PER_VAR,
				       (size_t)k->facts.workgroup_bytes, NULL);
	return error;
}

pctl_status opencl_warm(pctl_device *dev, const pctl_call *call, const pctl_kernel *k)
{
	cl_kernel kernel = NULL;
	cl_mem some = NULL;
	cl_int error = CL_SUCCESS;
	pctl_status status;

	if (!(dev->emit_flags & EMIT_SWITCH))
		return PCTL_OK;
	status = opencl_zeros(dev, call, 16, &some);
	if (status == PCTL_OK) {
		kernel = clCreateKernel(k->built, EMIT_KERNEL_NAME, &error);
		if (error == CL_SUCCESS)
			error = set_arguments(k, kernel, some);
		if (error == CL_SUCCESS)
			status = opencl_switch(dev, call, k, kernel, 0);
	}
	if (status == PCTL_OK && error == CL_SUCCESS)
		error = clEnqueueNDRangeKernel(dev->queue, kernel, 3, NULL, k->local, k->local, 0,
					       NULL, NULL);
	if (status == PCTL_OK && error == CL_SUCCESS)
		error = clFinish(dev->queue);
	if (status == PCTL_OK && error != CL_SUCCESS)
		status = opencl_fail(dev, call, error, "compiling a kernel to the end");
	if (kernel)
		clReleaseKernel(kernel);
	if (some)
		clReleaseMemObject(some);
	return status;
}
