/* The loops of benchmarks/loops.py in C, as one writes them: no checks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int64_t collatz(int64_t n) {
    int64_t steps = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        steps++;
    }
    return steps;
}

int64_t collatz_sum(int64_t count) {
    int64_t total = 0;
    for (int64_t start = 1; start < count; start++)
        for (int64_t n = start; n != 1; total++)
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return total;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t edit_distance(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    int64_t *table = calloc((n + 1) * (m + 1), sizeof *table), width = m + 1;
    for (int64_t i = 0; i <= n; i++) table[i * width] = i;
    for (int64_t j = 0; j <= m; j++) table[j] = j;
    for (int64_t i = 1; i <= n; i++)
        for (int64_t j = 1; j <= m; j++) {
            int64_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            int64_t gap = least(table[(i - 1) * width + j] + 1, table[i * width + j - 1] + 1);
            table[i * width + j] = least(gap, table[(i - 1) * width + j - 1] + cost);
        }
    int64_t found = table[n * width + m];
    free(table);
    return found;
}

int64_t edit_rows(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    int64_t *row = malloc((m + 1) * sizeof *row);
    for (int64_t j = 0; j <= m; j++) row[j] = j;
    for (int64_t i = 1; i <= n; i++) {
        int64_t *new = malloc((m + 1) * sizeof *new);
        new[0] = i;
        for (int64_t j = 1; j <= m; j++) {
            int64_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            new[j] = least(least(row[j] + 1, new[j - 1] + 1), row[j - 1] + cost);
        }
        free(row);
        row = new;
    }
    int64_t found = row[m];
    free(row);
    return found;
}

int64_t sieve(int64_t n) {
    char *prime = malloc(n + 1);
    memset(prime, 1, n + 1);
    prime[0] = prime[1] = 0;
    for (int64_t i = 2; i * i <= n; i++)
        if (prime[i])
            for (int64_t j = i * i; j <= n; j += i) prime[j] = 0;
    int64_t count = 0;
    for (int64_t i = 0; i <= n; i++) count += prime[i];
    free(prime);
    return count;
}

void lu(double *a, int64_t n) {
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

static void sift(double *x, int64_t root, int64_t end) {
    for (;;) {
        int64_t child = 2 * root + 1;
        if (child >= end) break;
        if (child + 1 < end && x[child] < x[child + 1]) child++;
        if (x[root] >= x[child]) break;
        double swapped = x[root];
        x[root] = x[child];
        x[child] = swapped;
        root = child;
    }
}

void heap_sort(double *x, int64_t n) {
    for (int64_t start = n / 2 - 1; start >= 0; start--) sift(x, start, n);
    for (int64_t end = n - 1; end > 0; end--) {
        double swapped = x[0];
        x[0] = x[end];
        x[end] = swapped;
        sift(x, 0, end);
    }
}

static void slope(double x, double y, double z, double *dx, double *dy, double *dz) {
    *dx = 10.0 * (y - x);
    *dy = x * (28.0 - z) - y;
    *dz = x * y - 8.0 / 3.0 * z;
}

double lorenz(double x, double y, double z, int64_t steps, double h) {
    for (int64_t step = 0; step < steps; step++) {
        double ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz;
        slope(x, y, z, &ax, &ay, &az);
        slope(x + h / 2 * ax, y + h / 2 * ay, z + h / 2 * az, &bx, &by, &bz);
        slope(x + h / 2 * bx, y + h / 2 * by, z + h / 2 * bz, &cx, &cy, &cz);
        slope(x + h * cx, y + h * cy, z + h * cz, &dx, &dy, &dz);
        x += h / 6 * (ax + 2 * bx + 2 * cx + dx);
        y += h / 6 * (ay + 2 * by + 2 * cy + dy);
        z += h / 6 * (az + 2 * bz + 2 * cz + dz);
    }
    return x + y + z;
}

void mandelbrot(int64_t *out, int64_t height, int64_t width, int64_t turns) {
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            double re = -2.0 + 3.0 * j / width, im = -1.0 + 2.0 * i / height, x = 0, y = 0;
            int64_t n = 0;
            while (n < turns && x * x + y * y <= 4.0) {
                double next = x * x - y * y + re;
                y = 2.0 * x * y + im;
                x = next;
                n++;
            }
            out[i * width + j] = n;
        }
}

void moving_average(const double *x, int64_t n, int64_t width, double *out) {
    for (int64_t i = 0; i < n - width + 1; i++) {
        double total = 0;
        for (int64_t j = 0; j < width; j++) total += x[i + j];
        out[i] = total / width;
    }
}

void insertion_sort(double *x, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        double item = x[i];
        int64_t j = i - 1;
        for (; j >= 0 && x[j] > item; j--) x[j + 1] = x[j];
        x[j + 1] = item;
    }
}

void horner(const double *factors, int64_t m, const double *x, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < m; j++) total = total * x[i] + factors[j];
        out[i] = total;
    }
}

void matmul(const double *a, const double *b, double *out, int64_t n, int64_t m, int64_t l) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < l; j++) {
            double total = 0;
            for (int64_t k = 0; k < m; k++) total += a[i * m + k] * b[k * l + j];
            out[i * l + j] = total;
        }
}
