/* A generated program of the probe as lines: drawn and written as WGSL in probe_program.c, played in probe_play.c. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROBE_PROGRAM_H
#define PIPECTL_RUNTIME_DEVICE_PROBE_PROGRAM_H

#include <stdint.h>

#define LANES 64u
#define GROUPS 4u
#define WORDS 4u /* x0 .. x3 */
#define HELD 6u	 /* elements of an array; indices go to 7 */
#define FLAGS 8u
#define PARTS 3u /* functions of a program without barriers */
#define TURNS 3u

enum { SET, TAKE, PUT, COPY, IF, LOOP, LEAVE, MEET, ALL_IF, ALL_SWITCH, ALL_LOOP, ALL_LEAVE, CALL };
enum { NEXT, BREAK, CONTINUE, RETURN };

/* Variables a and b, a constant, a way; the lines inside; the line behind. */
typedef struct row {
	uint32_t kind, a, b, c, how;
	struct row *body, *other, *next;
} row;

/* What main does, and the function that it calls; or the parts of a program without barriers. */
typedef struct played {
	const row *main, *meet, *parts[PARTS];
	int barriers;
} played;

/* Workgroup `number` over its words of the input: the words that are due. */
void probe_play(const played *m, uint32_t number, const uint32_t *in, uint32_t *want);

#endif
