/* Measures float32 results against float64 promises: the same as harness/sweep/measurements/measure.py does with NumPy. */
#include <stdint.h>
#include <string.h>

#define CHUNK 1024
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

/* Per element: the distance in ULPs (-1 if the element is not right), the representable numbers in between, and flags:
   1 right, 2 equal to the rounded promise, 4 of the rest. Returns the flags of all elements together. */
CLONES static uint32_t chunk(const float *restrict got, const double *restrict value, int n, double budget,
                             double *restrict ulps, double *restrict absolute, double *restrict steps,
                             uint32_t *restrict flags) {
  uint32_t all = 0;
  for (int i = 0; i < n; i++) {
    float rounded = (float)value[i];
    uint32_t a, b;
    memcpy(&a, &got[i], 4);
    memcpy(&b, &rounded, 4);
    uint32_t exponent = (b >> 23) & 255;
    uint32_t finite = ((a & 0x7f800000u) != 0x7f800000u) & (exponent != 255);
    uint64_t power = (uint64_t)(1173 - (exponent ? exponent : 1)) << 52; /* one by the unit in the last place */
    double inverse;
    memcpy(&inverse, &power, 8);
    double off = __builtin_fabs((double)got[i] - value[i]);
    double distance = off * inverse;
    uint32_t same = a == b;
    uint32_t nans = ((a & 0x7fffffffu) > 0x7f800000u) & ((b & 0x7fffffffu) > 0x7f800000u);
    uint32_t right = finite & (same | ((b & 0x7fffffffu) != 0)) & (distance <= budget);
    uint32_t rest = (right | ((finite ^ 1) & (same | nans))) ^ 1;
    ulps[i] = right ? distance : -1.0;
    absolute[i] = right ? off : 0.0;
    steps[i] = right ? __builtin_fabs((double)got[i] - (double)rounded) * inverse : 0.0;
    flags[i] = right | (right & same) << 1 | rest << 2;
    all |= flags[i];
  }
  return all;
}

/* The largest of some numbers, and their sum: eight sums side by side, each in order. */
CLONES static double largest_of(const double *numbers, int n) {
  double lanes[8];
  for (int j = 0; j < 8; j++) lanes[j] = -1.0;
  for (int i = 0; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++) lanes[j] = numbers[i + j] > lanes[j] ? numbers[i + j] : lanes[j];
  for (int i = n / 8 * 8; i < n; i++) lanes[0] = numbers[i] > lanes[0] ? numbers[i] : lanes[0];
  for (int j = 1; j < 8; j++) lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
  return lanes[0];
}

CLONES static double sum_of(const double *numbers, int n) {
  double lanes[8] = {0};
  for (int i = 0; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++) lanes[j] += numbers[i + j] > 0 ? numbers[i + j] : 0;
  for (int i = n / 8 * 8; i < n; i++) lanes[0] += numbers[i] > 0 ? numbers[i] : 0;
  for (int j = 1; j < 8; j++) lanes[0] += lanes[j];
  return lanes[0];
}

CLONES static int64_t count(const uint32_t *flags, int n, uint32_t flag) {
  uint32_t number = 0;
  for (int i = 0; i < n; i++) number += (flags[i] & flag) != 0;
  return number;
}

CLONES static int64_t count_from(const double *numbers, int n, double least) {
  int64_t number = 0;
  for (int i = 0; i < n; i++) number += numbers[i] >= least;
  return number;
}

/* starts has segments + 1 places, the last one is the size. Returns the number of places in rest. */
int64_t measure(const float *got, const double *value, double budget, const int64_t *starts, int64_t segments,
                int64_t *finite, int64_t *rounded, double *total, double *largest, int64_t *worst, double *absolute,
                int64_t *histogram, int64_t *rest) {
  static _Thread_local double ulps[CHUNK], off[CHUNK], steps[CHUNK];
  static _Thread_local uint32_t flags[CHUNK];
  int64_t left = 0;
  *absolute = 0;
  for (int64_t s = 0; s < segments; s++) {
    largest[s] = -1.0, worst[s] = starts[s], total[s] = 0, finite[s] = rounded[s] = 0;
    for (int64_t at = starts[s]; at < starts[s + 1]; at += CHUNK) {
      int n = starts[s + 1] - at < CHUNK ? (int)(starts[s + 1] - at) : CHUNK;
      uint32_t all = chunk(got + at, value + at, n, budget, ulps, off, steps, flags);
      int64_t right = count(flags, n, 1), same = count(flags, n, 2);
      finite[s] += right, rounded[s] += same, total[s] += sum_of(ulps, n);
      double most = largest_of(ulps, n), error = largest_of(off, n);
      if (error > *absolute) *absolute = error;
      if (most > largest[s]) {
        int64_t i = 0;
        while (ulps[i] != most) i++;
        largest[s] = most, worst[s] = at + i;
      }
      if (right > same) {
        int64_t apart = right - same, beyond = count_from(steps, n, 1.0);
        histogram[0] += apart - beyond;
        for (int k = 1; beyond; k++) {
          int64_t further = count_from(steps, n, (double)((uint64_t)1 << (k < 63 ? k : 63)));
          histogram[k] += beyond - further, beyond = k < 63 ? further : 0;
        }
      }
      if (all & 4)
        for (int i = 0; i < n; i++) {
          rest[left] = at + i;
          left += flags[i] >> 2 & 1;
        }
    }
  }
  return left;
}
