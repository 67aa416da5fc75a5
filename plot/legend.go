package plot

import (
	"fmt"
	"strings"
)

// A Legend names the series of the charts beside it, once for all of them. It
// shows them as a [Lines] chart does: in their order, by colour and by shape.
type Legend struct {
	Names []string // at most six
}

func (l Legend) check() error {
	if len(l.Names) > MostSeries {
		return fmt.Errorf("%d series: only %d can be told apart", len(l.Names), MostSeries)
	}
	return nil
}

func (l Legend) height(width float64) float64 {
	return legendHeight * float64(len(legendRows(l.Names, lineKey, width)))
}

func (l Legend) draw(c *canvas, out box) {
	drawLegend(c, l.Names, lineKey, out, func(s int, x, y float64) {
		c.stroke([]point{{x, y}, {x + lineKey - 6, y}}, s)
		c.marker(point{x + (lineKey-6)/2, y}, s, "")
	})
}

func (l Legend) words() string {
	if len(l.Names) == 0 {
		return "nothing to show"
	}
	words := make([]string, len(l.Names))
	for s, name := range l.Names {
		words[s] = name + " by " + shapes[s].name
	}
	return strings.Join(words, "; ")
}

// What stands before a name of a legend takes so many pixels.
const (
	barKey  = 13
	lineKey = 34
	keyGap  = 16 // after a name
)

// A legendName is a name of a legend and where it stands in its row.
type legendName struct {
	series int
	x      float64
	text   string
}

// legendRows places names in rows no wider than width, each after a key. A name
// that is wider than a row is cut.
func legendRows(names []string, key, width float64) [][]legendName {
	var rows [][]legendName
	x := 0.0
	for s, name := range names {
		text := fit(name, labelSize, width-key)
		w := key + textWidth(text, labelSize)
		if s == 0 || x+w > width {
			rows = append(rows, nil)
			x = 0
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], legendName{s, x, text})
		x += w + keyGap
	}
	return rows
}

// drawLegend draws the names from the top of out on. The function draws the key
// of a series, from x on and around y.
func drawLegend(c *canvas, names []string, key float64, out box, draw func(series int, x, y float64)) {
	for i, row := range legendRows(names, key, out.w) {
		y := out.y + float64(i)*legendHeight
		for _, n := range row {
			draw(n.series, out.x+n.x, y+4.5)
			c.text(out.x+n.x+key, y+8.5, "", "start", n.text)
		}
	}
}
