/* protocol.def as data; see protocol.h. */
#include "runtime/ipc/protocol.h"

#include <string.h>

#include "foundation/base/hash.h"

/* ---- fields -------------------------------------------------------------------------------- */

#define AT(T, m) (uint32_t) offsetof(T, m)
/* Where the count of a member stands, and what `of` is as a number, by kind. */
#define ROW(T, kind, m, n_at, of, least, most, means) \
	{#m, means, least, most, AT(T, m), n_at, PCTL_IPC_KIND_##kind, of},
#define D_U32(T, m, of, least, most, means) ROW(T, U32, m, 0, 0, least, most, means)
#define D_U64(T, m, of, least, most, means) ROW(T, U64, m, 0, 0, least, most, means)
#define D_ONE_OF(T, m, of, least, most, means) ROW(T, ONE_OF, m, 0, 0, least, most, means)
#define D_FLAGS(T, m, of, least, most, means) ROW(T, FLAGS, m, 0, 0, least, most, means)
#define D_U32S(T, m, of, least, most, means) ROW(T, U32S, m, 0, of, least, most, means)
#define D_U64S(T, m, of, least, most, means) ROW(T, U64S, m, 0, of, least, most, means)
#define D_UPTO(T, m, of, least, most, means) ROW(T, UPTO, m, AT(T, of), 0, least, most, means)
#define D_CHARS(T, m, of, least, most, means) ROW(T, CHARS, m, 0, 0, least, most, means)
#define D_TEXT(T, m, of, least, most, means) ROW(T, TEXT, m, 0, of, least, most, means)
#define D_TEXTS(T, m, of, least, most, means) ROW(T, TEXTS, m, 0, of, least, most, means)
#define D_TEXT_LIST(T, m, of, least, most, means) \
	ROW(T, TEXT_LIST, m, AT(T, n_##m), 0, least, most, means)
#define D_BYTES(T, m, of, least, most, means) ROW(T, BYTES, m, 0, 0, least, most, means)
#define D_NUMBERS(T, m, of, least, most, means) \
	ROW(T, NUMBERS, m, AT(T, n_##m), 0, least, most, means)
#define D_HANDLE(T, m, of, least, most, means) \
	ROW(T, HANDLE, m, 0, PCTL_IPC_##of, least, most, means)
#define D_NEW(T, m, of, least, most, means) \
	ROW(T, NEW, m, 0, PCTL_IPC_##of, 1, PCTL_IPC_OBJECTS_MAX - 1, means)
#define D_NEST(T, m, of, least, most, means) \
	ROW(T, NEST, m, 0, PCTL_IPC_SHAPE_##of, least, most, means)
#define D_LIST(T, m, of, least, most, means) \
	ROW(T, LIST, m, AT(T, n_##m), PCTL_IPC_SHAPE_##of, least, most, means)
#define D_HEAD(T, m, of, least, most, means) ROW(T, HEAD, m, 0, 0, 0, sizeof(T), means)

#define PCTL_SHAPE(name, means) static const pctl_ipc_field fields_##name[] = {
#define PCTL_FIELD(shape, kind, member, of, least, most, means) \
	D_##kind(pctl_ipc_##shape, member, of, least, most, means)
#define PCTL_SHAPE_END(name) \
	}                    \
	;
#define PCTL_RECORD(name, type, means) static const pctl_ipc_field fields_##name[] = {
#define PCTL_MEMBER(type, kind, member, of, least, most, means) \
	D_##kind(type, member, of, least, most, means)
#define PCTL_RECORD_END(name, type) \
	}                           \
	;
#include "runtime/ipc/protocol.def"

#define SHAPE(name, type, means)                                                        \
	{#name, means, fields_##name, sizeof(fields_##name) / sizeof(fields_##name[0]), \
	 sizeof(type)},
static const pctl_ipc_shape shapes[PCTL_IPC_SHAPES] = {
	{"nothing", "no bytes", NULL, 0, 0},
#define PCTL_SHAPE(name, means) SHAPE(name, pctl_ipc_##name, means)
#define PCTL_SHAPE_END(name)
#define PCTL_FIELD(shape, kind, member, of, least, most, means)
#define PCTL_RECORD(name, type, means) SHAPE(name, type, means)
#include "runtime/ipc/protocol.def"
};

#define MESSAGE(number, NAME, name, how, ask, reply, whose, patience, needs, fds, means) \
	[number] = {NAME,                                                                \
		    name,                                                                \
		    means,                                                               \
		    how,                                                                 \
		    PCTL_IPC_SHAPE_##ask,                                                \
		    PCTL_IPC_SHAPE_##reply,                                              \
		    PCTL_IPC_OF_##whose,                                                 \
		    needs,                                                               \
		    PCTL_IPC_PATIENCE_##patience,                                        \
		    fds},
static const pctl_ipc_message messages[PCTL_IPC_MESSAGES] = {
#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means)            \
	MESSAGE(number, #NAME, #name, PCTL_IPC_IS_ASKED, ask, reply, whose, patience, needs, fds, \
		means)
#define PCTL_POSTED(number, NAME, name, ask, whose, means) \
	MESSAGE(number, #NAME, #name, PCTL_IPC_IS_POSTED, ask, nothing, whose, OWN, 0, 0, means)
#define PCTL_TOLD(number, NAME, name, carries, means) \
	MESSAGE(number, #NAME, #name, PCTL_IPC_IS_TOLD, carries, nothing, PROBE, OWN, 0, 0, means)
#include "runtime/ipc/protocol.def"
};

static const pctl_ipc_command commands[] = {
#define PCTL_COMMAND(number, NAME, name, shape, whose, means) \
	{#NAME, means, number, PCTL_IPC_SHAPE_##shape, PCTL_IPC_IN_##whose},
#include "runtime/ipc/protocol.def"
};

/* ---- looking things up --------------------------------------------------------------------- */

const pctl_ipc_shape *pctl_ipc_shape_of(uint32_t shape)
{
	return shape < PCTL_IPC_SHAPES ? &shapes[shape] : NULL;
}

const pctl_ipc_message *pctl_ipc_message_of(uint32_t number)
{
	return number < PCTL_IPC_MESSAGES && messages[number].how ? &messages[number] : NULL;
}

const pctl_ipc_command *pctl_ipc_commands(uint32_t *n)
{
	*n = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

uint32_t pctl_ipc_command_shape(uint32_t number, uint32_t whose)
{
	for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].number == number && commands[i].whose == whose)
			return commands[i].shape;
	return UINT32_MAX;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	return pctl_mix64(h + PCTL_SPLITMIX_STEP + v);
}

uint64_t pctl_ipc_table_hash(void)
{
	uint64_t h = PCTL_FNV64;

	for (uint32_t i = 0; i < PCTL_IPC_SHAPES; i++) {
		h = mix(h, shapes[i].n_fields);
		for (uint32_t k = 0; k < shapes[i].n_fields; k++) {
			const pctl_ipc_field *f = &shapes[i].fields[k];

			h = pctl_fnv64_text(h, f->name);
			h = mix(mix(mix(mix(h, f->kind), f->of), f->least), f->most);
		}
	}
	for (uint32_t i = 0; i < PCTL_IPC_MESSAGES; i++) {
		const pctl_ipc_message *m = &messages[i];

		h = mix(mix(mix(mix(h, m->how), m->ask), m->reply), m->whose);
		h = mix(mix(h, m->needs), m->fds);
	}
	for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		h = mix(mix(mix(h, commands[i].number), commands[i].shape), commands[i].whose);
	return h;
}

int pctl_ipc_status_known(pctl_status s)
{
	return (s >= PCTL_OK && s <= PCTL_E_CANCELLED) ||
	       (s >= PCTL_E_USAGE && s <= PCTL_E_NOT_FOUND) ||
	       (s >= PCTL_E_EXEC && s <= PCTL_E_NOTHING) || s == PCTL_E_INTERNAL;
}
