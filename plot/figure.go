package plot

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// A Figure is a titled grid of panels.
type Figure struct {
	Title    string
	Subtitle string // under the title, "" for none
	Foot     string // under the panels, "" for none
	Columns  int    // panels in a row, 1 to 8; 0 is 4
	Panels   []Panel
}

// A Panel is one chart of a figure.
type Panel struct {
	// Heading starts a new row, with this text as a heading above it, unless
	// it is "".
	Heading string
	Title   string
	Note    string // under the title in small letters, "" for none
	Span    int    // columns that the panel takes, 1 to Figure.Columns; 0 is 1
	Chart   Chart  // never nil
}

// A Chart is a [Histogram], [Bars], [Lines] or a [Legend] of lines.
type Chart interface {
	// check returns what cannot be drawn, in words.
	check() error
	// height returns the height of the chart at a width, in pixels.
	height(width float64) float64
	// draw draws the chart into the box.
	draw(c *canvas, box box)
	// words returns the chart in words.
	words() string
}

// A box is a place on the page in pixels.
type box struct{ x, y, w, h float64 }

// The page, in pixels.
const (
	margin      = 24
	columnWidth = 268
	columnGap   = 26
	rowGap      = 22
	titleSize   = 17
	headingSize = 13.5
	panelSize   = 12.5 // panel titles
	labelSize   = 10.5 // all else
	panelHead   = 19   // from the top of a panel to its note
	noteLine    = 15
)

const defaultColumns, mostColumns = 4, 8

// WriteSVG writes f as one SVG document. A panel that cannot be drawn (no
// chart, a count below zero, a value that is not finite, more series than
// there are colours) is an error that names it, and nothing is written.
func (f Figure) WriteSVG(w io.Writer) error {
	columns := f.Columns
	if columns == 0 {
		columns = defaultColumns
	}
	if columns < 1 || columns > mostColumns {
		return fmt.Errorf("plot: figure %q: %d columns: want 1 to %d, or 0 for %d", f.Title, columns, mostColumns, defaultColumns)
	}
	for i, p := range f.Panels {
		if p.Chart == nil {
			return fmt.Errorf("plot: panel %d %q: no chart: set Chart to a Histogram, Bars, Lines or a Legend", i, p.Title)
		}
		if p.Span < 0 || p.Span > columns {
			return fmt.Errorf("plot: panel %d %q: spans %d columns: want 0 to %d", i, p.Title, p.Span, columns)
		}
		if err := p.Chart.check(); err != nil {
			return fmt.Errorf("plot: panel %d %q: %w", i, p.Title, err)
		}
	}
	var c canvas
	width := 2*margin + float64(columns)*columnWidth + float64(columns-1)*columnGap
	y := f.drawHead(&c, width)
	y = f.drawPanels(&c, columns, y)
	if f.Foot != "" {
		y += rowGap + labelSize
		c.text(margin, y, "note", "start", fit(f.Foot, labelSize, width-2*margin))
	}
	var doc bytes.Buffer
	fmt.Fprintf(&doc, `<svg xmlns="http://www.w3.org/2000/svg" class="assay-plot" role="img" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`+"\n",
		px(width), px(y+margin))
	fmt.Fprintf(&doc, "<title>%s</title>\n<desc>%s</desc>\n%s", escape(f.Title), escape(f.words()), style)
	fmt.Fprintf(&doc, `<rect class="page" width="%s" height="%s"/>`+"\n", px(width), px(y+margin))
	doc.Write(c.buf.Bytes())
	doc.WriteString("</svg>\n")
	_, err := w.Write(doc.Bytes())
	return err
}

// drawHead draws title and subtitle and returns where they end.
func (f Figure) drawHead(c *canvas, width float64) float64 {
	y := float64(margin)
	if f.Title != "" {
		y += titleSize
		c.text(margin, y, "title", "start", fit(f.Title, titleSize, width-2*margin))
		y += 6
	}
	if f.Subtitle != "" {
		y += labelSize + 2
		c.text(margin, y, "note", "start", fit(f.Subtitle, labelSize, width-2*margin))
		y += 6
	}
	return y + 6
}

// drawPanels places the panels from left to right, a row as high as its
// highest panel, and returns where the last row ends.
func (f Figure) drawPanels(c *canvas, columns int, y float64) float64 {
	at, row := 0, 0.0 // the next free column, and the height of the row so far
	for i, p := range f.Panels {
		span := max(p.Span, 1)
		if i > 0 && (at+span > columns || p.Heading != "") {
			y += row + rowGap
			at, row = 0, 0
		}
		if p.Heading != "" {
			c.rule(margin, y, margin+float64(columns)*columnWidth+float64(columns-1)*columnGap, y)
			c.text(margin, y+headingSize+8, "heading", "start", p.Heading)
			y += headingSize + 26
		}
		b := box{x: margin + float64(at)*(columnWidth+columnGap), y: y, w: float64(span)*columnWidth + float64(span-1)*columnGap}
		head := 0.0
		if p.Title != "" || p.Note != "" {
			head = panelHead
			c.text(b.x, b.y+panelSize-1, "panel", "start", fit(p.Title, panelSize, b.w))
		}
		if p.Note != "" {
			c.text(b.x, b.y+panelHead+labelSize-2, "note", "start", fit(p.Note, labelSize, b.w))
			head += noteLine
		}
		b.y += head
		b.h = p.Chart.height(b.w)
		p.Chart.draw(c, b)
		row = max(row, head+b.h)
		at += span
	}
	return y + row
}

// words returns the figure for those who cannot see it.
func (f Figure) words() string {
	var b strings.Builder
	if f.Subtitle != "" {
		b.WriteString(f.Subtitle + ".\n")
	}
	for _, p := range f.Panels {
		b.WriteString(p.Title)
		if p.Note != "" {
			b.WriteString(" (" + p.Note + ")")
		}
		if p.Title != "" || p.Note != "" {
			b.WriteString(": ")
		}
		b.WriteString(p.Chart.words() + ".\n")
	}
	b.WriteString(f.Foot)
	return strings.TrimSpace(b.String())
}
