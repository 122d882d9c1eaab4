/* The aggregator of the README in C, as an exec: target; its argument is the scale of the noise.

   A request has its votes as "data": [...], and "size". Noise is by Box and Muller's method, from
   the system's random numbers. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MOST 4096

static double uniform(void) {
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        exit(1);
    return ((bits >> 11) + 0.5) / 9007199254740992.0;
}

static double gaussian(double scale) {
    return scale * sqrt(-2.0 * log(uniform())) * cos(2.0 * 3.14159265358979323846 * uniform());
}

int main(int count, char **words) {
    static char line[1 << 16];
    static double votes[MOST];
    double scale = count > 1 ? atof(words[1]) : 40.0;
    while (fgets(line, sizeof line, stdin)) {
        char *at = strstr(line, "\"data\""), *size = strstr(line, "\"size\"");
        if (!strstr(line, "\"aggregate\"") || !at || !size || !(at = strchr(at, '['))) {
            puts("{\"error\": \"no such call\"}");
            fflush(stdout);
            continue;
        }
        int classes = 0;
        do {
            votes[classes++] = strtod(at + 1, &at);
            at += strspn(at, " ");
        } while (*at == ',' && classes < MOST);
        printf("{\"releases\": [");
        for (long left = strtol(strchr(size, ':') + 1, NULL, 10), first = 1; left > 0; left--) {
            int best = 0;
            double highest = -INFINITY;
            for (int k = 0; k < classes; k++) {
                double noisy = votes[k] + gaussian(scale);
                if (noisy > highest) {
                    highest = noisy;
                    best = k;
                }
            }
            printf(first ? "%d" : ", %d", best);
            first = 0;
        }
        puts("]}");
        fflush(stdout);
    }
    return 0;
}
