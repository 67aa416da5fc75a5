// Package plot draws small figures as SVG: a grid of panels, each with a
// histogram, horizontal bars (plain, grouped, or stacked as shares) or lines
// with intervals.
//
//	f := plot.Figure{Title: "Corpus", Panels: []plot.Panel{{
//		Title: "Calls per record",
//		Chart: plot.Histogram{Y: "records", Bins: []plot.Bin{{From: 1, To: 1, Count: 9}}},
//	}}}
//	err := f.WriteSVG(w)
//
// The same figure gives the same bytes on every machine. Colours follow the
// reader's light or dark mode by a media query; a renderer that knows none
// draws the light form, so a figure can go into a paper as it is. A title and
// a description in words come with every figure for those who cannot see it,
// and each bar tells its exact value on hover. All text is escaped: labels may
// come from anywhere.
package plot
