/* OpenCL's error numbers as diagnostics: what was asked of the driver, what it answered. */
#include "runtime/opencl.h"

static const struct {
	cl_int error;
	const char *name;
} names[] = {
	{CL_DEVICE_NOT_FOUND, "device not found"},
	{CL_DEVICE_NOT_AVAILABLE, "device not available"},
	{CL_COMPILER_NOT_AVAILABLE, "compiler not available"},
	{CL_MEM_OBJECT_ALLOCATION_FAILURE, "memory object allocation failure"},
	{CL_OUT_OF_RESOURCES, "out of resources"},
	{CL_OUT_OF_HOST_MEMORY, "out of host memory"},
	{CL_PROFILING_INFO_NOT_AVAILABLE, "profiling info not available"},
	{CL_BUILD_PROGRAM_FAILURE, "build program failure"},
	{CL_INVALID_VALUE, "invalid value"},
	{CL_INVALID_DEVICE, "invalid device"},
	{CL_INVALID_CONTEXT, "invalid context"},
	{CL_INVALID_COMMAND_QUEUE, "invalid command queue"},
	{CL_INVALID_MEM_OBJECT, "invalid memory object"},
	{CL_INVALID_BINARY, "invalid binary"},
	{CL_INVALID_BUILD_OPTIONS, "invalid build options"},
	{CL_INVALID_PROGRAM, "invalid program"},
	{CL_INVALID_PROGRAM_EXECUTABLE, "invalid program executable"},
	{CL_INVALID_KERNEL_NAME, "invalid kernel name"},
	{CL_INVALID_KERNEL, "invalid kernel"},
	{CL_INVALID_ARG_INDEX, "invalid argument index"},
	{CL_INVALID_ARG_VALUE, "invalid argument value"},
	{CL_INVALID_ARG_SIZE, "invalid argument size"},
	{CL_INVALID_KERNEL_ARGS, "invalid kernel arguments"},
	{CL_INVALID_WORK_DIMENSION, "invalid work dimension"},
	{CL_INVALID_WORK_GROUP_SIZE, "invalid work-group size"},
	{CL_INVALID_WORK_ITEM_SIZE, "invalid work-item size"},
	{CL_INVALID_GLOBAL_WORK_SIZE, "invalid global work size"},
	{CL_INVALID_EVENT, "invalid event"},
	{CL_INVALID_OPERATION, "invalid operation"},
	{CL_INVALID_BUFFER_SIZE, "invalid buffer size"},
	{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "an earlier command failed"},
};

const char *opencl_error_name(cl_int error)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	return "no name known for it";
}

pctl_status opencl_fail(pctl_device *dev, const pctl_call *call, cl_int error, const char *what)
{
	const char *name = opencl_error_name(error);

	switch (error) {
	case CL_MEM_OBJECT_ALLOCATION_FAILURE:
	case CL_OUT_OF_HOST_MEMORY:
		return pctl_refuse(call, PC3272_OPENCL_MEMORY, "%s: %s (%d)", what, name, error);
	case CL_DEVICE_NOT_AVAILABLE:
	case CL_OUT_OF_RESOURCES:
	case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
		dev->lost = 1;
		return pctl_refuse(call, PC3271_OPENCL_LOST, "%s: %s (%d)", what, name, error);
	default:
		return pctl_refuse(call, PC3270_OPENCL_CALL, "%s: %s (%d)", what, name, error);
	}
}
