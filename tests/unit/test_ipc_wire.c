/* Payloads and frames: what is put is got, and whatever is cut, too long or left over is noticed.
 */
#include "main.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/ipc/protocol.h"

static void wire__what_is_put_is_got(void **state)
{
	pctl_ipc_out o = {0};
	pctl_ipc_in in = {0};
	const uint8_t *blob;
	size_t n;

	(void)state;
	pctl_ipc_put_u32(&o, 7);
	pctl_ipc_put_string(&o, "text");
	pctl_ipc_put_string(&o, NULL);
	pctl_ipc_put_string(&o, "");
	pctl_ipc_put_blob(&o, "abc", 3);
	pctl_ipc_put_u64(&o, UINT64_MAX);
	assert_false(o.failed);
	in.data = o.data;
	in.n = o.n;
	assert_int_equal(pctl_ipc_get_u32(&in), 7);
	assert_string_equal(pctl_ipc_get_string(&in), "text");
	assert_null(pctl_ipc_get_string(&in));
	assert_string_equal(pctl_ipc_get_string(&in), "");
	blob = pctl_ipc_get_blob(&in, &n);
	assert_int_equal(n, 3);
	assert_memory_equal(blob, "abc", 3);
	assert_false(pctl_ipc_in_done(&in));
	assert_true(pctl_ipc_get_u64(&in) == UINT64_MAX);
	assert_true(pctl_ipc_in_done(&in));
	assert_int_equal(pctl_ipc_get_u32(&in), 0);
	assert_false(pctl_ipc_in_done(&in));
	pctl_ipc_out_drop(&o);
}

static void wire__every_cut_is_noticed(void **state)
{
	pctl_ipc_out o = {0};
	size_t cut;

	(void)state;
	pctl_ipc_put_string(&o, "text");
	pctl_ipc_put_blob(&o, "abc", 3);
	pctl_ipc_put_u64(&o, 1);
	for (cut = 0; cut < o.n; cut++) {
		pctl_ipc_in in = {o.data, cut, 0, 0};
		size_t n;

		pctl_ipc_get_string(&in);
		pctl_ipc_get_blob(&in, &n);
		pctl_ipc_get_u64(&in);
		assert_true(in.failed);
	}
	pctl_ipc_out_drop(&o);
}

static void wire__strings_end_where_they_say(void **state)
{
	const uint8_t inner[] = {3, 0, 0, 0, 'a', 0, 0}; /* a NUL before the last */
	const uint8_t open[] = {2, 0, 0, 0, 'a', 'b'};	 /* no NUL */
	const uint8_t huge[] = {255, 255, 255, 255, 'a', 0};
	pctl_ipc_in in = {inner, sizeof(inner), 0, 0};

	(void)state;
	assert_null(pctl_ipc_get_string(&in));
	assert_true(in.failed);
	in = (pctl_ipc_in){open, sizeof(open), 0, 0};
	assert_null(pctl_ipc_get_string(&in));
	assert_true(in.failed);
	in = (pctl_ipc_in){huge, sizeof(huge), 0, 0};
	assert_null(pctl_ipc_get_string(&in));
	assert_true(in.failed);
}

static void wire__structures_are_checked(void **state)
{
	pctl_device_info info = {.head = PCTL_HEAD(pctl_device_info)}, out;
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion), .n_timestamps = 64}, d;
	pctl_ipc_in in = {(const uint8_t *)&info, sizeof(info), 0, 0};

	(void)state;
	assert_true(pctl_ipc_get_device_info(&in, &out));
	memset(info.name, 'x', sizeof(info.name));
	in = (pctl_ipc_in){(const uint8_t *)&info, sizeof(info), 0, 0};
	assert_false(pctl_ipc_get_device_info(&in, &out));
	info.name[9] = 0;
	info.kind = 99;
	in = (pctl_ipc_in){(const uint8_t *)&info, sizeof(info), 0, 0};
	assert_false(pctl_ipc_get_device_info(&in, &out));
	in = (pctl_ipc_in){(const uint8_t *)&done, sizeof(done), 0, 0};
	assert_true(pctl_ipc_get_completion(&in, &d));
	done.n_timestamps = 65;
	in = (pctl_ipc_in){(const uint8_t *)&done, sizeof(done), 0, 0};
	assert_false(pctl_ipc_get_completion(&in, &d));
}

static void wire__a_diagnostic_arrives_whole(void **state)
{
	const pctl_note notes[] = {{{"a.cfg", 4, 5, 6, 0}, "declared here"},
				   {{NULL, 0, 0, 0, 0}, "by someone"}};
	const pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
			     .code = PC3102_WORKER_START,
			     .severity = PCTL_SEVERITY_ERROR,
			     .pos = {"k.wgsl", 1, 2, 3, 0},
			     .subject = "job",
			     .message = "what happened",
			     .hint = "what to do",
			     .notes = notes,
			     .n_notes = 2};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_ipc_out o = {0};
	pctl_ipc_in in = {0};
	const pctl_diag *got;
	size_t cut;

	(void)state;
	pctl_ipc_put_diag(&o, &d);
	in.data = o.data;
	in.n = o.n;
	assert_true(pctl_ipc_get_diag(&in, "plug", pctl_diag_list_call(l)));
	assert_int_equal(pctl_diag_list_count(l), 1);
	got = pctl_diag_list_at(l, 0);
	assert_int_equal(got->code, d.code);
	assert_string_equal(got->pos.file, "k.wgsl");
	assert_int_equal(got->pos.end_column, 3);
	assert_string_equal(got->subject, "job");
	assert_string_equal(got->message, "what happened");
	assert_string_equal(got->hint, "what to do");
	assert_string_equal(got->plugin, "plug");
	assert_int_equal(got->n_notes, 2);
	assert_int_equal(got->notes[0].pos.line, 4);
	assert_null(got->notes[1].pos.file);
	for (cut = 0; cut < o.n; cut++) {
		in = (pctl_ipc_in){o.data, cut, 0, 0};
		assert_false(pctl_ipc_get_diag(&in, "plug", pctl_diag_list_call(l)));
	}
	assert_int_equal(pctl_diag_list_count(l), 1);
	pctl_ipc_out_drop(&o);
	pctl_diag_list_destroy(l);
}

static void channel__frames_come_in_any_pieces(void **state)
{
	pctl_ipc_channel from, to;
	pctl_ipc_frame f;
	size_t i, frames = 0;

	(void)state;
	pctl_ipc_channel_init(&from, -1);
	pctl_ipc_channel_init(&to, -1);
	for (i = 0; i < 3; i++) {
		pctl_ipc_frame_begin(&from, (uint16_t)(i + 1), (uint32_t)i);
		pctl_ipc_put(&from.out, "payload", i * 3);
		assert_true(pctl_ipc_frame_end(&from));
	}
	for (i = 0; i < from.out.n; i++) {
		assert_true(pctl_ipc_feed(&to, from.out.data + i, 1));
		while (pctl_ipc_next(&to, &f) == 1) {
			assert_int_equal(f.header.op, frames + 1);
			assert_int_equal(f.header.n_bytes, frames * 3);
			assert_memory_equal(f.payload, "payload", frames * 3);
			frames++;
		}
	}
	assert_int_equal(frames, 3);
	pctl_ipc_channel_close(&from);
	pctl_ipc_channel_close(&to);
}

static void channel__nonsense_is_no_frame(void **state)
{
	const pctl_ipc_header large = {PCTL_IPC_FRAME_MAX + 1, 1, 0, 0, 0};
	const pctl_ipc_header reserved = {0, 1, 1, 0, 0};
	pctl_ipc_channel ch;
	pctl_ipc_frame f;

	(void)state;
	pctl_ipc_channel_init(&ch, -1);
	assert_true(pctl_ipc_feed(&ch, &large, sizeof(large)));
	assert_int_equal(pctl_ipc_next(&ch, &f), -1);
	pctl_ipc_channel_close(&ch);
	pctl_ipc_channel_init(&ch, -1);
	assert_true(pctl_ipc_feed(&ch, &reserved, sizeof(reserved)));
	assert_int_equal(pctl_ipc_next(&ch, &f), -1);
	pctl_ipc_channel_close(&ch);
}

static void channel__a_window_travels_and_cannot_be_resized(void **state)
{
	pctl_ipc_window mine, yours, other;
	pctl_ipc_channel a, b;
	pctl_ipc_frame f;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pctl_ipc_channel_init(&a, pair[0]);
	pctl_ipc_channel_init(&b, pair[1]);
	assert_true(pctl_ipc_window_create(8192, &mine));
	assert_int_equal(ftruncate(mine.fd, 0), -1);
	assert_int_equal(ftruncate(mine.fd, 16384), -1);
	a.out_fds[0] = mine.fd;
	a.n_out_fds = 1;
	pctl_ipc_frame_begin(&a, PCTL_IPC_HELLO, 1);
	assert_true(pctl_ipc_frame_end(&a));
	assert_int_equal(pctl_ipc_send(&a), 1);
	assert_int_equal(pctl_ipc_fill(&b), 1);
	assert_int_equal(pctl_ipc_next(&b, &f), 1);
	assert_true(pctl_ipc_window_attach(pctl_ipc_take_fd(&b), &yours));
	assert_int_equal(yours.n_bytes, 8192);
	mine.data[100] = 42;
	assert_int_equal(yours.data[100], 42);
	assert_int_equal(pctl_ipc_take_fd(&b), -1);
	/* Memory whose size can change is refused: a shrink would be a bus error here. */
	assert_false(pctl_ipc_window_attach(memfd_create("unsealed", MFD_CLOEXEC), &other));
	pctl_ipc_window_close(&yours);
	pctl_ipc_window_close(&mine);
	pctl_ipc_channel_close(&a);
	assert_int_equal(pctl_ipc_fill(&b), 0);
	pctl_ipc_channel_close(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(wire__what_is_put_is_got), PCTL_TEST(wire__every_cut_is_noticed),
		PCTL_TEST(wire__strings_end_where_they_say),
		PCTL_TEST(wire__structures_are_checked),
		PCTL_TEST(wire__a_diagnostic_arrives_whole),
		PCTL_TEST(channel__frames_come_in_any_pieces),
		PCTL_TEST(channel__nonsense_is_no_frame),
		PCTL_TEST(channel__a_window_travels_and_cannot_be_resized))
