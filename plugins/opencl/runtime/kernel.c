/* From the wire form of a program to a built kernel, and whether a device can have it at all. */
#include "runtime/opencl.h"

#include "spmd/spmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX \
	200u /* clang nests at most 256 brackets, and the frame around a body needs some */

#define FLOAT_CAPS (PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_F64)

/* Say which capability is missing, by name where it has one. */
static void missing_reason(uint64_t missing, char *why, size_t n)
{
	static const struct {
		uint64_t cap;
		const char *what;
	} known[] = {
		{PCTL_CAP_F64, "64-bit floats (cl_khr_fp64)"},
		{PCTL_CAP_F16, "16-bit floats (cl_khr_fp16)"},
		{PCTL_CAP_BF16, "bf16"},
		{PCTL_CAP_SUBGROUPS, "subgroups that are written for (NVIDIA's warps)"},
		{PCTL_CAP_TILES, "matrix tiles that are written for (NVIDIA's matrix units)"},
	};

	snprintf(why, n, "the program needs capabilities 0x%llx that the device lacks",
		 (unsigned long long)missing);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!(missing & known[i].cap))
			continue;
		snprintf(why, n, "the device has no %s", known[i].what);
		return;
	}
}

/* A strict operation is the legaliser's to take apart; u16 is loaded, stored and converted only. */
static uint32_t refuse_op(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			  char *why, size_t n)
{
	if (PCTL_IS_STRICT(in->op)) {
		snprintf(why, n, "the strict float operation %s is not legalised",
			 pctl_op_get(in->op)->name);
		return PC3210_KERNEL_CAPABILITY;
	}
	if (in->op == PCTL_OP_BITCAST &&
	    (p->types[in->type].scalar == PCTL_SCALAR_U16 ||
	     p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar == PCTL_SCALAR_U16)) {
		snprintf(why, n,
			 "BITCAST of u16: 16 bits are loaded, stored and converted, no more");
		return PC3210_KERNEL_CAPABILITY;
	}
	if (pctl_tile_moved(p, fn, in) && !(in->flags & PCTL_INST_WHOLE)) {
		snprintf(why, n, "%s of a tile that need not be whole", pctl_op_get(in->op)->name);
		return PC3210_KERNEL_CAPABILITY;
	}
	return 0;
}

static uint32_t refuse_ops(const pctl_program *p, char *why, size_t n)
{
	uint32_t code = 0;

	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; i < p->functions[f].n_insts && !code; i++)
			code = refuse_op(p, &p->functions[f],
					 &p->insts[p->functions[f].first_inst + i], why, n);
	return code;
}

/* Write the reason why this device cannot run the program and return its code; 0 when it can. */
static uint32_t refusal(pctl_device *dev, const pctl_program *p, const emit_facts *facts, char *why,
			size_t n)
{
	pctl_device_caps caps;

	const uint32_t code = refuse_ops(p, why, n);

	if (code)
		return code;
	opencl_device_caps(dev, NULL, &caps);
	if (p->caps & ~caps.caps) {
		missing_reason(p->caps & ~caps.caps, why, n);
		return PC3210_KERNEL_CAPABILITY;
	}
	if ((p->caps & PCTL_CAP_SUBGROUPS) && (EMIT_WARP_LANES % pctl_program_subgroup_size(p) ||
					       facts->invocations % EMIT_WARP_LANES)) {
		snprintf(why, n, "subgroups of %u in %llu invocations are no parts of whole warps",
			 pctl_program_subgroup_size(p), (unsigned long long)facts->invocations);
		return PC3210_KERNEL_CAPABILITY;
	}
	if (facts->bad_op) {
		snprintf(why, n, "instruction 0x%x is unknown to this backend", facts->bad_op);
		return PC3210_KERNEL_CAPABILITY;
	}
	for (uint32_t i = 0; i < 3; i++) {
		if (p->entries[0].workgroup_size[i] > caps.max_local[i]) {
			snprintf(why, n, "workgroup size %u in dimension %u, the device allows %u",
				 p->entries[0].workgroup_size[i], i, caps.max_local[i]);
			return PC3211_KERNEL_LIMIT;
		}
	}
	if (facts->invocations > caps.max_invocations) {
		snprintf(why, n, "%llu invocations a workgroup, the device allows %u",
			 (unsigned long long)facts->invocations, caps.max_invocations);
		return PC3211_KERNEL_LIMIT;
	}
	if (facts->workgroup_bytes > caps.max_workgroup_bytes) {
		snprintf(why, n, "%llu bytes of workgroup memory, the device has %u",
			 (unsigned long long)facts->workgroup_bytes, caps.max_workgroup_bytes);
		return PC3211_KERNEL_LIMIT;
	}
	if (facts->table_bytes > dev->constant_bytes) {
		snprintf(why, n, "%llu bytes of constant tables, the device keeps %llu",
			 (unsigned long long)facts->table_bytes,
			 (unsigned long long)dev->constant_bytes);
		return PC3211_KERNEL_LIMIT;
	}
	if (facts->n_bindings > caps.max_bindings) {
		snprintf(why, n, "%u bindings, the device allows %u", facts->n_bindings,
			 caps.max_bindings);
		return PC3211_KERNEL_LIMIT;
	}
	if (facts->depth > DEPTH_MAX) {
		snprintf(why, n, "control nests %u deep, the compiler takes %u", facts->depth,
			 DEPTH_MAX);
		return PC3211_KERNEL_LIMIT;
	}
	return 0;
}

/* Decode and judge. *code is the refusal's code, 0 when the device can run it. */
static pctl_status examine(pctl_device *dev, const pctl_call *call, const uint8_t *wire, uint64_t n,
			   pctl_program **out, emit_facts *facts, uint32_t *code, char *why,
			   size_t n_why)
{
	pctl_status status;

	*out = NULL;
	*code = 0;
	status = pctl_program_decode(wire, n, call, out);
	if (status != PCTL_OK)
		return status;
	if (!(*out)->n_entries) {
		*code = PC3212_KERNEL_UNSPECIALISED;
		snprintf(why, n_why, "the program has no entry point");
		return PCTL_OK;
	}
	status = emit_scan(*out, call, facts);
	if (status == PCTL_OK)
		*code = refusal(dev, *out, facts, why, n_why);
	return status;
}

pctl_status opencl_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	pctl_program *program = NULL;
	emit_facts facts;
	pctl_status status;

	*out = (pctl_support){.head = PCTL_HEAD(pctl_support)};
	status = examine(dev, call, wire, n, &program, &facts, &out->code, out->reason,
			 sizeof(out->reason));
	out->supported = status == PCTL_OK && !out->code;
	pctl_program_destroy(program);
	return status;
}

static pctl_status build_failed(pctl_device *dev, const pctl_call *call, cl_program program,
				cl_int error)
{
	char *log = NULL;
	size_t n = 0;
	pctl_status status;

	clGetProgramBuildInfo(program, dev->id.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
	log = n ? malloc(n + 1) : NULL;
	if (log && clGetProgramBuildInfo(program, dev->id.device, CL_PROGRAM_BUILD_LOG, n, log,
					 NULL) == CL_SUCCESS)
		log[n] = '\0';
	else if (log)
		log[0] = '\0';
	status = pctl_refuse(call, PC3274_OPENCL_BUILD, "the driver's compiler: %s (%d)%s%s",
			     opencl_error_name(error), error, log && log[0] ? "\n" : "",
			     log ? log : "");
	free(log);
	return status;
}

static pctl_status build(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
			 const text *source, const void *cache, uint64_t cache_bytes)
{
	const char *const string = text_str(source);
	const size_t n = source->n;
	cl_int error;

	opencl_cache_key(dev, string, n, k->key);
	k->built = opencl_cache_load(dev, k->key, cache, cache_bytes);
	if (k->built)
		return PCTL_OK;
	k->built = clCreateProgramWithSource(dev->context, 1, (const char **)&string, &n, &error);
	if (error != CL_SUCCESS)
		return opencl_fail(dev, call, error, "clCreateProgramWithSource");
	error = clBuildProgram(k->built, 1, &dev->id.device,
			       k->program->caps & FLOAT_CAPS ? dev->float_options : dev->options,
			       NULL, NULL);
	return error == CL_SUCCESS ? PCTL_OK : build_failed(dev, call, k->built, error);
}

/* Show the generated source to who asked for the plugin's own checks. */
static void show_source(const pctl_device *dev, const text *source)
{
	const pctl_host *host = dev->inst->host;
	const uint32_t *debug = host->get_service(host->ctx, PCTL_SERVICE_DEBUG);

	if (debug && *debug)
		host->log(host->ctx, 0, text_str(source));
}

/* Lanes of vectors where the device is a CPU's and the program is such; else an invocation a work-item. The first line of the
 * source says which, and of which version. */
/* By lanes, where they take it; else *why says what they do not. */
static pctl_status write_lanes(const pctl_device *dev, const pctl_program *p, const pctl_call *call,
			       text *out, const char **why)
{
	emit_inlined inlined;
	emit_facts facts;
	pctl_status status;

	emit_inline(p, 0, &inlined);
	status = emit_scan(&inlined.program, call, &facts);
	text_add(out, "/* " SPMD_VERSION " */\n");
	if (status == PCTL_OK)
		status = spmd_program(facts.depth > DEPTH_MAX ? p : &inlined.program, call,
				      dev->emit_flags, out, why);
	if (*why) {
		text_clear(out);
		text_printf(out, "/* not " SPMD_VERSION ": %s */\n", *why);
	}
	emit_inlined_free(&inlined);
	return status;
}

/* Where a driver runs invocations one after the other, main holds all barriers (clc/ticks.c). */
static pctl_status write_ticks(const pctl_device *dev, const pctl_program *p, const pctl_call *call,
			       text *out)
{
	emit_inlined inlined;
	emit_facts facts;
	pctl_status status;

	emit_inline(p, 1, &inlined);
	status = emit_scan(&inlined.program, call, &facts);
	if (status == PCTL_OK && (facts.calls_wait || facts.depth > DEPTH_MAX))
		status =
			pctl_refuse(call, PC3211_KERNEL_LIMIT,
				    "with its functions that hold barriers written out, the kernel "
				    "is too large or nests too deep for this driver");
	if (status == PCTL_OK)
		status = emit_program(&inlined.program, call, dev->emit_flags, out);
	emit_inlined_free(&inlined);
	return status;
}

static pctl_status write_source(const pctl_device *dev, const pctl_program *p,
				const pctl_call *call, text *out, uint32_t *whole_groups)
{
	const char *why = NULL;
	pctl_status status = PCTL_OK;

	*whole_groups = 0;
	if (dev->spmd)
		status = write_lanes(dev, p, call, out, &why);
	if (status != PCTL_OK)
		return status;
	*whole_groups = dev->spmd && !why;
	if (*whole_groups)
		return PCTL_OK;
	return dev->emit_flags & EMIT_MEET ? write_ticks(dev, p, call, out)
					   : emit_program(p, call, dev->emit_flags, out);
}

pctl_status opencl_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
				pctl_kernel **out)
{
	char why[PCTL_NAME_MAX] = "";
	pctl_status status;
	text source = {0};
	pctl_kernel *k;
	uint32_t code;

	*out = NULL;
	if (flags)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "build flags 0x%x are not for this backend", flags);
	k = calloc(1, sizeof(*k));
	if (!k)
		return pctl_refuse(call, PC2_NOMEM, "opencl: building a kernel");
	status = examine(dev, call, wire, n, &k->program, &k->facts, &code, why, sizeof(why));
	if (status == PCTL_OK && code)
		status = pctl_refuse(call, code, "%s", why);
	if (status == PCTL_OK)
		status = write_source(dev, k->program, call, &source, &k->whole_groups);
	for (uint32_t i = 0; i < 3 && status == PCTL_OK; i++)
		k->local[i] = k->whole_groups ? 1 : k->program->entries[0].workgroup_size[i];
	if (status == PCTL_OK)
		show_source(dev, &source);
	if (status == PCTL_OK)
		status = build(dev, call, k, &source, cache, cache_bytes);
	if (status == PCTL_OK)
		status = opencl_warm(dev, call, k);
	text_free(&source);
	if (status == PCTL_OK)
		*out = k;
	else
		opencl_kernel_destroy(dev, k);
	return status;
}

pctl_status opencl_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				 char *language)
{
	char why[PCTL_NAME_MAX] = "";
	pctl_program *program = NULL;
	pctl_status status;
	emit_facts facts;
	text source = {0};
	uint32_t code, whole_groups;

	*n_out = 0;
	snprintf(language, PCTL_NAME_MAX, "opencl");
	status = examine(dev, call, wire, n, &program, &facts, &code, why, sizeof(why));
	if (status == PCTL_OK && code)
		status = pctl_refuse(call, code, "%s", why);
	if (status == PCTL_OK)
		status = write_source(dev, program, call, &source, &whole_groups);
	if (status == PCTL_OK) {
		*n_out = source.n;
		if (capacity)
			memcpy(out, text_str(&source), capacity < source.n ? capacity : source.n);
	}
	text_free(&source);
	pctl_program_destroy(program);
	return status;
}

void opencl_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	if (!k)
		return;
	if (k->built)
		clReleaseProgram(k->built);
	pctl_program_destroy(k->program);
	free(k);
}
