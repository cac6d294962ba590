/* Philox4x32-10 against the known answers of its authors (Random123, kat_vectors). */
#include "main.h"

#include "foundation/base/philox.h"

static void known_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], want[4];
	} rows[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
		 {0xffffffff, 0xffffffff},
		 {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		 {0xa4093822, 0x299f31d0},
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	uint32_t got[4];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_philox(rows[i].counter, rows[i].key, got);
		assert_memory_equal(got, rows[i].want, sizeof(got));
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(known_answers))
