// Included by small_gemm_avx2.cpp and small_gemm_avx512.cpp, each inside a namespace of its own: everything has
// internal linkage, so that no function compiled for one can be picked by the linker for the other. They define Vector,
// broadcast, multiply_add, and the tile: tile_rows rows of tile_vectors vectors, which fill the registers.

constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
constexpr std::size_t tile_columns = tile_vectors * lanes;
constexpr std::size_t inner = 512;    // of the inner length at a time: a panel of B is 32 or 64 kB
constexpr std::size_t columns = 384;  // of B at a time: 768 kB
constexpr std::size_t rows = 256;     // of A at a time: 512 kB
constexpr std::size_t few = 64;       // rows of A that B is not packed for
constexpr std::size_t far = 512;      // rows of a transposed A farther apart than this are packed: a page for each
constexpr std::size_t line = 16;      // numbers that memory hands over at once
constexpr std::size_t chunk = 4;      // steps of the inner length between two requests for a line

struct Room {
    alignas(64) float b[inner * (columns + tile_columns)];
    alignas(64) float a[inner * (rows + tile_rows)];
    alignas(64) float tile[tile_rows * tile_columns];
};

inline Vector load(const float* from) {
    Vector vector;
    __builtin_memcpy(&vector, from, sizeof(vector));
    return vector;
}
inline void store(float* to, const Vector& vector) {
    __builtin_memcpy(to, &vector, sizeof(vector));
}

// An address beyond the operand does no harm: nothing is read.
inline void fetch_to_second_level(const float* from) {
    __builtin_prefetch(from, 0, 2);
}

// What a tile of C starts from, element (i, j) at first[i * stride + j]: C itself, one row for all, or zeros.
struct From {
    const float* first;
    std::size_t stride;
};
alignas(64) constexpr float zeros[tile_columns] = {};

// What later tiles will read, fetched while this one is computed: `step` numbers further at each step of the inner
// length. Without it a product waits for a tenth of its time for weights that lie beyond the second-level cache.
// A request every step, most of them for a line that was asked for already, costs as much as it gains.
struct Ahead {
    const float* first;
    std::size_t step;
};

// Which tile of C is fetched, and what is wanted soon that lies like it (SmallProduct::soon) or null.
struct Next {
    const float* c;
    const float* soon[2];
};
constexpr std::size_t is_short = 128;  // of the inner length: a tile of C that is fetched meanwhile comes too late

// How A lies in memory: `stride` between rows, the inner length side by side; or between steps of the inner length, the
// rows side by side. Known when compiling, since addresses of eight rows would not fit into registers otherwise.
enum class Left { by_row, by_column };

// sum += A[:, p] b[p, :] for `count` steps p of the inner length.
template <Left left_is, std::size_t count>
[[gnu::always_inline]] inline void multiply_steps(std::size_t p, const float* a, std::size_t stride, const float* b,
                                                  std::size_t step_b, Vector (&sum)[tile_rows][tile_vectors]) {
#pragma GCC unroll 4
    for (std::size_t end = p + count; p < end; ++p) {
        Vector right[tile_vectors];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
            right[v] = load(b + p * step_b + v * lanes);
        }
#pragma GCC unroll 8
        for (std::size_t i = 0; i < tile_rows; ++i) {
            const Vector left = broadcast(left_is == Left::by_row ? a[i * stride + p] : a[p * stride + i]);
#pragma GCC unroll 2
            for (std::size_t v = 0; v < tile_vectors; ++v) {
                sum[i][v] = multiply_add(left, right[v], sum[i][v]);
            }
        }
    }
}

// c (tile_rows x tile_columns) = from + alpha sum_p A[i, p] b[p * step_b + j]
//
// A tile of C, this one or the next, is fetched line by line while the sums are made: asked for all at once, it blocks
// the way of A and B.
template <Left left_is>
void multiply_tile(std::size_t length, float alpha, const float* a, std::size_t stride, const float* b,
                   std::size_t step_b, From from, float* c, std::size_t ldc, Ahead ahead, const Next& next) {
    constexpr std::size_t lines_of_row = tile_columns / line;
    Vector sum[tile_rows][tile_vectors];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
            sum[i][v] = Vector{};
        }
    }
    std::size_t p = 0;
    for (std::size_t l = 0; l < tile_rows * lines_of_row && p + chunk <= length; ++l, p += chunk) {
        const std::size_t at = l / lines_of_row * ldc + l % lines_of_row * line;
        __builtin_prefetch(next.c + at, 1, 3);
        for (const float* const soon : next.soon) {
            if (soon != nullptr) {
                fetch_to_second_level(soon + at);
            }
        }
        fetch_to_second_level(ahead.first + p * ahead.step);
        multiply_steps<left_is, chunk>(p, a, stride, b, step_b, sum);
    }
    for (; p + chunk <= length; p += chunk) {
        fetch_to_second_level(ahead.first + p * ahead.step);
        multiply_steps<left_is, chunk>(p, a, stride, b, step_b, sum);
    }
    for (; p < length; ++p) {
        multiply_steps<left_is, 1>(p, a, stride, b, step_b, sum);
    }
    const Vector factor = broadcast(alpha);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
            float* const to = c + i * ldc + v * lanes;
            store(to, multiply_add(factor, sum[i][v], load(from.first + i * from.stride + v * lanes)));
        }
    }
}

// A tile at the edge: computed whole beside C, the part that exists is copied.
template <Left left_is>
void multiply_edge(std::size_t length, float alpha, const float* a, std::size_t stride, const float* b,
                   std::size_t step_b, From from, std::size_t count_rows, std::size_t count_columns, float* c,
                   std::size_t ldc, float* tile) {
    multiply_tile<left_is>(length, alpha, a, stride, b, step_b, {zeros, 0}, tile, tile_columns, {b, 0}, {tile, {}});
    for (std::size_t i = 0; i < count_rows; ++i) {
        for (std::size_t j = 0; j < count_columns; ++j) {
            c[i * ldc + j] = from.first[i * from.stride + j] + tile[i * tile_columns + j];
        }
    }
}

// 8 x 8 numbers, transposed: unpack pairs, then pairs of pairs, then halves.
inline void transpose_8(const float* from, std::size_t stride, float* to, std::size_t to_stride) {
    __m256 r[8];
    __m256 t[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) {
        r[i] = _mm256_loadu_ps(from + i * stride);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
        _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

// `length` x `count` numbers become panels [length][width], the last one filled up with zeros. `strided`: element
// (p, j) is at from[p * stride + j], otherwise at from[j * stride + p].
void pack(const float* from, std::size_t stride, bool strided, std::size_t length, std::size_t count, std::size_t width,
          float* to) {
    constexpr std::size_t together = 4;
    for (std::size_t first = 0; first < count; first += width, to += length * width) {
        const std::size_t here = count - first < width ? count - first : width;
        if (strided && width == tile_rows && count - first >= together * width) {
            // Narrow panels, a few at a time: every row is in a page of its own, and is gone to once for all of them.
            for (std::size_t p = 0; p < length; ++p) {
#pragma GCC unroll 4
                for (std::size_t q = 0; q < together; ++q) {
                    __builtin_memcpy(to + q * length * tile_rows + p * tile_rows,
                                     from + p * stride + first + q * tile_rows, tile_rows * sizeof(float));
                }
            }
            first += (together - 1) * width;
            to += (together - 1) * length * width;
            continue;
        }
        if (strided && here == width) {
            for (std::size_t p = 0; p < length; ++p) {
                __builtin_memcpy(to + p * width, from + p * stride + first, width * sizeof(float));
            }
            continue;
        }
        if (here < width) {
            __builtin_memset(to, 0, length * width * sizeof(float));
        }
        std::size_t p = 0;
        for (; !strided && p + 8 <= length; p += 8) {
            std::size_t j = 0;
            for (; j + 8 <= here; j += 8) {
                transpose_8(from + (first + j) * stride + p, stride, to + p * width + j, width);
            }
            for (; j < here; ++j) {
                for (std::size_t q = p; q < p + 8; ++q) {
                    to[q * width + j] = from[(first + j) * stride + q];
                }
            }
        }
        for (; p < length; ++p) {
            for (std::size_t j = 0; j < here; ++j) {
                to[p * width + j] = strided ? from[p * stride + first + j] : from[(first + j) * stride + p];
            }
        }
    }
}

Room& this_room() {
    static thread_local Room room;
    return room;
}

// body(p0, length) for each piece of the inner length; once also for a length of 0.
template <class Body>
void for_pieces(std::size_t k, const Body& body) {
    std::size_t p0 = 0;
    do {
        const std::size_t length = k - p0 < inner ? k - p0 : inner;
        body(p0, length);
        p0 += length;
    } while (p0 < k);
}

// Where the panels of B are: packed, or in B itself.
struct Panels {
    const float* first;
    std::size_t between;  // two panels
    std::size_t step;     // two rows of a panel
};

// One block of the inner length and of columns.
void multiply_block(const SmallProduct& x, std::size_t p0, std::size_t length, std::size_t j0, std::size_t count,
                    bool add, const Panels& panels, Room& room) {
    const bool columns_of_a = x.transpose_a == Transpose::yes;
    const std::size_t step_i = columns_of_a ? 1 : x.lda;
    const std::size_t step_p = columns_of_a ? x.lda : 1;
    for (std::size_t i0 = 0; i0 < x.m; i0 += rows) {
        const std::size_t here = x.m - i0 < rows ? x.m - i0 : rows;
        const float* const a = x.a + i0 * step_i + p0 * step_p;
        // Rows that fill no tile are packed too: their tile reads zeros beside them.
        const std::size_t whole = columns_of_a && x.lda > far ? 0 : here / tile_rows * tile_rows;
        if (whole < here) {
            pack(a + whole * step_i, x.lda, columns_of_a, length, here - whole, tile_rows, room.a);
        }
        // The tiles of a panel fetch the next one between them.
        const std::size_t tiles = (here + tile_rows - 1) / tile_rows;
        const std::size_t step = (tile_columns + tiles - 1) / tiles;
        for (std::size_t j = 0; j < count; j += tile_columns) {
            const float* const b = panels.first + j / tile_columns * panels.between;
            const std::size_t width = count - j < tile_columns ? count - j : tile_columns;
            for (std::size_t i = 0; i < here; i += tile_rows) {
                const std::size_t height = here - i < tile_rows ? here - i : tile_rows;
                const Ahead ahead{b + panels.between + i / tile_rows * length * step, step};
                float* const c = x.c + (i0 + i) * x.ldc + j0 + j;
                const bool down = i + tile_rows < here;
                const std::size_t after = down ? tile_rows * x.ldc : 0;
                const std::size_t at = (i0 + i) * x.ldc + j0 + j;
                const Next next{
                    length < is_short ? c + after : c,
                    {x.soon[0] == nullptr ? nullptr : x.soon[0] + at, x.soon[1] == nullptr ? nullptr : x.soon[1] + at}};
                const From from = add                  ? From{c, x.ldc}
                                  : x.start != nullptr ? From{x.start + j0 + j, 0}
                                                       : From{zeros, 0};
                const bool packed = i >= whole;
                const float* const left = packed ? room.a + (i - whole) * length : a + i * step_i;
                const std::size_t stride = packed ? tile_rows : x.lda;
                const bool by_row = !packed && !columns_of_a;
                if (height < tile_rows || width < tile_columns) {
                    (by_row ? multiply_edge<Left::by_row>
                            : multiply_edge<Left::by_column>)(length, x.alpha, left, stride, b, panels.step, from,
                                                              height, width, c, x.ldc, room.tile);
                } else if (by_row) {
                    multiply_tile<Left::by_row>(length, x.alpha, left, stride, b, panels.step, from, c, x.ldc, ahead,
                                                next);
                } else {
                    multiply_tile<Left::by_column>(length, x.alpha, left, stride, b, panels.step, from, c, x.ldc, ahead,
                                                   next);
                }
            }
        }
    }
}

std::size_t rounded_up(std::size_t n) {
    return (n + tile_columns - 1) / tile_columns * tile_columns;
}

// B is packed piece by piece, unless so few rows of A would use it that packing costs more than it gains. The first
// piece of the inner length starts from what the product starts from, every other one adds to C.
void multiply(const SmallProduct& x) {
    const bool rows_of_b = x.transpose_b == Transpose::no;
    const bool in_place = rows_of_b && x.m <= few && x.n % tile_columns == 0;
    Room& room = this_room();
    for (std::size_t j0 = 0; j0 < x.n; j0 += columns) {
        const std::size_t count = x.n - j0 < columns ? x.n - j0 : columns;
        for_pieces(x.k, [&](std::size_t p0, std::size_t length) {
            const float* const b = rows_of_b ? x.b + p0 * x.ldb + j0 : x.b + j0 * x.ldb + p0;
            Panels panels{b, tile_columns, x.ldb};
            if (!in_place) {
                pack(b, x.ldb, rows_of_b, length, count, tile_columns, room.b);
                panels = {room.b, length * tile_columns, tile_columns};
            }
            multiply_block(x, p0, length, j0, count, x.add || p0 > 0, panels, room);
        });
    }
}

// Packed for all columns: piece by piece of the inner length, panel by panel in it.
void pack_right(Transpose transpose_b, std::size_t n, std::size_t k, const float* b, std::size_t ldb, float* panels) {
    const bool rows_of_b = transpose_b == Transpose::no;
    for_pieces(k, [&](std::size_t p0, std::size_t length) {
        pack(rows_of_b ? b + p0 * ldb : b + p0, ldb, rows_of_b, length, n, tile_columns, panels + p0 * rounded_up(n));
    });
}

void multiply_packed(const SmallProduct& x, const PackedRight& right) {
    Room& room = this_room();
    for_pieces(x.k, [&](std::size_t p0, std::size_t length) {
        const float* const first = right.panels + p0 * rounded_up(right.columns) + right.first_column * length;
        multiply_block(x, p0, length, 0, x.n, x.add || p0 > 0, {first, length * tile_columns, tile_columns}, room);
    });
}
