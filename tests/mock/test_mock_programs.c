/* The probe's generated programs: of any draw they are valid and right on the reference, and a device that is wrong only in such
 * company is found by them: it loses stores into arrays, or leaves loops that it should go on with. */
#include "device_fixture.h"

#include "planted/planted.h"
#include "runtime/device/probe_private.h"

#define DRAWS PCTL_TEST_SHARE(60u)

/* Of one draw, on an open device: the facts with their witnesses. */
static void ask(device_fixture *b, uint64_t number, pctl_profile_record *out)
{
	probe p = {.table = b->t,
		   .dev = b->dev,
		   .caps = &b->e->caps,
		   .call = &b->call,
		   .out = out,
		   .draw = number};

	memset(out, 0, sizeof(*out));
	out->facts[PCTL_FACT_INT32] = out->facts[PCTL_FACT_BARRIERS] = PCTL_NATIVE_EXACT;
	probe_programs(&p);
	assert_int_equal(p.status, PCTL_OK);
	/* All of them ran. */
	assert_true(out->cases >= 4 * 256);
}

static void programs__of_any_draw_are_right_on_the_reference(void **state)
{
	static pctl_profile_record seen;
	device_fixture b;

	(void)state;
	device_begin(&b);
	device_device(&b, "cpu", PCTL_INSTANCE_IN_PROCESS);
	for (uint64_t n = 0; n < DRAWS; n++) {
		ask(&b, n * 0x9e3779b97f4a7c15u, &seen);
		assert_string_equal(seen.fact_witness[PCTL_FACT_INT32].text, "");
		assert_string_equal(seen.fact_witness[PCTL_FACT_BARRIERS].text, "");
	}
	device_drop(&b);
	device_end(&b);
}

/* What they see of a fault at the probe's own draw. */
static void must_find(const char *selector, const char *what, uint32_t fact)
{
	static pctl_profile_record seen;
	device_fixture b;

	device_begin(&b);
	device_device(&b, selector, PCTL_INSTANCE_IN_PROCESS);
	ask(&b, 0, &seen);
	assert_int_equal(seen.facts[fact], PCTL_NATIVE_WRONG);
	planted(what, selector, "the probe's programs", seen.fact_witness[fact].text);
	device_drop(&b);
	device_end(&b);
}

static void programs__what_goes_wrong_in_company_is_found(void **state)
{
	(void)state;
	must_find("mock:wrap=cpu+turns=2", "mock turns=2: a loop ends after two turns",
		  PCTL_FACT_INT32);
	must_find("mock:wrap=cpu+astray",
		  "mock astray: a continue behind a barrier leaves the loop", PCTL_FACT_BARRIERS);
}

PCTL_TESTS_MAIN(PCTL_TEST(programs__of_any_draw_are_right_on_the_reference),
		PCTL_TEST(programs__what_goes_wrong_in_company_is_found))
