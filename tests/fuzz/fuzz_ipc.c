/* Both decoders of the worker protocol. The first byte chooses the side: the worker's, fed with
 * frames by a hostile host over a well-behaved backend in memory, or the host's, fed with replies
 * of a hostile worker, or with what a hostile op library says of itself and plans. */
#include <sys/socket.h>

#include "../fakes/memory.h"
#include "runtime/ipc/ops_wire.h"
#include "runtime/ipc/remote_private.h"
#include "runtime/ipc/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A submit that runs nothing: what a list may hold is the backend's to check, and this one trusts.
 */
static pctl_status submit_nothing(pctl_device *dev, const pctl_call *call, pctl_list *l,
				  uint32_t times, uint64_t *ticket)
{
	(void)call;
	(void)l;
	(void)times;
	*ticket = dev->done_ticket = dev->next_ticket++;
	return PCTL_OK;
}

/* Input: op, length (2 bytes), payload, and again. Sizes a backend would be asked for are cut, so
 * that memory is not what is tested. */
static void feed_worker(const uint8_t *data, size_t n)
{
	pctl_backend table = {FAKE_TABLE};
	pctl_ipc_server *s = pctl_ipc_server_create();
	struct pctl_instance inst = {NULL};
	pctl_ipc_channel ch;
	pctl_ipc_window w;
	uint32_t seq = 0;

	pctl_ipc_channel_init(&ch, -1);
	table.submit = submit_nothing;
	pctl_ipc_server_set(s, PCTL_OK, &table, &inst);
	if (pctl_ipc_window_create(4096, &w)) {
		ch.in_fds[ch.n_in_fds++] = w.fd;
		w.fd = -1;
		pctl_ipc_window_close(&w);
	}
	while (n >= 3) {
		const uint16_t op = data[0];
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;
		pctl_ipc_frame f = {{0, op, 0, ++seq, 0}, data + 3};

		if (len > n - 3)
			len = n - 3;
		f.header.n_bytes = (uint32_t)len;
		if (op == PCTL_IPC_BUFFER_CREATE && len >= 16) {
			uint64_t bytes;

			memcpy(&bytes, f.payload + 8, 8);
			if (bytes > 1u << 20)
				break;
		}
		if (pctl_ipc_server_handle(s, &f, &ch) != 1)
			break;
		ch.out.n = 0;
		data += 3 + len;
		n -= 3 + len;
	}
	pctl_ipc_server_destroy(s);
	pctl_ipc_channel_close(&ch);
}

/* One slot of the host's table against one reply. */
static void call_slot(pctl_remote *r, uint8_t slot)
{
	remote_object dev = {.r = r, .id = 1, .device = 1}, other = {.r = r, .id = 2, .device = 1};
	pctl_device *d = (pctl_device *)(void *)&dev;
	pctl_device_info infos[3];
	pctl_key_value kv[3];
	pctl_device_caps caps;
	pctl_support sup;
	pctl_completion done;
	static pctl_counts counts;
	pctl_finding findings[3];
	uint8_t bytes[64];
	uint64_t n64;
	uint32_t n32;

	switch (slot) {
	case PCTL_IPC_DEVICES:
		r->table.devices((pctl_instance *)(void *)r, NULL, 3, infos, &n32);
		break;
	case PCTL_IPC_IDENTITY:
		r->table.device_identity(d, NULL, 3, kv, &n32);
		break;
	case PCTL_IPC_CAPS:
		r->table.device_caps(d, NULL, &caps);
		break;
	case PCTL_IPC_SUPPORTS:
		r->table.supports(d, NULL, bytes, 0, &sup);
		break;
	case PCTL_IPC_READ:
		r->table.buffer_read(d, NULL, (pctl_buffer *)(void *)&other, 0, bytes,
				     sizeof(bytes));
		break;
	case PCTL_IPC_KERNEL_CACHE:
		r->table.kernel_cache(d, NULL, (pctl_kernel *)(void *)&other, sizeof(bytes), bytes,
				      &n64);
		break;
	case PCTL_IPC_LIST_END:
		r->table.list_end((pctl_list *)(void *)&other, NULL);
		break;
	case PCTL_IPC_WAIT:
		r->table.wait(d, NULL, 1, 0, &done);
		break;
	case PCTL_IPC_FINDINGS:
		r->table.findings(d, NULL, 3, findings, &n32);
		break;
	default:
		r->table.counts(d, NULL, &counts);
		break;
	}
}

static void feed_host(uint8_t slot, int whole, const uint8_t *data, size_t n)
{
	pctl_ipc_header h = {(uint32_t)n, slot, 0, 1, 0};
	pctl_remote r = {.control_fd = -1, .call_ms = 1000, .grace_ms = 1};
	int pair[2];

	if (n > 60000 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
		return;
	pctl_ipc_channel_init(&r.ch, pair[0]);
	r.process.stderr_fd = -1;
	r.window.fd = -1;
	pthread_mutex_init(&r.lock, NULL);
	pctl_remote_fill_table(&r.table, 7);
	/* Either a well-formed frame around the bytes, or the bytes alone. */
	if (whole && write(pair[1], &h, sizeof(h)) != (ssize_t)sizeof(h))
		abort();
	if (n && write(pair[1], data, n) != (ssize_t)n)
		abort();
	shutdown(pair[1], SHUT_WR);
	call_slot(&r, slot);
	close(pair[1]);
	pctl_ipc_channel_close(&r.ch);
	pthread_mutex_destroy(&r.lock);
	free(r.free_ids);
}

/* Everything that is handed over is read to its end. */
static pctl_status read_kernel(void *ctx, const pctl_plan_kernel *k)
{
	size_t *sum = ctx;
	uint32_t i;

	*sum += (k->name ? strlen(k->name) : 0) + (k->wgsl ? strlen(k->wgsl) : 0);
	for (i = 0; i < k->n_overrides; i++)
		*sum += strlen(k->overrides[i].name);
	for (i = 0; i < k->n_bindings; i++)
		*sum += k->bindings[i].buffer;
	return PCTL_OK;
}

static pctl_status give_number(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	(void)ctx;
	*buffer = (uint32_t)n_bytes;
	return PCTL_OK;
}

static pctl_status read_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	size_t *sum = ctx;
	uint64_t i;

	for (i = 0; i < n_bytes; i++)
		*sum += ((const uint8_t *)bytes)[i];
	*buffer = 2;
	return PCTL_OK;
}

static pctl_status read_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n, uint32_t word)
{
	*(size_t *)ctx += buffer + offset + n + word;
	return PCTL_OK;
}

static pctl_status read_copy(void *ctx, uint32_t from, uint64_t a, uint32_t to, uint64_t b,
			     uint64_t n)
{
	*(size_t *)ctx += from + a + to + b + n;
	return PCTL_OK;
}

static pctl_status read_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			   const pctl_tensor_type *types, uint32_t n, const pctl_attr *attr,
			   uint32_t n_attr)
{
	size_t *sum = ctx;
	uint32_t i;

	*sum += version + (name ? strlen(name) : 0);
	for (i = 0; i < n; i++)
		*sum += buffers[i] + types[i].dim[types[i].rank ? types[i].rank - 1 : 0];
	for (i = 0; i < n_attr; i++)
		*sum += strlen(attr[i].name) + strlen(attr[i].text);
	return PCTL_OK;
}

static pctl_status read_assert(void *ctx, const pctl_plan_assert *a)
{
	*(size_t *)ctx += a->message ? strlen(a->message) : 0;
	return PCTL_OK;
}

static pctl_status read_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				uint64_t add)
{
	*(size_t *)ctx += buffer + offset + bytes + add;
	return PCTL_OK;
}

static void feed_ops(const uint8_t *data, size_t n)
{
	size_t sum = 0;
	const pctl_plan_sink sink = {PCTL_HEAD(pctl_plan_sink),
				     &sum,
				     give_number,
				     read_params,
				     read_kernel,
				     read_fill,
				     read_copy,
				     read_op,
				     read_assert,
				     read_measure};
	pctl_ipc_in described = {data, n, 0, 0}, planned = {data, n, 0, 0};
	pctl_arena *a = pctl_arena_create();
	pctl_ops_described d;
	pctl_status status;

	if (a && pctl_ops_get_described(&described, a, &d))
		sum += strlen(d.desc.name) + strlen(d.desc.doc);
	pctl_ops_replay(&planned, &sink, 2, &status);
	pctl_arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < 2)
		return 0;
	if ((data[0] & 12) == 12) {
		feed_ops(data + 1, n - 1);
		return 0;
	}
	if (data[0] & 1) {
		feed_worker(data + 1, n - 1);
		return 0;
	}
	/* Only slots that reply; the last one stands for all others. */
	feed_host(data[1] % PCTL_IPC_END, !(data[0] & 2), data + 2, n - 2);
	return 0;
}
