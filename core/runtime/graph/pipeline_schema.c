/* The keys of a pipeline file. Groups of jobs lie in each other as deep as there are tables here: a group, groups in it, jobs. */
#include "runtime/graph/pipeline_private.h"

const char *const pctl_pipe_class_words[] = {"integer", "strict", "approximate", NULL};

static const pctl_conf_field scalar_element = {.key = "value", .kind = PCTL_FIELD_SCALAR};
static const pctl_conf_field string_element = {.key = "reference", .kind = PCTL_FIELD_STRING};
/* A reference, or several between brackets: the reader says which. */
static const pctl_conf_field feed_element = {.key = "reference", .kind = PCTL_FIELD_ANY};

static const pctl_conf_field tensor_type_fields[] = {
	{.key = "tensor",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "names of tensors, * for anything"},
	{.key = "type",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the type that they have"},
};
static const pctl_conf_schema tensor_type_schema =
	PCTL_CONF_SCHEMA("a type of tensors", tensor_type_fields);
static const pctl_conf_field tensor_type_element = {
	.key = "type", .kind = PCTL_FIELD_GROUP, .group = &tensor_type_schema};

static const pctl_conf_field input_fields[] = {
	{.key = "type", .kind = PCTL_FIELD_STRING, .doc = "type of the data, u32[m,2]"},
	{.key = "file",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "read from this file unless --in names another"},
	{.key = "cid",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "taken from the store unless --in names another"},
	{.key = "tensors",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "in place of a type: a file of tensors, of which \"$name/tensor\" is one"},
	{.key = "types",
	 .kind = PCTL_FIELD_LIST,
	 .element = &tensor_type_element,
	 .doc = "types of the tensors, the first entry that fits"},
};
static const pctl_conf_schema input_schema = PCTL_CONF_SCHEMA("an input", input_fields);
static const pctl_conf_field input_element = {
	.key = "input", .kind = PCTL_FIELD_GROUP, .group = &input_schema};

static const pctl_conf_field state_fields[] = {
	{.key = "type",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "type of the data; zeros before the first run"},
	{.key = "next",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "\"job.port\": what it is after a run"},
	{.key = "count", .kind = PCTL_FIELD_SCALAR, .doc = "how many parts: \"$name/0\", .."},
	{.key = "index", .kind = PCTL_FIELD_NAME, .doc = "what counts them in `next`, from 0"},
};
static const pctl_conf_schema state_schema = PCTL_CONF_SCHEMA("a state", state_fields);
static const pctl_conf_field state_element = {
	.key = "state", .kind = PCTL_FIELD_GROUP, .group = &state_schema};

static const pctl_conf_field repeat_fields[] = {
	{.key = "count",
	 .kind = PCTL_FIELD_SCALAR,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "how often; 0 passes the carried inputs on"},
	{.key = "carry",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .doc = "input port = the output port that feeds it the next time; of a group name = "
		"\"job.port\""},
	{.key = "index",
	 .kind = PCTL_FIELD_NAME,
	 .doc = "of a group: what counts turns from 0, {i} in its strings"},
	{.key = "start",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .doc = "of a group: name = what it carries into the first turn"},
};
static const pctl_conf_schema repeat_schema = PCTL_CONF_SCHEMA("a repeat", repeat_fields);

#define JOB_FIELDS                                                                                \
	{.key = "id",                                                                             \
	 .kind = PCTL_FIELD_NAME,                                                                 \
	 .flags = PCTL_FIELD_REQUIRED,                                                            \
	 .doc = "name of the job"},                                                               \
		{.key = "op",                                                                     \
		 .kind = PCTL_FIELD_STRING,                                                       \
		 .doc = "an op of an op library, rank.step@1"},                                   \
		{.key = "shader", .kind = PCTL_FIELD_STRING, .doc = "a WGSL file"},               \
		{.key = "vm", .kind = PCTL_FIELD_STRING, .doc = "a file of a machine, x.vm.cfg"}, \
		{.key = "entry", .kind = PCTL_FIELD_NAME, .doc = "entry point of the shader"},    \
		{.key = "dispatch",                                                               \
		 .kind = PCTL_FIELD_LIST,                                                         \
		 .min = 1,                                                                        \
		 .max = 3,                                                                        \
		 .element = &scalar_element,                                                      \
		 .doc = "workgroups: numbers, \"$param\", \"dim\" or \"dim/64\" (rounded up)"},   \
		{.key = "in",                                                                     \
		 .kind = PCTL_FIELD_MAP,                                                          \
		 .element = &feed_element,                                                        \
		 .doc = "port = \"$input\" or \"job.port\"; [ .. ] of them where the port is a "  \
			"list"},                                                                  \
		{.key = "out",                                                                    \
		 .kind = PCTL_FIELD_MAP,                                                          \
		 .element = &string_element,                                                      \
		 .doc = "variable = type (shader jobs), or place = type (vm jobs)"},              \
		{.key = "attr",                                                                   \
		 .kind = PCTL_FIELD_MAP,                                                          \
		 .element = &scalar_element,                                                      \
		 .doc = "attributes of the op"},                                                  \
		{.key = "override",                                                               \
		 .kind = PCTL_FIELD_MAP,                                                          \
		 .element = &scalar_element,                                                      \
		 .doc = "overrides of the shader"},                                               \
		{.key = "repeat",                                                                 \
		 .kind = PCTL_FIELD_GROUP,                                                        \
		 .group = &repeat_schema,                                                         \
		 .doc = "run several times"},                                                     \
		{.key = "after",                                                                  \
		 .kind = PCTL_FIELD_LIST,                                                         \
		 .element = &string_element,                                                      \
		 .doc = "jobs that run before"},                                                  \
	{                                                                                         \
		.key = "placement", .kind = PCTL_FIELD_STRING,                                    \
		.doc = "a backend or device this job must run on"                                 \
	}
#define GROUP_FIELD(of)                                                               \
	{                                                                             \
		.key = "jobs", .kind = PCTL_FIELD_LIST, .min = 1, .element = of,      \
		.doc = "of a group, which runs these and nothing itself, once a turn" \
	}

static const pctl_conf_field job_fields[] = {JOB_FIELDS};
static const pctl_conf_schema job_schema = PCTL_CONF_SCHEMA("a job", job_fields);
static const pctl_conf_field job_element = {
	.key = "job", .kind = PCTL_FIELD_GROUP, .group = &job_schema};

static const pctl_conf_field inner_fields[] = {JOB_FIELDS, GROUP_FIELD(&job_element)};
static const pctl_conf_schema inner_schema = PCTL_CONF_SCHEMA("a job", inner_fields);
static const pctl_conf_field inner_element = {
	.key = "job", .kind = PCTL_FIELD_GROUP, .group = &inner_schema};

static const pctl_conf_field entry_fields[] = {JOB_FIELDS, GROUP_FIELD(&inner_element)};
static const pctl_conf_schema entry_schema = PCTL_CONF_SCHEMA("a job", entry_fields);
static const pctl_conf_field entry_element = {
	.key = "job", .kind = PCTL_FIELD_GROUP, .group = &entry_schema};

static const pctl_conf_field pipeline_fields[] = {
	{.key = "name",
	 .kind = PCTL_FIELD_NAME,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name of the pipeline"},
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "what it does, one line"},
	{.key = "class",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_pipe_class_words,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the most it may need: integer, strict or approximate"},
	{.key = "gas_limit", .kind = PCTL_FIELD_U64, .doc = "refused above this"},
	{.key = "params",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar_element,
	 .doc = "name = default, --set changes it"},
	{.key = "inputs",
	 .kind = PCTL_FIELD_MAP,
	 .element = &input_element,
	 .doc = "data that comes from outside"},
	{.key = "state",
	 .kind = PCTL_FIELD_MAP,
	 .element = &state_element,
	 .doc = "data that one run leaves to the next"},
	{.key = "jobs",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .element = &entry_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "what runs"},
	{.key = "outputs",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name = \"job.port\""},
};
static const pctl_conf_schema pipeline_schema = PCTL_CONF_SCHEMA("a pipeline", pipeline_fields);
static const pctl_conf_field file_fields[] = {
	{.key = "pipeline",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &pipeline_schema,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the pipeline"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a pipeline file", file_fields);

const pctl_conf_schema *pctl_pipeline_schema(void)
{
	return &file_schema;
}
