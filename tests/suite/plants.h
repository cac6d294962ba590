/* Faults for the suite to find: a backend table between it and a right device that does one thing wrong. Nothing is
 * known here of what the programs are for; a fault is one of bytes, of order or of time. */
#ifndef PIPECTL_TESTS_SUITE_PLANTS_H
#define PIPECTL_TESTS_SUITE_PLANTS_H

#include "pipectl/backend.h"

enum {
	PLANT_NONE = 0,
	PLANT_DROP,	  /* a word that was stored is zero again */
	PLANT_TWICE,	  /* a word stands where its neighbour should */
	PLANT_REORDER,	  /* two neighbours have changed places */
	PLANT_NO_BARRIER, /* a dispatch after a barrier runs on what was there before the list */
	PLANT_GUARD,	  /* a byte beside a binding has changed */
	PLANT_OLD,	  /* a submit answers with the bytes of the one before */
	PLANT_FLIP,	  /* one bit of one submit in seven */
	PLANT_LAYOUT,	  /* what lies at 4 and beyond is read four bytes later */
	PLANT_RESTART,	  /* a session opened again answers another bit */
	PLANT_LOST,	  /* the device is lost at the third submit of a session */
	PLANT_STUCK, /* the third submit of a session never ends, and a minute passes each time one waits */
	PLANT_ATOMIC, /* of what the operations gave back, one word is its neighbour's */
	PLANTS
};

/* The faulty table over `real`; opened: sessions opened before. One fault at a time, of one thread. */
void plant_choose(uint32_t which);
const pctl_backend *plant_wrap(const pctl_backend *real, uint32_t opened);

#endif
