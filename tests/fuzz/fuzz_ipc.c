/* Both sides of the worker protocol, by rows of its table (protocol.def). The first byte is the mode, the second a number:
 *
 * 0  a session: frames (op, length in two bytes, payload) for a worker over a well-behaved backend in memory
 * 1  one request of that number for such a worker, which has objects of every kind (an op library where the row is of one)
 * 2  one reply of that number for the host: to the slot of its table, and as its shape
 * 3  a recording, which is put into the host's sink: of a plan (1), a law (2) or a problem (3)
 * 4  what a probe tells
 * 5  bytes in place of a frame for the host
 *
 * tests/unit/test_ipc_protocol.c makes a seed of every row. */
#include <sys/socket.h>

#include "../fakes/memory.h"
#include "runtime/ipc/recording.h"
#include "runtime/ipc/remote_private.h"
#include "runtime/ipc/serve.h"
#include "runtime/ipc/window.h"

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

/* ---- an op library that reads all it is asked --------------------------------------------------- */

static size_t ops_sum;

static void read_query(const pctl_op_query *q)
{
	for (uint32_t i = 0; i < q->n_in; i++)
		ops_sum += q->in[i].dtype + (q->in[i].rank ? q->in[i].dim[q->in[i].rank - 1] : 0);
	for (uint32_t i = 0; i < q->n_attr; i++)
		ops_sum +=
			strlen(q->attr[i].name) + (q->attr[i].text ? strlen(q->attr[i].text) : 0);
	for (uint32_t i = 0; i < q->n_measured; i++)
		ops_sum += strlen(q->measured[i].name);
}

static uint32_t ops_count(pctl_instance *inst)
{
	(void)inst;
	return 0;
}

static const pctl_op_desc *ops_at(pctl_instance *inst, uint32_t i)
{
	static const pctl_op_desc d = {.head = PCTL_HEAD(pctl_op_desc), .n_out = 1};

	(void)inst;
	(void)i;
	return &d;
}

static pctl_status ops_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     pctl_op_result *out)
{
	(void)inst;
	(void)call;
	(void)out;
	read_query(q);
	return PCTL_OK;
}

static pctl_status ops_plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			    const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	uint32_t number;

	(void)inst;
	(void)call;
	read_query(q);
	ops_sum += caps->max_turns + flags;
	return sink->temp(sink->ctx, caps->max_turns, &number);
}

static pctl_status ops_reference(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 const pctl_span *in, pctl_span *out)
{
	(void)inst;
	(void)call;
	read_query(q);
	for (uint32_t i = 0; i < q->n_in; i++)
		for (uint64_t k = 0; k < in[i].n_bytes; k++)
			ops_sum += ((const uint8_t *)in[i].data)[k];
	(void)out;
	return PCTL_OK;
}

static pctl_status ops_problem(pctl_instance *inst, const pctl_call *call, uint32_t op,
			       uint32_t dtype, uint64_t number, uint64_t seed,
			       const pctl_problem_sink *sink)
{
	(void)inst;
	(void)call;
	ops_sum += op + dtype + seed;
	return sink->measured(sink->ctx, number);
}

static pctl_status ops_law(pctl_instance *inst, const pctl_call *call, const pctl_law_case *c,
			   const pctl_law_sink *sink)
{
	(void)inst;
	(void)call;
	read_query(c->op);
	for (uint32_t i = 0; i < c->n_tensors; i++)
		if (c->tensors[i].n_bytes)
			ops_sum += ((const uint8_t *)c->tensors[i].data)[c->tensors[i].n_bytes - 1];
	return sink->judged(sink->ctx, c->round, "found", "wanted");
}

static const pctl_oplib ops_table = {.head = PCTL_HEAD(pctl_oplib),
				     .op_count = ops_count,
				     .op_at = ops_at,
				     .infer = ops_infer,
				     .plan = ops_plan,
				     .reference = ops_reference,
				     .problem = ops_problem,
				     .law = ops_law};

/* ---- the worker --------------------------------------------------------------------------------- */

typedef struct fed_worker {
	pctl_ipc_server *s;
	pctl_ipc_channel ch;
	uint32_t seq;
} fed_worker;

static void give_memory(fed_worker *w)
{
	pctl_ipc_window window;

	if (!pctl_ipc_window_create(4096, &window))
		return;
	w->ch.in_fds[w->ch.n_in_fds++] = window.fd;
	window.fd = -1;
	pctl_ipc_window_close(&window);
}

static int feed(fed_worker *w, uint16_t op, const uint8_t *payload, size_t n)
{
	const pctl_ipc_frame f = {{(uint32_t)n, op, 0, ++w->seq, 0}, payload};
	const int rc = pctl_ipc_server_handle(w->s, &f, &w->ch);

	w->ch.out.n = 0;
	return rc == 1;
}

/* A request of words, all of which are u32. */
static void feed_words(fed_worker *w, uint16_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
		       uint32_t e, uint32_t n)
{
	const uint32_t words[5] = {a, b, c, d, e};

	if (!feed(w, op, (const uint8_t *)words, n * sizeof(uint32_t)))
		abort();
}

/* Sizes a backend would be asked for are cut, so that memory is not what is tested. */
static int is_too_large(uint16_t op, const uint8_t *payload, size_t n)
{
	uint64_t bytes;

	if (op != PCTL_IPC_BUFFER_CREATE || n < 16)
		return 0;
	memcpy(&bytes, payload + 8, 8);
	return bytes > 1u << 20;
}

/* A worker that was greeted, with a device 11, a buffer 12, a kernel 13 and a list 14: the numbers of the seeds. */
static void feed_worker(int is_ops, uint8_t number, int is_session, const uint8_t *data, size_t n)
{
	const uint64_t hello[2] = {PCTL_IPC_VERSION, pctl_ipc_table_hash()};
	pctl_backend table = {FAKE_TABLE};
	fed_worker w = {pctl_ipc_server_create(), {0}, 0};
	struct pctl_instance inst = {NULL};
	uint8_t greeting[12];

	pctl_ipc_channel_init(&w.ch, -1);
	table.submit = submit_nothing;
	if (is_ops)
		pctl_ipc_server_set_ops(w.s, PCTL_OK, &ops_table, &inst);
	else
		pctl_ipc_server_set(w.s, PCTL_OK, &table, &inst);
	give_memory(&w);
	memcpy(greeting, &hello[0], 4);
	memcpy(greeting + 4, &hello[1], 8);
	if (number != PCTL_IPC_HELLO && !feed(&w, PCTL_IPC_HELLO, greeting, sizeof(greeting)))
		abort();
	if (!is_ops && number != PCTL_IPC_HELLO) {
		feed_words(&w, PCTL_IPC_DEVICE_OPEN, 11, 0, 0, 0, 0, 2);
		feed_words(&w, PCTL_IPC_BUFFER_CREATE, 11, 12, 64, 0, PCTL_BUFFER_TRANSFER, 5);
		feed(&w, PCTL_IPC_KERNEL_BUILD,
		     (const uint8_t *)(const uint32_t[]){11, 13, 0, 0, 0, 0, 0}, 28);
		feed_words(&w, PCTL_IPC_LIST_BEGIN, 11, 14, 0, 0, 0, 2);
	}
	give_memory(&w);
	if (!is_session && !is_too_large(number, data, n))
		feed(&w, number, data, n);
	while (is_session && n >= 3) {
		const uint16_t op = data[0];
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;

		if (len > n - 3)
			len = n - 3;
		if (is_too_large(op, data + 3, len) || !feed(&w, op, data + 3, len))
			break;
		data += 3 + len;
		n -= 3 + len;
	}
	pctl_ipc_server_destroy(w.s);
	pctl_ipc_channel_close(&w.ch);
}

/* ---- the host ----------------------------------------------------------------------------------- */

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
	uint8_t bytes[64] = {0};
	char language[PCTL_NAME_MAX];
	pctl_device *opened;
	pctl_buffer *made;
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
	case PCTL_IPC_KERNEL_SOURCE:
		r->table.kernel_source(d, NULL, bytes, 0, 64, (char *)bytes, &n64, language);
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
	case PCTL_IPC_DEVICE_OPEN:
		if (r->table.device_open((pctl_instance *)(void *)r, NULL, 0, &opened) == PCTL_OK)
			free(opened);
		break;
	case PCTL_IPC_BUFFER_CREATE:
		if (r->table.buffer_create(d, NULL, 1, 0, &made) == PCTL_OK)
			free(made);
		break;
	default:
		r->table.counts(d, NULL, &counts);
		break;
	}
}

/* Everything that was unpacked is read to its end. */
static size_t read_all(const pctl_ipc_shape *s, const uint8_t *value)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < s->n_fields; i++) {
		const pctl_ipc_field *f = &s->fields[i];
		const uint8_t *at = value + f->at, *items;
		const char *text;
		pctl_ipc_bytes b;
		uint32_t n, k;

		switch (f->kind) {
		case PCTL_IPC_KIND_TEXT:
			memcpy(&text, at, sizeof(text));
			sum += text ? strlen(text) : 0;
			break;
		case PCTL_IPC_KIND_TEXTS:
			for (k = 0; k < f->of; k++) {
				memcpy(&text, at + k * sizeof(text), sizeof(text));
				sum += text ? strlen(text) : 0;
			}
			break;
		case PCTL_IPC_KIND_CHARS:
			sum += strlen((const char *)at);
			break;
		case PCTL_IPC_KIND_BYTES:
			memcpy(&b, at, sizeof(b));
			for (uint64_t j = 0; j < b.n; j++)
				sum += ((const uint8_t *)b.data)[j];
			break;
		case PCTL_IPC_KIND_NEST:
			sum += read_all(pctl_ipc_shape_of(f->of), at);
			break;
		case PCTL_IPC_KIND_LIST:
			memcpy(&items, at, sizeof(items));
			memcpy(&n, value + f->n_at, sizeof(n));
			for (k = 0; k < n; k++)
				sum += read_all(pctl_ipc_shape_of(f->of),
						items + (size_t)k * pctl_ipc_shape_of(f->of)->size);
			break;
		case PCTL_IPC_KIND_TEXT_LIST:
			memcpy(&items, at, sizeof(items));
			memcpy(&n, value + f->n_at, sizeof(n));
			for (k = 0; k < n; k++) {
				memcpy(&text, items + k * sizeof(text), sizeof(text));
				sum += strlen(text);
			}
			break;
		default:
			break;
		}
	}
	return sum;
}

/* The reply to a request of that row, whatever was asked. */
static void ask_row(pctl_remote *r, uint8_t number)
{
	static max_align_t nothing[1024], reply[1024];
	const pctl_ipc_message *m = pctl_ipc_message_of(number);

	if (m && m->how == PCTL_IPC_IS_ASKED && pctl_remote_begin(r, number, nothing, NULL) &&
	    pctl_remote_ask(r, NULL, r->call_ms, reply) == PCTL_OK)
		ops_sum += read_all(pctl_ipc_shape_of(m->reply), (const uint8_t *)reply);
}

static void feed_host(uint8_t number, int whole, int by_slot, const uint8_t *data, size_t n)
{
	pctl_ipc_header h = {(uint32_t)n, number, 0, 1, 0};
	pctl_remote r = {.control_fd = -1, .call_ms = 1000, .grace_ms = 1};
	int pair[2];

	if (n > 60000 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
		return;
	pctl_ipc_channel_init(&r.ch, pair[0]);
	r.arena = pctl_arena_create();
	r.process.stderr_fd = -1;
	r.window.fd = -1;
	pthread_mutex_init(&r.lock, NULL);
	pctl_remote_fill_table(&r.table, PCTL_IPC_HAS_CACHE | PCTL_IPC_HAS_FINDINGS |
						 PCTL_IPC_HAS_COUNTS | PCTL_IPC_HAS_SOURCE);
	/* Either a well-formed frame around the bytes, or the bytes alone. */
	if (whole && write(pair[1], &h, sizeof(h)) != (ssize_t)sizeof(h))
		abort();
	if (n && write(pair[1], data, n) != (ssize_t)n)
		abort();
	shutdown(pair[1], SHUT_WR);
	if (by_slot)
		call_slot(&r, number);
	else
		ask_row(&r, number);
	close(pair[1]);
	pctl_ipc_channel_close(&r.ch);
	pctl_arena_destroy(r.arena);
	pthread_mutex_destroy(&r.lock);
	free(r.free_ids);
}

static void feed_told(uint8_t number, const uint8_t *data, size_t n)
{
	const pctl_ipc_message *m = pctl_ipc_message_of(number);
	pctl_arena *a = pctl_arena_create();
	const pctl_ipc_scope scope = {a, NULL, NULL};
	static max_align_t value[1024];
	pctl_ipc_in in = {data, n, 0, 0};

	if (a && m && m->how == PCTL_IPC_IS_TOLD && pctl_ipc_unpack_all(&in, m->ask, &scope, value))
		ops_sum += read_all(pctl_ipc_shape_of(m->ask), (const uint8_t *)value);
	pctl_arena_destroy(a);
}

/* ---- recordings --------------------------------------------------------------------------------- */

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

#include "plan_sink.h"

static pctl_status read_tensor(void *ctx, const pctl_tensor_type *t, const void *data, uint64_t n,
			       uint32_t *number)
{
	*(size_t *)ctx += t->rank ? t->dim[t->rank - 1] : 0;
	return read_params(ctx, data, n, number);
}

static pctl_status read_use(void *ctx, const char *op, uint32_t version, const uint32_t *inputs,
			    uint32_t n_in, const pctl_attr *attr, uint32_t n_attr, uint32_t n_out,
			    uint32_t *first)
{
	size_t *sum = ctx;

	*sum += strlen(op) + version + n_out;
	for (uint32_t i = 0; i < n_in; i++)
		*sum += inputs[i];
	for (uint32_t i = 0; i < n_attr; i++)
		*sum += strlen(attr[i].name) + strlen(attr[i].text);
	*first = 2;
	return PCTL_OK;
}

static pctl_status read_equal(void *ctx, uint32_t got, uint32_t want)
{
	*(size_t *)ctx += got + want;
	return PCTL_OK;
}

static pctl_status read_judged(void *ctx, uint32_t holds, const char *got, const char *want)
{
	*(size_t *)ctx += holds + (got ? strlen(got) : 0) + (want ? strlen(want) : 0);
	return PCTL_OK;
}

static pctl_status read_mark(void *ctx)
{
	*(size_t *)ctx += 1;
	return PCTL_OK;
}

static pctl_status read_input(void *ctx, uint32_t port, const pctl_tensor_type *t, const void *data,
			      uint64_t n)
{
	uint32_t number;

	*(size_t *)ctx += port;
	return read_tensor(ctx, t, data, n, &number);
}

static pctl_status read_text(void *ctx, uint32_t i, const char *text)
{
	*(size_t *)ctx += i + strlen(text);
	return PCTL_OK;
}

static pctl_status read_value(void *ctx, uint64_t value)
{
	*(size_t *)ctx += value;
	return PCTL_OK;
}

static void feed_recording(uint8_t whose, const uint8_t *data, size_t n)
{
	const pctl_plan_sink plan = {PCTL_HEAD(pctl_plan_sink),
				     &ops_sum,
				     give_number,
				     read_params,
				     read_kernel,
				     read_fill,
				     read_copy,
				     read_op,
				     read_assert,
				     read_measure,
				     read_repeat,
				     read_repeat_end,
				     read_constant};
	const pctl_law_sink law = {PCTL_HEAD(pctl_law_sink),
				   &ops_sum,
				   read_tensor,
				   read_use,
				   read_equal,
				   read_judged,
				   read_mark};
	const pctl_problem_sink problem = {PCTL_HEAD(pctl_problem_sink),
					   &ops_sum,
					   read_input,
					   read_text,
					   read_value,
					   read_mark};
	pctl_status status;

	(void)(whose == PCTL_IPC_IN_PLAN  ? pctl_ops_replay_plan(data, n, &plan, 2, &status)
	       : whose == PCTL_IPC_IN_LAW ? pctl_ops_replay_law(data, n, &law, 2, &status)
					  : pctl_ops_replay_problem(data, n, &problem, &status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const pctl_ipc_message *m;

	if (n < 2)
		return 0;
	m = pctl_ipc_message_of(data[1]);
	switch (data[0] % 6) {
	case 0:
		feed_worker(data[1] & 1, 0, 1, data + 2, n - 2);
		break;
	case 1:
		feed_worker(m && m->whose == PCTL_IPC_OF_OPS, data[1], 0, data + 2, n - 2);
		break;
	case 2:
		feed_host(data[1], 1, 0, data + 2, n - 2);
		feed_host(data[1], 1, 1, data + 2, n - 2);
		break;
	case 3:
		feed_recording(data[1], data + 2, n - 2);
		break;
	case 4:
		feed_told(data[1], data + 2, n - 2);
		break;
	default:
		feed_host(data[1], 0, 1, data + 2, n - 2);
		break;
	}
	return 0;
}
