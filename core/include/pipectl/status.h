/* Status values: the class of an outcome, the same on both sides of the plugin boundary. A
 * status is what a program branches on; what a person reads is the diagnostic (host.h) that came
 * with it. */
#ifndef PIPECTL_STATUS_H
#define PIPECTL_STATUS_H

#include <stdint.h>

/* A status is a plain int32_t so that its size is fixed in the ABI. 0 is success, all else is
 * not. */
typedef int32_t pctl_status;

#define PCTL_OK 0
/* Internal failures: retryable, never a result (semantics section 10, first layer). */
#define PCTL_E_FAILED 1	     /* no better class; exit 1 */
#define PCTL_E_IO 2	     /* the operating system refused; exit 1 */
#define PCTL_E_NOMEM 3	     /* host memory; exit 1 */
#define PCTL_E_TIMEOUT 4     /* the time allowed ran out; exit 9 */
#define PCTL_E_DEVICE_LOST 5 /* device, driver or worker died; exit 9 */
#define PCTL_E_CANCELLED 6   /* cancel test answered yes, or Ctrl-C; exit 130 */
/* Typed refusals (second layer). */
#define PCTL_E_USAGE 16	      /* command line; exit 2 */
#define PCTL_E_INVALID 17     /* declaration, program or value; exit 3 */
#define PCTL_E_PLUGIN 18      /* plugin or ABI; exit 4 */
#define PCTL_E_UNSUPPORTED 19 /* device or capability missing; exit 5 */
#define PCTL_E_MISMATCH 20    /* determinism or audit mismatch; exit 6 */
#define PCTL_E_LIMIT 21	      /* over a limit of a device or session; exit 5 */
#define PCTL_E_GAS 22	      /* gas or budget; exit 7 */
#define PCTL_E_STORE 23	      /* store integrity; exit 8 */
#define PCTL_E_NOT_FOUND 24   /* a named thing is not there; exit 3 */
/* Domain outcomes (third layer). */
#define PCTL_E_EXEC 32	  /* the job ran and failed for a reason of its own; exit 9 */
#define PCTL_E_NOTHING 33 /* nothing was executed; exit 10 */
/* A defect of pipectl itself. */
#define PCTL_E_INTERNAL 48 /* exit 70 */

#endif
