package plot

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// palette is how many series can be told apart: the classes s0, s1 … of style.
const palette = 6

// style gives colours by class. Fills carry text of class "on" with a contrast
// of at least 4.5 in both modes. There are no CSS variables: renderers that
// make PDF out of SVG do not know them.
const style = `<style>
.assay-plot text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;font-size:10.5px;fill:#3d4650}
.assay-plot .title{font-size:17px;font-weight:600;fill:#14191f}
.assay-plot .heading{font-size:13.5px;font-weight:600;fill:#14191f}
.assay-plot .panel{font-size:12.5px;font-weight:600;fill:#14191f}
.assay-plot .note{fill:#5b6570}
.assay-plot .page{fill:#fff}
.assay-plot .grid{stroke:#e3e7eb}
.assay-plot .axis{stroke:#8b96a1}
.assay-plot .s0{fill:#1f5fa8}
.assay-plot .s1{fill:#b4530a}
.assay-plot .s2{fill:#5f6b76}
.assay-plot .s3{fill:#0f6f68}
.assay-plot .s4{fill:#7a3fa0}
.assay-plot .s5{fill:#846000}
.assay-plot .line{fill:none;stroke-width:1.6;stroke-linejoin:round}
.assay-plot .thin{stroke-width:1}
.assay-plot .point{stroke:#fff;stroke-width:.8}
.assay-plot .l0{stroke:#1f5fa8}
.assay-plot .l1{stroke:#b4530a}
.assay-plot .l2{stroke:#5f6b76}
.assay-plot .l3{stroke:#0f6f68}
.assay-plot .l4{stroke:#7a3fa0}
.assay-plot .l5{stroke:#846000}
.assay-plot .tail{fill:#7ba3d3}
.assay-plot .on{fill:#fff}
@media (prefers-color-scheme:dark){
.assay-plot text{fill:#c6ced6}
.assay-plot .title,.assay-plot .heading,.assay-plot .panel{fill:#f1f4f7}
.assay-plot .note{fill:#9aa5b0}
.assay-plot .page{fill:#14191f}
.assay-plot .grid{stroke:#2a323b}
.assay-plot .axis{stroke:#66717c}
.assay-plot .s0{fill:#7fb2ea}
.assay-plot .s1{fill:#f0a061}
.assay-plot .s2{fill:#a9b4bf}
.assay-plot .s3{fill:#5cc7bb}
.assay-plot .s4{fill:#c79be8}
.assay-plot .s5{fill:#e0be55}
.assay-plot .l0{stroke:#7fb2ea}
.assay-plot .l1{stroke:#f0a061}
.assay-plot .l2{stroke:#a9b4bf}
.assay-plot .l3{stroke:#5cc7bb}
.assay-plot .l4{stroke:#c79be8}
.assay-plot .l5{stroke:#e0be55}
.assay-plot .point{stroke:#14191f}
.assay-plot .tail{fill:#476a92}
.assay-plot .on{fill:#14191f}
}
</style>
`

// A canvas collects the elements of a drawing.
type canvas struct{ buf bytes.Buffer }

// text writes s with its baseline at y; anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	c.buf.WriteString(`<text x="` + px(x) + `" y="` + px(y) + `"`)
	if class != "" {
		c.buf.WriteString(` class="` + class + `"`)
	}
	if anchor != "start" {
		c.buf.WriteString(` text-anchor="` + anchor + `"`)
	}
	c.buf.WriteString(">" + escape(s) + "</text>\n")
}

// bar draws a filled rectangle that tells tip on hover.
func (c *canvas) bar(b box, class, tip string) {
	fmt.Fprintf(&c.buf, `<rect x="%s" y="%s" width="%s" height="%s" class="%s"><title>%s</title></rect>`+"\n",
		px(b.x), px(b.y), px(b.w), px(b.h), class, escape(tip))
}

// swatch draws a square of a legend.
func (c *canvas) swatch(x, y float64, class string) {
	fmt.Fprintf(&c.buf, `<rect x="%s" y="%s" width="9" height="9" class="%s"/>`+"\n", px(x), px(y), class)
}

// line draws a line of class grid or axis.
func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.buf, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// rule draws a line between parts of the figure.
func (c *canvas) rule(x1, y1, x2, y2 float64) { c.line(x1, y1, x2, y2, "grid") }

// px returns a length in pixels with at most two decimals.
func px(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// escape returns s as XML character data and attribute value. Characters that
// XML does not allow, and marks that turn the direction of the text around
// them, become U+FFFD; other control characters become blanks, except the end
// of a line.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n':
			b.WriteByte('\n')
		case unicode.IsControl(r):
			b.WriteByte(' ')
		case r == 0xFFFE, r == 0xFFFF, unicode.Is(unicode.Bidi_Control, r):
			b.WriteRune(utf8.RuneError)
		default: // invalid UTF-8 is read as U+FFFD
			b.WriteRune(r)
		}
	}
	return b.String()
}

// textWidth returns about how wide s is, at most: the figures are those of
// DejaVu Sans, which is wider than the other fonts that a system is likely to
// have.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0xFE30 && r <= 0xFFE6 || r >= 0x1F000):
			em++
		case strings.ContainsRune("iljtfrI.,:;'|!()[] ·", r):
			em += .38
		case strings.ContainsRune("mwMW%", r):
			em += .95
		case unicode.IsUpper(r):
			em += .72
		default:
			em += .63
		}
	}
	return em * size
}

// fit returns s, cut with an ellipsis if it is wider than width.
func fit(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	width -= textWidth("…", size)
	end, w := 0, 0.0
	for i, r := range s {
		w += textWidth(string(r), size)
		if w > width {
			break
		}
		end = i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n := utf8.DecodeRuneInString(s[i:])
			end = i + n
		}
	}
	return strings.TrimRight(s[:end], " ") + "…"
}
