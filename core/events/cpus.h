/* Which CPUs a machine may have. */
#ifndef CLONOMETER_EVENTS_CPUS_H
#define CLONOMETER_EVENTS_CPUS_H

/* Records keep a CPU in 16 bits; Linux knows 8192 at most. */
enum { CPUS_MOST = 1 << 16 };

/* One more than the highest number that a CPU of this machine may ever have, as the kernel says below `root`
 * ("" or a made tree). How many there are is no answer: numbers may be left out. -ERANGE: beyond CPUS_MOST.
 */
long cpus_possible(const char *root);

#endif
