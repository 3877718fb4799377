/* The functions of benchmarks/arrays.py in C, as one writes them: one loop where that is enough. */
#include <math.h>
#include <stdint.h>

void chain(const double *x, const double *y, double *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = sqrt(x[i] * x[i] + y[i] * y[i]) / (1 + x[i] * y[i]);
}

/* `cells` and `next`, which holds the same border, take turns. */
void life(uint8_t *cells, uint8_t *next, int64_t n, int64_t steps) {
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 0; i < n - 2; i++) {
            const uint8_t *a = cells + i * n, *b = a + n, *c = b + n;
            for (int64_t j = 0; j < n - 2; j++) {
                uint8_t around = a[j] + a[j + 1] + a[j + 2] + b[j] + b[j + 2] + c[j] + c[j + 1] + c[j + 2];
                next[(i + 1) * n + j + 1] = (around == 3) | ((b[j + 1] == 1) & (around == 2));
            }
        }
        uint8_t *swapped = cells;
        cells = next;
        next = swapped;
    }
}

void softmax(const double *x, double *out, int64_t n, int64_t m) {
    for (int64_t i = 0; i < n; i++, x += m, out += m) {
        double most = x[0], total = 0;
        for (int64_t j = 1; j < m; j++) most = x[j] > most ? x[j] : most;
        for (int64_t j = 0; j < m; j++) total += out[j] = exp(x[j] - most);
        for (int64_t j = 0; j < m; j++) out[j] /= total;
    }
}

void distances(const double *x, const double *centres, double *out, int64_t n, int64_t k, int64_t d) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double total = 0;
            for (int64_t a = 0; a < d; a++) {
                double apart = x[i * d + a] - centres[j * d + a];
                total += apart * apart;
            }
            out[i * k + j] = total;
        }
}

/* Turn by turn, as in arrays. */
void mandelbrot(const double *cx, const double *cy, double *x, double *y, int64_t *count, int64_t n, int64_t turns) {
    for (int64_t i = 0; i < n; i++) x[i] = y[i] = count[i] = 0;
    for (int64_t turn = 0; turn < turns; turn++)
        for (int64_t i = 0; i < n; i++) {
            double a = x[i], b = y[i], xx = a * a, yy = b * b;
            int inside = xx + yy < 4;
            x[i] = inside ? xx - yy + cx[i] : a;
            y[i] = inside ? 2 * a * b + cy[i] : b;
            count[i] += inside;
        }
}

void julia(const double *begin, double cx, double cy, double *z, int64_t *count, int64_t n, int64_t turns) {
    for (int64_t i = 0; i < n; i++) z[2 * i] = begin[2 * i], z[2 * i + 1] = begin[2 * i + 1], count[i] = 0;
    for (int64_t turn = 0; turn < turns; turn++)
        for (int64_t i = 0; i < n; i++) {
            double x = z[2 * i], y = z[2 * i + 1], xx = x * x, yy = y * y;
            int inside = xx + yy < 4;
            z[2 * i] = inside ? xx - yy + cx : x;
            z[2 * i + 1] = inside ? 2 * x * y + cy : y;
            count[i] += inside;
        }
}
