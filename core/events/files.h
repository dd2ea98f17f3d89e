/* Listening takes some 20 descriptors a CPU, more than the usual 1024 on a machine of 64: this program gives
 * itself as many as it may have, and what it starts has the limit that it would have had. */
#ifndef CLONOMETER_EVENTS_FILES_H
#define CLONOMETER_EVENTS_FILES_H

void files_raise(void);

/* In a child, before it becomes another program. */
void files_restore(void);

#endif
