/* Why something was refused, said to a person: what every program of the core shares. */
#ifndef CLONOMETER_REASON_H
#define CLONOMETER_REASON_H

struct reason {
    char text[400];
};

/* Writes the sentence and returns `error`, so that refusals read `return reason_set(reason, -EINVAL, ...)`.
 */
__attribute__((format(printf, 3, 4))) int reason_set(struct reason *reason, int error, const char *format,
                                                     ...);

#endif
