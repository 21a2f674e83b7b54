// Seeing what flows through a model while it runs, without keeping it.
//
//     embed                     x0                                       [rows, dim]
//     blocks.L.attn.in          what attention is given                  [rows, dim]
//     blocks.L.attn.query       after biases, rotary positions, norms    [rows, heads*head_dim]
//     blocks.L.attn.key, .value                                          [rows, kv_heads*head_dim]
//     blocks.L.attn.scores      times the scale, before they become      [rows, columns] of [tokens, tokens]
//                               weights; minus infinity under the mask
//     blocks.L.attn.pattern     the weights, one head at a time          [rows, columns] of [tokens, tokens]
//     blocks.L.attn.out         after the output projection              [rows, dim]
//     blocks.L.attn.added       what the equation adds, after norms      [rows, dim]
//                               and coefficients (scheme/branches.hpp)
//     blocks.L.ffn.in, .out, .added                                      [rows, dim]
//     blocks.L.resid            the stream x after block L               [rows, dim]
//     readout                   what the head is given                   [rows, dim]
//     logits                    in blocks of rows                        [rows, vocab]
//     blocks.L.grad             in reverse: gradient of x after block L  [rows, dim]
//     embed.grad                in reverse: gradient of x0               [rows, dim]
//
// L counts from 0 and may be `*`. added, resid and grad are of the stream x; `.NAME` behind them means the stream NAME
// of the equation and `.*` every stream. Rows are those of all sequences, one after the other. One type of view serves
// all sites; it is valid during the call. Scores and patterns come as blocks of rows in rising order, sequence after
// sequence, with the columns that the mask leaves (zeros inside, all others are zero); different heads may be sent at
// the same time from different threads, one head never is. All other taps come one at a time. A branch that the
// equation multiplies by exactly 0 need not be run: it may send no in and out, and adds zeros.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::model {

enum class Site {
    embed,
    attn_in,
    query,
    key,
    value,
    scores,
    pattern,
    attn_out,
    attn_added,
    ffn_in,
    ffn_out,
    ffn_added,
    resid,
    readout,
    logits,
    grad,
    embed_grad
};

template <class Real>
struct TapView {
    Site site = Site::embed;
    std::size_t layer = 0;
    std::string_view stream = "x";
    std::size_t sequence = 0;  // of scores and patterns, whose rows count from the sequence's first
    std::size_t head = 0;      // of scores and patterns
    std::size_t first_row = 0;
    std::size_t rows = 0;
    std::size_t first_column = 0;
    std::size_t columns = 0;
    const Real* data = nullptr;
    std::size_t stride = 0;

    const Real* row(std::size_t i) const { return data + i * stride; }  // i < rows, counted from first_row
    std::string name() const;
};

template <class Real>
class Taps {
  public:
    using Consumer = std::function<void(const TapView<Real>&)>;

    // Throws Error(usage) for a name that is not in the list above.
    void add(std::string_view name, Consumer consumer);

    // Throws Error(usage) for a tap of a stream that is not among these.
    void check_streams(const std::vector<std::string>& streams) const;

    bool wants(Site site, std::size_t layer = 0, std::string_view stream = "x") const;
    bool wants_any_stream(Site site, std::size_t layer) const;
    void send(const TapView<Real>& view) const;
    // Sends [rows, columns] of a batch when it is wanted.
    void show(Site site, std::size_t layer, std::size_t rows, std::size_t columns, const Real* data, std::size_t stride,
              std::string_view stream = "x") const;

  private:
    struct Entry {
        Site site;
        bool every_layer;
        std::size_t layer;
        std::string stream;  // or *
        Consumer consumer;
        bool matches(Site s, std::size_t l) const { return site == s && (every_layer || layer == l); }
        bool matches(Site s, std::size_t l, std::string_view name) const {
            return matches(s, l) && (stream == "*" || stream == name);
        }
    };
    std::vector<Entry> entries_;
};

extern template struct TapView<float>;
extern template struct TapView<double>;
extern template class Taps<float>;
extern template class Taps<double>;

}  // namespace flyball::model
