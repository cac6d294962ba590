/* The plugin ABI as version 1.0 released it, all in one file and without the SDK: what a plugin
 * that was built then knows. Frozen: nothing here ever changes, whatever becomes of core/include.
 * The meaning of every member is written there. */
#ifndef PCTL_FROZEN_V1_0_H
#define PCTL_FROZEN_V1_0_H

#include <stdint.h>

#define V1_0_EXPORT __attribute__((visibility("default")))
#define V1_0_HEAD(T)                      \
	{                                 \
		(uint32_t)sizeof(T), 1, 0 \
	}

enum { V1_0_OK = 0, V1_0_NOMEM = 3, V1_0_INVALID = 17, V1_0_UNSUPPORTED = 19 };
enum { V1_0_SEVERITY_ERROR = 2 };
enum {
	V1_0_SCALAR_U32 = 3,
	V1_0_FUNCTION = 1,
	V1_0_PLAN = 2,
	V1_0_CLASS_INTEGER = 1,
	V1_0_LAW_CUSTOM = 13
};

typedef int32_t pctl_status;
typedef struct pctl_instance pctl_instance;
typedef struct pctl_device pctl_device;
typedef struct pctl_buffer pctl_buffer;
typedef struct pctl_kernel pctl_kernel;
typedef struct pctl_list pctl_list;

typedef struct pctl_head {
	uint32_t size;
	uint16_t major;
	uint16_t minor;
} pctl_head;

typedef struct pctl_pos {
	const char *file;
	uint32_t line;
	uint32_t column;
	uint32_t end_column;
	uint32_t reserved;
} pctl_pos;

typedef struct pctl_note {
	pctl_pos pos;
	const char *message;
} pctl_note;

typedef struct pctl_diag {
	pctl_head head;
	uint32_t code;
	uint32_t severity;
	pctl_pos pos;
	const char *subject;
	const char *message;
	const char *hint;
	const char *plugin;
	const pctl_note *notes;
	uint32_t n_notes;
	uint32_t reserved;
} pctl_diag;

typedef struct pctl_call {
	pctl_head head;
	void *ctx;
	void (*diag)(void *ctx, const pctl_diag *d);
	uint32_t (*cancelled)(void *ctx);
	uint64_t trace_id;
} pctl_call;

typedef struct pctl_host {
	pctl_head head;
	void *ctx;
	void *(*alloc)(void *ctx, uint64_t n_bytes);
	void (*release)(void *ctx, void *p);
	void (*log)(void *ctx, uint32_t level, const char *text);
	const void *(*get_service)(void *ctx, const char *name);
} pctl_host;

typedef struct pctl_plugin {
	pctl_head head;
	const char *id;
	const char *version;
	uint32_t build_flags;
	uint32_t reserved;
	pctl_status (*open)(const pctl_host *host, const pctl_call *call, pctl_instance **out);
	void (*close)(pctl_instance *inst);
	const void *(*interface)(pctl_instance *inst, const char *name);
} pctl_plugin;

typedef struct pctl_device_info {
	pctl_head head;
	uint32_t kind;
	uint32_t reserved;
	char name[256];
	char driver[256];
} pctl_device_info;

typedef struct pctl_key_value {
	char key[64];
	char value[256];
} pctl_key_value;

typedef struct pctl_device_caps {
	pctl_head head;
	uint64_t caps;
	uint64_t memory_bytes;
	uint64_t max_binding_bytes;
	uint64_t max_buffer_bytes;
	uint64_t binding_alignment;
	uint64_t max_groups[3];
	uint32_t max_local[3];
	uint32_t max_invocations;
	uint32_t max_workgroup_bytes;
	uint32_t max_bindings;
	uint32_t subgroup_size;
	uint32_t timestamp_ns_den;
} pctl_device_caps;

typedef struct pctl_support {
	pctl_head head;
	uint32_t supported;
	uint32_t code;
	char reason[256];
} pctl_support;

typedef struct pctl_binding {
	uint32_t group;
	uint32_t binding;
	pctl_buffer *buffer;
	uint64_t offset;
	uint64_t n_bytes;
} pctl_binding;

typedef struct pctl_completion {
	pctl_head head;
	uint32_t done;
	uint32_t n_timestamps;
	uint64_t device_ns;
	uint64_t timestamps[64];
} pctl_completion;

typedef struct pctl_finding {
	uint32_t kind;
	uint32_t dispatch;
	uint32_t var;
	uint32_t function;
	uint32_t inst;
	uint32_t other_function;
	uint32_t other_inst;
	uint32_t reserved;
	uint64_t address;
	uint64_t invocation;
	uint64_t other_invocation;
	uint64_t count;
} pctl_finding;

typedef struct pctl_counts {
	pctl_head head;
	uint64_t op_units[512];
	uint64_t storage_read_bytes;
	uint64_t storage_write_bytes;
	uint64_t other_memory_bytes;
	uint64_t checked_accesses;
	uint64_t barriers[4];
	uint64_t out_of_bounds;
	uint64_t lane_ops;
} pctl_counts;

typedef struct pctl_backend {
	pctl_head head;
	pctl_status (*devices)(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			       pctl_device_info *out, uint32_t *n_out);
	pctl_status (*device_open)(pctl_instance *inst, const pctl_call *call, uint32_t index,
				   pctl_device **out);
	void (*device_close)(pctl_device *dev);
	pctl_status (*device_identity)(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				       pctl_key_value *out, uint32_t *n_out);
	pctl_status (*device_caps)(pctl_device *dev, const pctl_call *call, pctl_device_caps *out);
	pctl_status (*supports)(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, pctl_support *out);
	pctl_status (*buffer_create)(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				     uint32_t usage, pctl_buffer **out);
	void (*buffer_destroy)(pctl_device *dev, pctl_buffer *buf);
	pctl_status (*buffer_write)(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				    uint64_t offset, const void *data, uint64_t n_bytes);
	pctl_status (*buffer_read)(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, void *data, uint64_t n_bytes);
	pctl_status (*kernel_build)(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, uint32_t flags, const void *cache,
				    uint64_t cache_bytes, pctl_kernel **out);
	pctl_status (*kernel_cache)(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				    uint64_t capacity, void *out, uint64_t *n_out);
	void (*kernel_destroy)(pctl_device *dev, pctl_kernel *k);
	pctl_status (*list_begin)(pctl_device *dev, const pctl_call *call, pctl_list **out);
	pctl_status (*list_dispatch)(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				     const pctl_binding *bindings, uint32_t n_bindings,
				     const uint32_t groups[3]);
	pctl_status (*list_dispatch_indirect)(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					      const pctl_binding *bindings, uint32_t n_bindings,
					      pctl_buffer *buf, uint64_t offset,
					      const uint32_t limit[3]);
	pctl_status (*list_copy)(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				 uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				 uint64_t n_bytes);
	pctl_status (*list_fill)(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, uint64_t n_bytes, uint32_t word);
	pctl_status (*list_barrier)(pctl_list *l, const pctl_call *call);
	pctl_status (*list_timestamp)(pctl_list *l, const pctl_call *call, uint32_t slot);
	pctl_status (*list_end)(pctl_list *l, const pctl_call *call);
	void (*list_destroy)(pctl_device *dev, pctl_list *l);
	pctl_status (*submit)(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			      uint64_t *ticket);
	pctl_status (*wait)(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			    uint64_t timeout_ns, pctl_completion *out);
	void (*cancel)(pctl_device *dev, uint64_t ticket);
	pctl_status (*findings)(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				pctl_finding *out, uint32_t *n_out);
	pctl_status (*counts)(pctl_device *dev, const pctl_call *call, pctl_counts *out);
} pctl_backend;

typedef struct pctl_tensor_type {
	uint32_t dtype;
	uint32_t rank;
	uint64_t dim[8u];
} pctl_tensor_type;

typedef struct pctl_port {
	const char *name;
	const char *type;
	const char *doc;
	uint32_t flags;
	uint32_t reserved;
} pctl_port;

typedef struct pctl_attr_desc {
	const char *name;
	const char *default_text;
	const char *doc;
	uint32_t kind;
	uint32_t reserved;
	uint64_t min, max;
} pctl_attr_desc;

typedef struct pctl_op_desc {
	pctl_head head;
	const char *name;
	const char *doc;
	const char *spec;
	uint32_t version;
	uint32_t kind;
	uint32_t category;
	uint32_t op_class;
	uint32_t convention;
	uint32_t n_in, n_out, n_attr;
	const pctl_port *in;
	const pctl_port *out;
	const pctl_attr_desc *attr;
	const char *hardware;
} pctl_op_desc;

typedef struct pctl_attr {
	const char *name;
	const char *text;
	uint64_t u64;
} pctl_attr;

typedef struct pctl_op_query {
	pctl_head head;
	uint32_t op;
	uint32_t n_in;
	const pctl_tensor_type *in;
	const pctl_attr *attr;
	uint32_t n_attr;
	uint32_t n_measured;
	const pctl_attr *measured;
} pctl_op_query;

typedef struct pctl_op_result {
	pctl_head head;
	const char *measure;
	pctl_tensor_type out[16u];
} pctl_op_result;

typedef struct pctl_plan_binding {
	uint32_t group, binding;
	uint32_t buffer;
	uint32_t reserved;
	uint64_t offset;
	uint64_t n_bytes;
} pctl_plan_binding;

typedef struct pctl_plan_override {
	const char *name;
	uint64_t value;
} pctl_plan_override;

typedef struct pctl_plan_kernel {
	pctl_head head;
	const char *name;
	const char *wgsl;
	const char *entry;
	const pctl_plan_override *overrides;
	const pctl_plan_binding *bindings;
	uint32_t n_overrides, n_bindings;
	uint32_t groups[3];
	uint32_t reserved;
} pctl_plan_kernel;

typedef struct pctl_plan_assert {
	pctl_head head;
	uint32_t buffer;
	uint32_t bytes;
	uint64_t offset;
	uint64_t expected;
	const char *message;
} pctl_plan_assert;

typedef struct pctl_plan_sink {
	pctl_head head;
	void *ctx;
	pctl_status (*temp)(void *ctx, uint64_t n_bytes, uint32_t *buffer);
	pctl_status (*params)(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer);
	pctl_status (*kernel)(void *ctx, const pctl_plan_kernel *k);
	pctl_status (*fill)(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			    uint32_t word);
	pctl_status (*copy)(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			    uint64_t to_offset, uint64_t n_bytes);
	pctl_status (*op)(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			  const pctl_tensor_type *types, uint32_t n_buffers, const pctl_attr *attr,
			  uint32_t n_attr);
	pctl_status (*assert_equal)(void *ctx, const pctl_plan_assert *a);
	pctl_status (*measure)(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
			       uint64_t add);
} pctl_plan_sink;

typedef struct pctl_plan_caps {
	pctl_head head;
	uint64_t max_binding_bytes;
	uint64_t max_groups[3];
	uint32_t max_invocations;
	uint32_t max_workgroup_bytes;
	uint32_t device_kind;
	uint32_t reserved;
} pctl_plan_caps;

typedef struct pctl_law {
	uint32_t law;
	uint32_t reserved;
	uint64_t a, b;
	const char *other;
	const char *dual;
	const char *custom;
} pctl_law;

typedef struct pctl_example {
	const char *name;
	uint64_t in[4];
} pctl_example;

typedef struct pctl_op_rules {
	pctl_head head;
	const pctl_law *laws;
	const pctl_example *classes;
	const pctl_example *boundaries;
	const char *const *alternates;
	uint32_t n_laws, n_classes, n_boundaries, n_alternates;
} pctl_op_rules;

typedef struct pctl_span {
	void *data;
	uint64_t n_bytes;
} pctl_span;

typedef struct pctl_oplib {
	pctl_head head;
	uint32_t (*op_count)(pctl_instance *inst);
	const pctl_op_desc *(*op_at)(pctl_instance *inst, uint32_t i);
	pctl_status (*infer)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     pctl_op_result *out);
	pctl_status (*plan)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			    const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink);
	const char *(*function)(pctl_instance *inst, uint32_t op, uint32_t dtype);
	pctl_status (*reference)(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 const pctl_span *in, pctl_span *out);
	const pctl_op_rules *(*rules)(pctl_instance *inst, uint32_t op);
} pctl_oplib;

#endif
