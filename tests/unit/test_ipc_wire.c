/* Payloads and frames: what is put is got, and whatever is cut, too long or left over is noticed. What messages hold is
 * test_ipc_protocol.c's. */
#include "main.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/ipc/remote_private.h"

static void wire__what_is_put_is_got(void **state)
{
	pctl_ipc_out o = {0};
	pctl_ipc_in in = {0};
	const uint8_t *bytes;

	(void)state;
	pctl_ipc_put_u32(&o, 7);
	pctl_ipc_put(&o, "abc", 3);
	pctl_ipc_put_u64(&o, UINT64_MAX);
	assert_false(o.failed);
	in.data = o.data;
	in.n = o.n;
	assert_int_equal(pctl_ipc_get_u32(&in), 7);
	bytes = pctl_ipc_take(&in, 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_false(pctl_ipc_in_done(&in));
	assert_true(pctl_ipc_get_u64(&in) == UINT64_MAX);
	assert_true(pctl_ipc_in_done(&in));
	assert_int_equal(pctl_ipc_get_u32(&in), 0);
	assert_false(pctl_ipc_in_done(&in));
	pctl_ipc_out_drop(&o);
}

/* Texts as no packer makes them. */
static void wire__texts_end_where_they_say(void **state)
{
	static const struct {
		uint8_t bytes[8];
		size_t n;
	} bad[] = {{{3, 0, 0, 0, 'a', 0, 0}, 7}, /* a NUL before the last */
		   {{2, 0, 0, 0, 'a', 'b'}, 6},	 /* no NUL */
		   {{255, 255, 255, 255, 'a', 0}, 6},
		   {{3, 0, 0, 0, 'a', 0}, 6},	  /* cut */
		   {{2, 0, 0, 0, 'a', 0, 0}, 7}}; /* something behind it */
	const pctl_ipc_scope scope = {NULL, NULL, NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pctl_ipc_in in = {bad[i].bytes, bad[i].n, 0, 0};
		pctl_ipc_stage s;

		assert_int_equal(pctl_ipc_unpack_all(&in, PCTL_IPC_SHAPE_stage, &scope, &s), 0);
	}
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
	pctl_arena *arena = pctl_arena_create();
	pctl_ipc_out o = {0};
	const pctl_diag *got;
	pctl_status status;
	pctl_ipc_in rest;
	size_t cut;

	(void)state;
	pctl_ipc_put_u32(&o, PCTL_E_PLUGIN);
	pctl_ipc_put_u32(&o, 1);
	pctl_ipc_put_diag(&o, &d);
	assert_true(pctl_remote_decode(o.data, o.n, "plug", arena, pctl_diag_list_call(l), &status,
				       &rest));
	assert_int_equal(status, PCTL_E_PLUGIN);
	assert_true(pctl_ipc_in_done(&rest));
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
	for (cut = 0; cut < o.n; cut++)
		assert_false(pctl_remote_decode(o.data, cut, "plug", arena, pctl_diag_list_call(l),
						&status, &rest));
	assert_int_equal(pctl_diag_list_count(l), 1);
	pctl_arena_destroy(arena);
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

PCTL_TESTS_MAIN(PCTL_TEST(wire__what_is_put_is_got), PCTL_TEST(wire__texts_end_where_they_say),
		PCTL_TEST(wire__a_diagnostic_arrives_whole),
		PCTL_TEST(channel__frames_come_in_any_pieces),
		PCTL_TEST(channel__nonsense_is_no_frame),
		PCTL_TEST(channel__a_window_travels_and_cannot_be_resized))
