"""Mistakes planted in src/report; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("band-with-lower-edge-twice", "src/report/curves.cpp",
     "const double other = band_edge(plot, series.hi[i]);", "const double other = band_edge(plot, series.lo[i]);"),
    ("whiskers-reach-one-box", "src/report/box_figure.cpp",
     "const double reach = 1.5 * (upper - lower);", "const double reach = 1.0 * (upper - lower);"),
    ("median-is-the-lower-quartile", "src/report/box_figure.cpp",
     "quantile(sorted, 0.5)", "quantile(sorted, 0.25)"),
    ("csv-of-lines-drops-the-band", "src/report/csv.cpp",
     "row({series.x[i], series.y[i], series.lo[i], series.hi[i]})",
     "row({series.x[i], series.y[i], series.hi[i], series.lo[i]})"),
    ("sphere-mirrored", "src/report/sphere_figure.cpp",
     "-radius * dot(view.up, p)", "radius * dot(view.up, p)"),
    ("log-label-wrong-mantissa", "src/report/ruler.cpp",
     'return std::to_string(mantissa) + "×10"', 'return std::to_string(mantissa + 1) + "×10"'),
    ("heat-cells-read-by-columns", "src/report/heat_figure.cpp",
     "figure.values[i * nx + j]", "figure.values[j * nx + i]"),
    ("table-columns-cut", "src/report/text_table.cpp",
     "width[j] = std::max(width[j], columns(cells[i][j]));", "width[j] = columns(cells[i][j]);"),
    ("csv-of-five-numbers-starts-at-the-median", "src/report/csv.cpp",
     '{"min", "lower", "median", "upper", "max"}', '{"min", "median", "lower", "upper", "max"}'),
    ("blocks-are-sums-of-cells", "src/report/heat_figure.cpp",
     "return count > 0 ? sum / count :", "return count > 0 ? sum :"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("box-quantile-place", "src/report/box_figure.cpp",
     "share * static_cast<double>(sorted.size() - 1)", "share * static_cast<double>(sorted.size())"),
    ("heat-csv-columns-swapped", "src/report/csv.cpp",
     "figure.x_values[i % n], figure.y_values[i / n]", "figure.y_values[i / n], figure.x_values[i % n]"),
    ("tick-label-loses-digit", "src/report/ruler.cpp",
     "std::clamp(-exponent, 0, 15)", "std::clamp(-exponent - 1, 0, 15)"),
    ("colour-bar-upside-down", "src/report/heat_figure.cpp",
     "heat_colour((i + 0.5) / steps)", "heat_colour(1 - (i + 0.5) / steps)"),
    ("band-without-area", "src/report/line_figure.cpp",
     "px(slice->hi)", "px(slice->lo)"),
    ("text-plot-upside-down", "src/report/text_plot.cpp",
     "(1 - y.at(series.y[i])) * (canvas.height() - 1)", "y.at(series.y[i]) * (canvas.height() - 1)"),
    ("sphere-never-shows-the-end", "src/report/sphere_figure.cpp",
     "(2 * i * (n - 1) + (panels - 1)) / (2 * (panels - 1))", "i * (n - 1) / panels"),
    ("axis-range-forgets-upper-band", "src/report/curves.cpp",
     "y.add(figure.y.scale, series.hi[i]);", "y.add(figure.y.scale, series.lo[i]);"),
]
