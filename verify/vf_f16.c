/* SPDX-License-Identifier: MIT */
#include "vf_f16.h"

#include <string.h>

uint32_t vf_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float vf_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float vf_f16_decode(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 31u;
    uint32_t mantissa = half & 0x3FFu;
    if (exponent == 31) {
        return vf_f32_from_bits(sign | 0x7F800000u | mantissa << 13);
    }
    if (exponent == 0) {
        if (mantissa == 0) {
            return vf_f32_from_bits(sign);
        }
        /* A subnormal is mantissa x 2^-24: shift its leading one up to the hidden bit. */
        exponent = 1;
        while ((mantissa & 0x400u) == 0) {
            mantissa <<= 1;
            exponent--;
        }
        mantissa &= 0x3FFu;
    }
    /* exponent may have wrapped below 0; adding 112 (= 127 - 15) brings it back. */
    return vf_f32_from_bits(sign | ((exponent + 112u) << 23 | mantissa << 13));
}

uint16_t vf_f16_encode(float value) {
    uint32_t bits = vf_f32_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return (uint16_t)(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
    }
    if (magnitude >= 0x477FF000u) { /* 65520, half way between 65504 and 2^16 */
        return (uint16_t)(sign | 0x7C00u);
    }
    if (magnitude >= 0x38800000u) { /* 2^-14, the least normal half */
        uint32_t even = magnitude >> 13 & 1u;
        return (uint16_t)(sign | (magnitude - 0x38000000u + 0xFFFu + even) >> 13);
    }
    if (magnitude < 0x33000000u) { /* below 2^-25, half the least subnormal */
        return (uint16_t)sign;
    }
    uint32_t shift = 126u - (magnitude >> 23); /* 14..24: the unit becomes 2^-24 */
    uint32_t full = 0x800000u | (magnitude & 0x7FFFFFu);
    uint32_t quotient = full >> shift;
    uint32_t rest = full & ((1u << shift) - 1u);
    uint32_t tie = 1u << (shift - 1u);
    if (rest > tie || (rest == tie && (quotient & 1u) != 0)) {
        quotient++;
    }
    return (uint16_t)(sign | quotient);
}

float vf_bf16_decode(uint16_t bits) {
    return vf_f32_from_bits((uint32_t)bits << 16);
}

uint16_t vf_bf16_encode(float value) {
    uint32_t bits = vf_f32_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return (uint16_t)(bits >> 16 | 0x40u);
    }
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

float vf_e8m0_decode(uint8_t exponent) {
    return vf_f32_from_bits(exponent == 0 ? 0x00400000u : (uint32_t)exponent << 23);
}

float vf_e8m0_half(uint8_t exponent) {
    uint32_t e = exponent;
    return vf_f32_from_bits(e < 2 ? 0x00200000u << e : (e - 1u) << 23);
}

float vf_ue4m3_decode(uint8_t bits) {
    if (bits == 0x7F) {
        return 0.0f;
    }
    uint32_t exponent = (bits >> 3) & 15u;
    uint32_t mantissa = bits & 7u;
    if (exponent == 0) {
        return (float)mantissa * 0x1p-9f;
    }
    return vf_f32_from_bits((exponent + 120u) << 23 | mantissa << 20);
}

uint8_t vf_ue4m3_encode(float value) {
    if (!(value > 0.0f)) {
        return 0;
    }
    if (value >= 448.0f) {
        return 0x7E;
    }
    uint32_t bits = vf_f32_bits(value);
    uint32_t exponent = bits >> 23;
    if (exponent <= 120u) { /* below 2^-6 */
        uint32_t code = (uint32_t)(value * 512.0f + 0.5f);
        return (uint8_t)(code < 7u ? code : 7u);
    }
    /* Adding the first dropped bit rounds half up; a carry runs into the exponent by itself. */
    uint32_t code = ((bits - (120u << 23)) >> 20) + (bits >> 19 & 1u);
    return (uint8_t)(code < 0x78u ? code : 0x7Eu);
}
