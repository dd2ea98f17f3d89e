#ifndef CLONOMETER_CRC32_H
#define CLONOMETER_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of IEEE 802.3, as zlib computes it. Start with 0; feed the former result to go on. */
uint32_t crc32_update(uint32_t crc, const void *data, size_t length);

#endif
