// Sums of rows with coefficients. Included by row_kernels_body.inl.

template <class Real>
void combine_scalars(std::size_t count, const RowTerm<Real>* terms, std::size_t used, Real* __restrict out) {
    const Real* a = terms[0].source;
    const Real ca = terms[0].scale;
    if (used == 1) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = ca * a[i];
        }
        return;
    }
    const Real* b = terms[1].source;
    const Real cb = terms[1].scale;
    if (used == 2) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = ca * a[i] + cb * b[i];
        }
        return;
    }
    const Real* c = terms[2].source;
    const Real cc = terms[2].scale;
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = ca * a[i] + cb * b[i] + cc * c[i];
    }
}

template <class Real>
void accumulate(std::size_t rows, std::size_t dim, const RowTerm<Real>& term, Real* __restrict out) {
    const Real* __restrict source = term.source;
    if (term.channel == nullptr) {
        const std::size_t count = rows * dim;
        if (source == nullptr) {
            for (std::size_t i = 0; i < count; ++i) {
                out[i] += term.scale;
            }
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                out[i] += term.scale * source[i];
            }
        }
        return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
        Real* __restrict o = out + row * dim;
        if (source == nullptr) {
            for (std::size_t k = 0; k < dim; ++k) {
                o[k] += term.channel[k];
            }
        } else {
            const Real* __restrict s = source + row * dim;
            for (std::size_t k = 0; k < dim; ++k) {
                o[k] += term.channel[k] * s[k];
            }
        }
    }
}

// The first up to three plain terms in one pass, which is all that x + dt*f, a lerp or a bias-free block has; whatever
// follows is added in passes of its own. The order of additions is that of the terms.
template <class Real>
void combine(std::size_t rows, std::size_t dim, const RowTerm<Real>* terms, std::size_t count, Real* out) {
    std::size_t fused = 0;
    while (fused < count && fused < 3 && terms[fused].source != nullptr && terms[fused].channel == nullptr) {
        ++fused;
    }
    if (fused == 0) {
        for (std::size_t i = 0; i < rows * dim; ++i) {
            out[i] = 0;
        }
    } else {
        combine_scalars(rows * dim, terms, fused, out);
    }
    for (std::size_t i = fused; i < count; ++i) {
        accumulate(rows, dim, terms[i], out);
    }
}
