#include <math.h>

#include "colour.h"

static const uint32_t viridis[] = {0x440154, 0x482878, 0x3E4A89, 0x31688E, 0x26828E,
                                   0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725};
static const uint32_t blue_red[] = {0x053061, 0x2166AC, 0x4393C3, 0x92C5DE, 0xD1E5F0, 0xF7F7F7,
                                    0xFDDBC7, 0xF4A582, 0xD6604D, 0xB2182B, 0x67001F};

static int channel(uint32_t colour, int shift) {
    return (int)(colour >> shift & 0xFF);
}

static uint32_t between(const uint32_t *points, int count, double fraction) {
    double place = fmin(fmax(fraction, 0), 1) * (count - 1);
    int below = (int)place < count - 1 ? (int)place : count - 2;
    double part = place - below;
    uint32_t out = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double mixed =
            channel(points[below], shift) * (1 - part) + channel(points[below + 1], shift) * part;
        out |= (uint32_t)lrint(mixed) << shift;
    }
    return out;
}

uint32_t szgi_colour_sequential(double fraction) {
    return between(viridis, sizeof viridis / sizeof *viridis, fraction);
}

uint32_t szgi_colour_diverging(double fraction) {
    return between(blue_red, sizeof blue_red / sizeof *blue_red, fraction);
}

static double linear(int level) {
    double c = level / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

double szgi_colour_luminance(uint32_t colour) {
    return 0.2126 * linear(channel(colour, 16)) + 0.7152 * linear(channel(colour, 8)) +
           0.0722 * linear(channel(colour, 0));
}

/* Contrast with black is (L + 0.05) / 0.05, with white 1.05 / (L + 0.05). */
bool szgi_colour_is_light(uint32_t colour) {
    double luminance = szgi_colour_luminance(colour) + 0.05;
    return luminance * luminance >= 0.05 * 1.05;
}
