/* The keys of a machine's file. */
#include "runtime/graph/vm_private.h"

const char *const pctl_vm_regulators[3] = {"observe", "act", NULL};
static const pctl_conf_field scalar = {.key = "value", .kind = PCTL_FIELD_SCALAR};
static const pctl_conf_field number = {.key = "number", .kind = PCTL_FIELD_U64, .max = UINT32_MAX};

static const pctl_conf_field heap_fields[] = {
	{.key = "bytes", .kind = PCTL_FIELD_BYTES, .flags = PCTL_FIELD_REQUIRED, .doc = "how many"},
	{.key = "file",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "what `vm run` feeds it with unless --in names another"},
};
static const pctl_conf_schema heap_schema = PCTL_CONF_SCHEMA("a part of the heap", heap_fields);
static const pctl_conf_field heap_element = {
	.key = "part", .kind = PCTL_FIELD_GROUP, .group = &heap_schema};
static const pctl_conf_field bytes_element = {.key = "bytes", .kind = PCTL_FIELD_BYTES};

static const pctl_conf_field window_fields[] = {
	{.key = "at",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "a part of the heap"},
	{.key = "offset", .kind = PCTL_FIELD_BYTES, .doc = "from its beginning; default 0"},
	{.key = "stride", .kind = PCTL_FIELD_BYTES, .doc = "more in each instance; default 0"},
	{.key = "bytes", .kind = PCTL_FIELD_BYTES, .doc = "how many; default: all that is left"},
};
static const pctl_conf_schema window_schema = PCTL_CONF_SCHEMA("a window", window_fields);

static const pctl_conf_field port_fields[] = {
	{.key = "at",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "a register, kv, or a part of the heap or the globals"},
	{.key = "type", .kind = PCTL_FIELD_STRING, .flags = PCTL_FIELD_REQUIRED, .doc = "its type"},
	{.key = "offset", .kind = PCTL_FIELD_BYTES, .doc = "bytes from its beginning; default 0"},
	{.key = "stride", .kind = PCTL_FIELD_BYTES, .doc = "more in each instance; default 0"},
};
static const pctl_conf_schema port_schema = PCTL_CONF_SCHEMA("a port", port_fields);
static const pctl_conf_field port_element = {
	.key = "port", .kind = PCTL_FIELD_GROUP, .group = &port_schema};

static const pctl_conf_field step_fields[] = {
	{.key = "kernel", .kind = PCTL_FIELD_STRING, .doc = "a WGSL file"},
	{.key = "entry", .kind = PCTL_FIELD_NAME, .doc = "its entry point"},
	{.key = "dispatch",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 3,
	 .element = &number,
	 .doc = "workgroups; default [ 1 ]"},
	{.key = "override",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar,
	 .doc = "overrides of the kernel"},
	{.key = "params",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 56,
	 .element = &number,
	 .doc = "words behind the arguments in its uniform block"},
	{.key = "heap",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &window_schema,
	 .doc = "the window it is bound to"},
	{.key = "op", .kind = PCTL_FIELD_STRING, .doc = "an op of an op library, tensor.matmul@1"},
	{.key = "in", .kind = PCTL_FIELD_LIST, .element = &port_element, .doc = "its inputs"},
	{.key = "out", .kind = PCTL_FIELD_LIST, .element = &port_element, .doc = "its outputs"},
	{.key = "attr", .kind = PCTL_FIELD_MAP, .element = &scalar, .doc = "attributes of the op"},
	{.key = "instances",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 2,
	 .element = &number,
	 .doc = "the one it is for, or the first and the last; default: all"},
};
static const pctl_conf_schema step_schema = PCTL_CONF_SCHEMA("a step", step_fields);
static const pctl_conf_field step_element = {
	.key = "step", .kind = PCTL_FIELD_GROUP, .group = &step_schema};

static const pctl_conf_field vm_fields[] = {
	{.key = "name", .kind = PCTL_FIELD_NAME, .flags = PCTL_FIELD_REQUIRED, .doc = "its name"},
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "what it does, one line"},
	{.key = "instances",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "1",
	 .doc = "how many there are"},
	{.key = "width",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "4096",
	 .doc = "words of a register, a multiple of 64"},
	{.key = "n_embd",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .doc = "words of data in a message; default width - 4"},
	{.key = "kv_bytes",
	 .kind = PCTL_FIELD_BYTES,
	 .default_text = "0",
	 .doc = "of each instance's partition of the globals"},
	{.key = "regulator",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_vm_regulators,
	 .default_text = "observe",
	 .doc = "act: it writes scale factors"},
	{.key = "epsilon",
	 .kind = PCTL_FIELD_FLOAT,
	 .default_text = "0.0",
	 .doc = "a norm below it has vanished; rounded to f32"},
	{.key = "target",
	 .kind = PCTL_FIELD_FLOAT,
	 .default_text = "0.0",
	 .doc = "the norm that is wanted; 0: the running mean"},
	{.key = "skipping",
	 .kind = PCTL_FIELD_BOOL,
	 .default_text = "false",
	 .doc = "active = 0 skips an instance"},
	{.key = "advance",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "0",
	 .doc = "what the position counter goes on by in every turn"},
	{.key = "turns",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "1",
	 .doc = "how often a job runs the program"},
	{.key = "heap_bytes", .kind = PCTL_FIELD_BYTES, .doc = "where the heap ends; default 2^48"},
	{.key = "heap",
	 .kind = PCTL_FIELD_MAP,
	 .element = &heap_element,
	 .doc = "parts, allotted in this order"},
	{.key = "globals",
	 .kind = PCTL_FIELD_MAP,
	 .element = &bytes_element,
	 .doc = "name = bytes, behind the partitions"},
	{.key = "program",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .element = &step_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "what an instance runs, in order"},
};
static const pctl_conf_schema vm_schema = PCTL_CONF_SCHEMA("a machine", vm_fields);
static const pctl_conf_field file_fields[] = {
	{.key = "vm",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &vm_schema,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the machine"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a machine's file", file_fields);

const pctl_conf_schema *pctl_vm_schema(void)
{
	return &file_schema;
}
