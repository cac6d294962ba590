/* What every structure that crosses the plugin boundary has in common. Only fixed-width integers,
 * pointers and structures of those cross it: no enum, bool, bit-field, long or size_t. */
#ifndef PIPECTL_ABI_H
#define PIPECTL_ABI_H

#include <stddef.h>
#include <stdint.h>

#define PCTL_ABI_MAJOR 1
#define PCTL_ABI_MINOR 0

/*
 * First member of every structure that crosses. `size` is sizeof of the whole structure as its
 * writer knew it; structures grow only by appending, so a reader tests PCTL_HAS before it reads a
 * member that is younger than version 1.0. Reserved members are zero, and readers check that.
 */
typedef struct pctl_head {
	uint32_t size;
	uint16_t major;
	uint16_t minor;
} pctl_head;

/* Initialiser for the head of a structure of type T. */
#define PCTL_HEAD(T)                                                \
	{                                                           \
		(uint32_t)sizeof(T), PCTL_ABI_MAJOR, PCTL_ABI_MINOR \
	}

/* Bytes of a T up to and with `member`. With the last member of version 1.0 it is what every T has, whatever
 * version its writer knew: sizeof(T) is only this version's. */
#define PCTL_SIZE_WITH(T, member) (offsetof(T, member) + sizeof(((const T *)0)->member))

/* True when the writer of *p knew `member`. */
#define PCTL_HAS(p, T, member) \
	((p)->head.size >= offsetof(T, member) + sizeof(((const T *)0)->member))

#if defined(__GNUC__)
#define PCTL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PCTL_EXPORT __attribute__((visibility("default")))
#else
#define PCTL_PRINTF(fmt, args)
#define PCTL_EXPORT
#endif

/* Around declarations, so that C++ sees them with C's names. */
#ifdef __cplusplus
#define PCTL_C_BEGIN extern "C" {
#define PCTL_C_END }
#else
#define PCTL_C_BEGIN
#define PCTL_C_END
#endif

#endif
