"""Mistakes planted in src/report; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
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
