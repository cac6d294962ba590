/* Times and sizes as people read them. */
#ifndef PIPECTL_FOUNDATION_SVG_AMOUNT_H
#define PIPECTL_FOUNDATION_SVG_AMOUNT_H

#include <stdint.h>

#define PCTL_SHOWN 48u /* room for a number as text */
const char *pctl_show_ns(uint64_t ns, char out[PCTL_SHOWN]);
const char *pctl_show_bytes(uint64_t n, char out[PCTL_SHOWN]);

#endif
