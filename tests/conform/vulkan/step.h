/* What the tests of the runtime half share: calls that must do or be refused, one program that does
 * a step a dispatch, and buffers for it. */
#ifndef PIPECTL_TESTS_VULKAN_STEP_H
#define PIPECTL_TESTS_VULKAN_STEP_H

#include "devices.h"

#define ALL_USES \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

#define OK(call_of_api)                                                                            \
	do {                                                                                       \
		const pctl_status ok_status = (call_of_api);                                       \
		if (ok_status != PCTL_OK)                                                          \
			fail_msg("%s: status %d, %s", #call_of_api, (int)ok_status, r->last_text); \
	} while (0)

#define REFUSED(number, call_of_api)                          \
	do {                                                  \
		r->last_code = 0;                             \
		assert_int_not_equal((call_of_api), PCTL_OK); \
		assert_int_equal(r->last_code, number);       \
	} while (0)

/* A buffer of all uses, and one of its words. */
pctl_buffer *step_buffer(rig *r, uint64_t n_bytes);
uint32_t step_word(rig *r, pctl_buffer *b, uint64_t index);

/* data[i] = data[i] * 3 + in[i]; plus an optional loop that makes an invocation slow. */
rig_program step_program(uint32_t spins);
pctl_kernel *step_kernel(rig *r, uint32_t spins);

#endif
