/* Whether something else has the core's other hardware thread: independent additions take longer then, since
 * both threads share the units that add. A chain of dependent multiplications does not notice, and neither
 * does any clock. */
#ifndef CLONOMETER_SENSE_H
#define CLONOMETER_SENSE_H

#include <stdint.h>

/* Additions in one sense; 0 where none is known for this architecture. */
#if defined(__x86_64__) || defined(__aarch64__)
enum { SENSE_ADDITIONS = 7680 };
#else
enum { SENSE_ADDITIONS = 0 };
#endif

/* How long SENSE_ADDITIONS independent additions take now, in ticks of the clock that is used, one reading
 * included: about 0.6 us where the core is not shared. It touches no memory but a few lines of its own code.
 * 0 where it is not known how. */
uint32_t sense_additions(void);

#endif
