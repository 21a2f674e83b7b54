// tanh, erf and exp one by one, for where there are no vector versions. Included inside a namespace, as the body is.

template <class Real>
void tanh_all(std::size_t count, Real* x) {
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = std::tanh(x[i]);
    }
}
template <class Real>
void erf_all(std::size_t count, Real* x) {
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = std::erf(x[i]);
    }
}
template <class Real>
void exp_all(std::size_t count, Real* x) {
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = std::exp(x[i]);
    }
}
