/* The structures that cross the plugin boundary against the frozen layout of version 1.0: what was
 * released stays where it is. A structure with a head may grow at its end, any other may not. */
#include "main.h"

#include "pipectl/backend.h"
#include "pipectl/oplib.h"

typedef struct frozen_struct {
	const char *name;
	size_t frozen, now;
	int has_head;
} frozen_struct;

typedef struct frozen_member {
	const char *owner, *name;
	size_t frozen_at, at, frozen_bytes, bytes;
} frozen_member;

#define PCTL_FROZEN_MEMBER(S, m, at, bytes) \
	{#S, #m, at, offsetof(S, m), bytes, sizeof(((S *)0)->m)},
#define PCTL_FROZEN_STRUCT(S, bytes)
static const frozen_member members[] = {
#include "abi_v1_0.def"
};
#undef PCTL_FROZEN_MEMBER
#undef PCTL_FROZEN_STRUCT
#define PCTL_FROZEN_MEMBER(S, m, at, bytes)
#define PCTL_FROZEN_STRUCT(S, bytes) {#S, bytes, sizeof(S), 0},
static const frozen_struct structs[] = {
#include "abi_v1_0.def"
};

#define N_MEMBERS (sizeof(members) / sizeof(members[0]))
#define N_STRUCTS (sizeof(structs) / sizeof(structs[0]))

/* Of a structure that is handed over in arrays both sides must know the distance of two: it stays. */
static int may_grow(const char *name)
{
	size_t i;

	if (!strcmp(name, "pctl_device_info"))
		return 0;
	for (i = 0; i < N_MEMBERS; i++)
		if (!strcmp(members[i].owner, name) && !strcmp(members[i].name, "head"))
			return 1;
	return 0;
}

static void abi__members_stay_where_they_are(void **state)
{
	unsigned wrong = 0;
	size_t i;

	(void)state;
	for (i = 0; i < N_MEMBERS; i++) {
		const frozen_member *m = &members[i];

		if (m->at == m->frozen_at && m->bytes == m->frozen_bytes)
			continue;
		print_error("%s.%s is at %zu with %zu bytes; version 1.0 has it at %zu with %zu\n",
			    m->owner, m->name, m->at, m->bytes, m->frozen_at, m->frozen_bytes);
		wrong++;
	}
	assert_int_equal(wrong, 0);
	assert_true(N_MEMBERS > 300);
}

static void abi__structures_only_grow_and_only_with_a_head(void **state)
{
	unsigned wrong = 0;
	size_t i;

	(void)state;
	for (i = 0; i < N_STRUCTS; i++) {
		const frozen_struct *s = &structs[i];

		if (s->now == s->frozen || (s->now > s->frozen && may_grow(s->name)))
			continue;
		print_error("%s has %zu bytes; version 1.0 has %zu\n", s->name, s->now, s->frozen);
		wrong++;
	}
	assert_int_equal(wrong, 0);
	assert_true(N_STRUCTS > 40);
}

static void abi__a_reader_sees_what_a_writer_knew(void **state)
{
	pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};

	(void)state;
	assert_true(PCTL_HAS(&caps, pctl_device_caps, timestamp_ns_den));
	caps.head.size = (uint32_t)offsetof(pctl_device_caps, timestamp_ns_den);
	assert_false(PCTL_HAS(&caps, pctl_device_caps, timestamp_ns_den));
	assert_true(PCTL_HAS(&caps, pctl_device_caps, subgroup_size));
}

PCTL_TESTS_MAIN(PCTL_TEST(abi__members_stay_where_they_are),
		PCTL_TEST(abi__structures_only_grow_and_only_with_a_head),
		PCTL_TEST(abi__a_reader_sees_what_a_writer_knew))
