/* The smallest valid backend: one device that keeps buffers, moves bytes between them, and refuses
 * every program with a reason. Copy this folder to start a backend of your own; README.md says
 * where to begin. */
#ifndef PCTL_NULL_H
#define PCTL_NULL_H

#include "pipectl/backend.h"

#define PCTL_NULL_MAX_BYTES (1ull << 32)
#define PCTL_NULL_TIMESTAMPS 64u

struct pctl_instance {
	const pctl_host *host; /* valid until close; its services are not needed here */
};

/* Everything hangs on the device and nothing on the process: two devices never meet. */
struct pctl_device {
	pctl_instance *inst;
	uint64_t last_ticket;
	pctl_completion completion; /* of the last ticket: submit runs at once, so one is enough */
	uint32_t handed_out;
	uint32_t reserved;
};

/* refs: one for the owner and one for each recorded command, so that a list never holds a dead
 * buffer. */
struct pctl_buffer {
	pctl_device *dev;
	uint8_t *data;
	uint64_t n_bytes;
	uint32_t usage;
	uint32_t refs;
};

pctl_status pctl_null_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out);
void pctl_null_buffer_destroy(pctl_device *dev, pctl_buffer *buf);
void pctl_null_buffer_release(pctl_buffer *buf);
pctl_status pctl_null_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, const void *data, uint64_t n_bytes);
pctl_status pctl_null_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, void *data, uint64_t n_bytes);
/* The range lies inside the buffer and the buffer was created for the use. */
pctl_status pctl_null_buffer_range(const pctl_device *dev, const pctl_call *call,
				   const pctl_buffer *buf, uint64_t offset, uint64_t n_bytes,
				   uint32_t usage, const char *what);

pctl_status pctl_null_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
pctl_status pctl_null_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				    const pctl_binding *bindings, uint32_t n_bindings,
				    const uint32_t groups[3]);
pctl_status pctl_null_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					     const pctl_binding *bindings, uint32_t n_bindings,
					     pctl_buffer *buf, uint64_t offset,
					     const uint32_t limit[3]);
pctl_status pctl_null_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				uint64_t n_bytes);
pctl_status pctl_null_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t word);
pctl_status pctl_null_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status pctl_null_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status pctl_null_list_end(pctl_list *l, const pctl_call *call);
void pctl_null_list_destroy(pctl_device *dev, pctl_list *l);
pctl_status pctl_null_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			     uint64_t *ticket);
pctl_status pctl_null_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			   uint64_t timeout_ns, pctl_completion *out);
void pctl_null_cancel(pctl_device *dev, uint64_t ticket);

#endif
