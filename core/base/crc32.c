#include "base/crc32.h"

/* Four bits at a time: 64 bytes of table, since a large one would be memory that the measured fork carries.
 */
static const uint32_t NIBBLE[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                    0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

uint32_t crc32_update(uint32_t crc, const void *data, size_t length) {
    const unsigned char *at = data;
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc = (crc >> 4) ^ NIBBLE[(crc ^ at[i]) & 15U];
        crc = (crc >> 4) ^ NIBBLE[(crc ^ (uint32_t)(at[i] >> 4)) & 15U];
    }
    return ~crc;
}
