/* Devices: finding them in a stable order, opening one, and saying what it is and what it can do.
 */
#include "runtime/opencl.h"

#include "spmd/spmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16u

/* The loader's order of platforms, then the platform's order of devices: both follow the installed
 * files. */
static void enumerate(pctl_instance *inst)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_device_id devices[OPENCL_MAX_DEVICES];
	cl_uint n_platforms = 0, n = 0;

	if (inst->enumerated)
		return;
	inst->enumerated = 1;
	if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < n_platforms && i < MAX_PLATFORMS; i++) {
		if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, OPENCL_MAX_DEVICES, devices,
				   &n) != CL_SUCCESS)
			continue;
		for (cl_uint d = 0; d < n && inst->n_ids < OPENCL_MAX_DEVICES; d++)
			inst->ids[inst->n_ids++] = (opencl_id){platforms[i], devices[d]};
	}
}

static void device_text(cl_device_id device, cl_device_info what, char *out, size_t n)
{
	out[0] = '\0';
	if (clGetDeviceInfo(device, what, n, out, NULL) != CL_SUCCESS)
		out[0] = '\0';
	out[n - 1] = '\0';
}

static void platform_text(cl_platform_id platform, cl_platform_info what, char *out, size_t n)
{
	out[0] = '\0';
	if (clGetPlatformInfo(platform, what, n, out, NULL) != CL_SUCCESS)
		out[0] = '\0';
	out[n - 1] = '\0';
}

static uint64_t device_u64(cl_device_id device, cl_device_info what)
{
	cl_ulong value = 0;

	clGetDeviceInfo(device, what, sizeof(value), &value, NULL);
	return value;
}

static cl_uint device_u32(cl_device_id device, cl_device_info what)
{
	cl_uint value = 0;

	clGetDeviceInfo(device, what, sizeof(value), &value, NULL);
	return value;
}

static size_t device_size(cl_device_id device, cl_device_info what)
{
	size_t value = 0;

	clGetDeviceInfo(device, what, sizeof(value), &value, NULL);
	return value;
}

static uint32_t kind_of(cl_device_id device)
{
	cl_device_type type = 0;

	clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	if (type & CL_DEVICE_TYPE_CPU)
		return PCTL_DEVICE_CPU;
	if (type & CL_DEVICE_TYPE_GPU)
		return device_u32(device, CL_DEVICE_HOST_UNIFIED_MEMORY) ? PCTL_DEVICE_INTEGRATED
									 : PCTL_DEVICE_DISCRETE;
	return PCTL_DEVICE_OTHER;
}

pctl_status opencl_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	char platform[128], version[64];

	(void)call;
	enumerate(inst);
	*n_out = inst->n_ids;
	for (uint32_t i = 0; i < inst->n_ids && i < capacity; i++) {
		out[i] = (pctl_device_info){.head = PCTL_HEAD(pctl_device_info),
					    .kind = kind_of(inst->ids[i].device)};
		device_text(inst->ids[i].device, CL_DEVICE_NAME, out[i].name, sizeof(out[i].name));
		platform_text(inst->ids[i].platform, CL_PLATFORM_NAME, platform, sizeof(platform));
		device_text(inst->ids[i].device, CL_DRIVER_VERSION, version, sizeof(version));
		snprintf(out[i].driver, sizeof(out[i].driver), "%s %s", platform, version);
	}
	return PCTL_OK;
}

static void add_fact(pctl_device *dev, const char *key, const char *value)
{
	pctl_key_value *kv = &dev->identity[dev->n_kv++];

	snprintf(kv->key, sizeof(kv->key), "%s", key);
	snprintf(kv->value, sizeof(kv->value), "%s", value);
}

/* Oclgrind's simulator lacks intrinsics that clang's optimiser forms (minimum, absolute value, bit
 * reversal). */
static const char *options_for(const char *platform)
{
	return strcmp(platform, "Oclgrind") == 0 ? "-cl-std=CL1.2 -cl-opt-disable"
						 : "-cl-std=CL1.2";
}

static int has_extension(cl_device_id device, const char *name)
{
	char list[4096];
	const size_t n = strlen(name);

	device_text(device, CL_DEVICE_EXTENSIONS, list, sizeof(list));
	for (const char *s = strstr(list, name); s; s = strstr(s + n, name))
		if ((s == list || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
			return 1;
	return 0;
}

/* What NVIDIA's OpenCL C has as PTX alone: products of packed bytes from compute capability 6.1 on, warps whose lanes wait
 * for each other from 7.0 on, sums over them and matrix tiles from 8.0 on. That they are there is a claim; the host asks for their results
 * before it leaves any to them. */
static uint32_t ptx_flags(cl_device_id device)
{
	const cl_device_info major_nv = 0x4000, minor_nv = 0x4001,
			     warp_nv = 0x4003; /* cl_nv_device_attribute_query */
	cl_uint major = 0, minor = 0, warp = 0;
	uint32_t flags = 0;

	if (!has_extension(device, "cl_nv_device_attribute_query") ||
	    clGetDeviceInfo(device, major_nv, sizeof(major), &major, NULL) != CL_SUCCESS ||
	    clGetDeviceInfo(device, minor_nv, sizeof(minor), &minor, NULL) != CL_SUCCESS)
		return 0;
	if (major > 6 || (major == 6 && minor >= 1))
		flags |= EMIT_DP4A;
	if (major >= 7 &&
	    clGetDeviceInfo(device, warp_nv, sizeof(warp), &warp, NULL) == CL_SUCCESS &&
	    warp == EMIT_WARP_LANES)
		flags |= EMIT_WARPS | (major >= 8 ? EMIT_REDUX | EMIT_MMA : 0) |
			 (major >= 9 ? EMIT_MMA_WIDE : 0);
	return flags;
}

/* What x86 has for packed bytes, and no name in OpenCL C; PoCL compiles for the processor that it runs on. A claim, too. */
static uint32_t x86_flags(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl")
		       ? EMIT_VNNI
		       : 0;
#else
	return 0;
#endif
}

/* What the device says of its floats: types it has, and the promises of each. */
static void find_floats(pctl_device *dev)
{
	const cl_device_id device = dev->id.device;
	const uint64_t single = device_u64(device, CL_DEVICE_SINGLE_FP_CONFIG);
	const uint64_t wide = device_u64(device, CL_DEVICE_DOUBLE_FP_CONFIG);
	const uint64_t half = device_u64(device, CL_DEVICE_HALF_FP_CONFIG);
	const int is_oclgrind = strstr(dev->options, "-cl-opt-disable") != NULL;
	char buf[PCTL_NAME_MAX];

	if (wide && has_extension(device, "cl_khr_fp64"))
		dev->float_caps |= PCTL_CAP_F64;
	if (half && has_extension(device, "cl_khr_fp16"))
		dev->float_caps |= PCTL_CAP_F16;
	dev->float_options = dev->options;
	if (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
		dev->float_options =
			is_oclgrind ? "-cl-std=CL1.2 -cl-opt-disable "
				      "-cl-fp32-correctly-rounded-divide-sqrt"
				    : "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
	snprintf(buf, sizeof(buf), "f32=%#llx f64=%#llx f16=%#llx", (unsigned long long)single,
		 (unsigned long long)wide, (unsigned long long)half);
	add_fact(dev, "float-config", buf);
	add_fact(dev, "float-options", dev->float_options);
	add_fact(dev, "loops-by-lane", dev->emit_flags & EMIT_LANE_LOOPS ? "yes" : "no");
	add_fact(dev, "float-constants-hidden",
		 dev->emit_flags & EMIT_NOFOLD_FLOATS ? "yes" : "no");
}

static void find_identity(pctl_device *dev)
{
	char buf[PCTL_NAME_MAX];

	device_text(dev->id.device, CL_DEVICE_VENDOR, buf, sizeof(buf));
	add_fact(dev, "vendor", buf);
	device_text(dev->id.device, CL_DEVICE_NAME, buf, sizeof(buf));
	add_fact(dev, "device", buf);
	platform_text(dev->id.platform, CL_PLATFORM_NAME, buf, sizeof(buf));
	add_fact(dev, "driver", buf);
	dev->options = options_for(buf);
	if (strcmp(buf, "rusticl") == 0)
		dev->emit_flags = EMIT_NOFOLD_FLOATS |
				  EMIT_SWITCH | /* clc/float.c, warm.c say why */
				  EMIT_REST_LEAVES;
	if (strcmp(buf, "Portable Computing Language") == 0) {
		dev->emit_flags = EMIT_LANE_LOOPS | EMIT_SWITCH; /* clc/loop.c, warm.c say why */
		dev->keeps_kernels = getenv("POCL_CACHE_DIR") != NULL; /* cache.c says why */
		if (kind_of(dev->id.device) == PCTL_DEVICE_CPU)
			dev->emit_flags |= x86_flags() | EMIT_AHEAD;
	}
	/* Not where the driver itself makes vectors of invocations (rusticl on llvmpipe), or watches them (Oclgrind). */
	dev->is_cpu = kind_of(dev->id.device) == PCTL_DEVICE_CPU;
	dev->spmd = dev->is_cpu && strcmp(buf, "rusticl") != 0 && strcmp(buf, "Oclgrind") != 0;
	if (dev->spmd) {
		/* What lanes do not take runs by the driver's loops over invocations (clc/control.c). */
		dev->emit_flags |= EMIT_MEET;
		add_fact(dev, "generator", SPMD_VERSION);
	}
	dev->emit_flags |= ptx_flags(dev->id.device);
	device_text(dev->id.device, CL_DRIVER_VERSION, buf, sizeof(buf));
	add_fact(dev, "driver-version", buf);
	platform_text(dev->id.platform, CL_PLATFORM_VERSION, buf, sizeof(buf));
	add_fact(dev, "platform-version", buf);
	device_text(dev->id.device, CL_DEVICE_VERSION, buf, sizeof(buf));
	add_fact(dev, "api", buf);
	device_text(dev->id.device, CL_DEVICE_OPENCL_C_VERSION, buf, sizeof(buf));
	add_fact(dev, "compiler", buf);
	add_fact(dev, "compiler-options", dev->options);
	add_fact(dev, "dispatch-switch", dev->emit_flags & EMIT_SWITCH ? "yes" : "no");
	/* How PoCL makes a workgroup of an invocation: conf/plugins.d says why it is set. */
	if (getenv("POCL_WORK_GROUP_METHOD") != NULL)
		add_fact(dev, "work-group-method", getenv("POCL_WORK_GROUP_METHOD"));
	find_floats(dev);
}

static pctl_status find_limits(pctl_device *dev, const pctl_call *call)
{
	const cl_device_id device = dev->id.device;
	size_t sizes[16] = {0};

	if (!device_u32(device, CL_DEVICE_AVAILABLE) ||
	    !device_u32(device, CL_DEVICE_COMPILER_AVAILABLE))
		return pctl_refuse(call, PC3273_OPENCL_NO_DEVICE,
				   "the device is not available or has no compiler");
	if (!device_u32(device, CL_DEVICE_ENDIAN_LITTLE))
		return pctl_refuse(call, PC3273_OPENCL_NO_DEVICE,
				   "the device is not little-endian");
	if (device_u32(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) > 16 ||
	    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL) !=
		    CL_SUCCESS)
		return pctl_refuse(call, PC3273_OPENCL_NO_DEVICE,
				   "the work-item sizes cannot be read");
	for (uint32_t i = 0; i < 3; i++)
		dev->max_local[i] = sizes[i];
	dev->address_bits = device_u32(device, CL_DEVICE_ADDRESS_BITS);
	dev->unified = device_u32(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
	dev->max_alloc = device_u64(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	/* A 32-bit device computes byte offsets in 32 bits; within 2 GiB they cannot wrap. */
	if (dev->address_bits < 64 && dev->max_alloc > 0x7fffffffu)
		dev->max_alloc = 0x7fffffffu;
	dev->memory = device_u64(device, CL_DEVICE_GLOBAL_MEM_SIZE);
	dev->local_bytes = device_u64(device, CL_DEVICE_LOCAL_MEM_SIZE);
	dev->constant_bytes = device_u64(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
	dev->max_invocations = device_size(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	return PCTL_OK;
}

pctl_status opencl_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	pctl_status status = PCTL_OK;
	pctl_device *dev = NULL;
	cl_int error;

	*out = NULL;
	enumerate(inst);
	if (index >= inst->n_ids)
		return pctl_refuse(call, PC3273_OPENCL_NO_DEVICE, "device %u of %u", index,
				   inst->n_ids);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return pctl_refuse(call, PC2_NOMEM, "opencl: opening a device");
	dev->inst = inst;
	dev->id = inst->ids[index];
	dev->wake = opencl_waker_create();
	if (!dev->wake) {
		status = pctl_refuse(call, PC2_NOMEM, "opencl: opening a device");
		goto out;
	}
	status = find_limits(dev, call);
	if (status != PCTL_OK)
		goto out;
	find_identity(dev);
	dev->context = clCreateContext(NULL, 1, &dev->id.device, NULL, NULL, &error);
	if (error != CL_SUCCESS) {
		status = opencl_fail(dev, call, error, "clCreateContext");
		goto out;
	}
	dev->queue = clCreateCommandQueue(dev->context, dev->id.device, CL_QUEUE_PROFILING_ENABLE,
					  &error);
	if (error != CL_SUCCESS)
		status = opencl_fail(dev, call, error, "clCreateCommandQueue");
out:
	if (status == PCTL_OK)
		*out = dev;
	else
		opencl_device_close(dev);
	return status;
}

void opencl_device_close(pctl_device *dev)
{
	if (!dev)
		return;
	if (dev->queue) {
		if (!dev->lost)
			clFinish(dev->queue);
		opencl_tickets_drop(dev);
		clReleaseCommandQueue(dev->queue);
	}
	if (dev->context)
		clReleaseContext(dev->context);
	opencl_waker_release(dev->wake);
	free(dev);
}

pctl_status opencl_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	(void)call;
	*n_out = dev->n_kv;
	for (uint32_t i = 0; i < dev->n_kv && i < capacity; i++)
		out[i] = dev->identity[i];
	return PCTL_OK;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Global ids are 32 bits wide in a program, so the counts are kept where groups times size cannot
 * pass that. */
pctl_status opencl_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	const uint64_t parameter_bytes = device_size(dev->id.device, CL_DEVICE_MAX_PARAMETER_SIZE);
	const uint64_t longest =
		4ull * UINT32_MAX; /* elements are counted in 32 bits and are 4 bytes or more */

	(void)call;
	*out = (pctl_device_caps){
		.head = PCTL_HEAD(pctl_device_caps),
		.caps = PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT |
			PCTL_CAP_STORE16 | dev->float_caps |
			(dev->emit_flags & (EMIT_DP4A | EMIT_VNNI) ? PCTL_CAP_DOT4 : 0) |
			(dev->emit_flags & EMIT_WARPS ? PCTL_CAP_SUBGROUPS : 0) |
			(dev->emit_flags & EMIT_MMA ? PCTL_CAP_TILES : 0),
		.memory_bytes = dev->memory,
		.max_binding_bytes = dev->max_alloc < longest ? dev->max_alloc : longest,
		.max_buffer_bytes = dev->max_alloc,
		.binding_alignment = 64,
		.max_groups = {4194303, 65535, 65535},
		.max_invocations = least(dev->max_invocations, 1024),
		.max_workgroup_bytes = least(dev->local_bytes, 1u << 30),
		.max_bindings = least(parameter_bytes / 24, 40),
		.subgroup_size = dev->emit_flags & EMIT_WARPS ? EMIT_WARP_LANES : 0,
		.timestamp_ns_den = 1,
	};
	for (uint32_t i = 0; i < 3; i++)
		out->max_local[i] = least(dev->max_local[i], 1024);
	return PCTL_OK;
}
