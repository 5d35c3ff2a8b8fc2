package main

import (
	"math/rand/v2"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
)

// Kinds of spans.
const (
	spanPerson = iota + 1
	spanPlace
	spanUnknown // may be anything; nothing is learned from it
)

// span is a labelled part of a text, in bytes.
type span struct{ start, end, kind int }

// document is a labelled text. Its spans are in order.
type document struct {
	text  string
	spans []span
}

const (
	indexBits = 22
	tags      = tagger.Tags
)

// model is the weights in training, by feature and tag. Sums are exact, so training gives the same bytes everywhere.
type model struct {
	weights [][tags]int32
	totals  [][tags]int64 // of weights times the step of each change
	counts  []uint16
	step    int64
	margin  int32
}

func newModel(margin int32) *model {
	return &model{weights: make([][tags]int32, 1<<indexBits), totals: make([][tags]int64, 1<<indexBits), counts: make([]uint16, 1<<indexBits), margin: margin}
}

func index(feature uint32) uint32 { return feature & (1<<indexBits - 1) }

// teacher answers a tagger from the labels of a document, and corrects the model.
type teacher struct {
	m    *model
	doc  *document
	next int // the first span that does not end before the candidate
	rare uint16
}

// gold returns the tag of a candidate by the labels, and whether it is known.
func (t *teacher) gold(c *tagger.Candidate) (tagger.Tag, bool) {
	for t.next < len(t.doc.spans) && t.doc.spans[t.next].end <= c.Start {
		t.next++
	}
	for n := t.next; n > 0 && t.doc.spans[n-1].end > c.Start; n-- {
		t.next = n - 1
	}
	if t.next == len(t.doc.spans) || t.doc.spans[t.next].start >= c.End {
		return tagger.Other, true
	}
	s := t.doc.spans[t.next]
	begin, inside := tagger.Person, tagger.PersonInside
	switch s.kind {
	case spanPlace:
		begin, inside = tagger.Location, tagger.LocationInside
	case spanUnknown:
		return tagger.Other, false
	}
	switch {
	case c.Start > s.start && c.Allowed.Has(inside):
		return inside, true
	case c.Allowed.Has(begin):
		return begin, true
	}
	return tagger.Other, true
}

func (t *teacher) choose(c *tagger.Candidate) (tagger.Tag, int32) {
	m := t.m
	var score [tags]int32
	for _, f := range c.Features {
		if i := index(f); m.counts[i] >= t.rare {
			w := &m.weights[i]
			for tag := range score {
				score[tag] += w[tag]
			}
		}
	}
	best := tagger.Other
	for tag := tagger.Tag(1); tag < tags; tag++ {
		if c.Allowed.Has(tag) && score[tag] > score[best] {
			best = tag
		}
	}
	gold, known := t.gold(c)
	if !known {
		return best, 0
	}
	rival, found := tagger.Other, false
	for tag := range tagger.Tag(tags) {
		if tag != gold && c.Allowed.Has(tag) && (!found || score[tag] > score[rival]) {
			rival, found = tag, true
		}
	}
	m.step++
	if found && score[gold]-score[rival] <= m.margin {
		for _, f := range c.Features {
			if i := index(f); m.counts[i] >= t.rare {
				m.weights[i][gold]++
				m.weights[i][rival]--
				m.totals[i][gold] += m.step
				m.totals[i][rival] -= m.step
			}
		}
	}
	return best, 0
}

// trainer says how to train.
type trainer struct {
	epochs   int
	rare     int   // a feature that is seen less often is left out
	margin   int32 // of a decision that needs no correction
	lexicons []tagger.Lexicon
	seed     uint64
}

// train returns the averaged weights, by feature, of a model that was trained with the documents.
func (t trainer) train(docs []document) *averaged {
	m := newModel(t.margin)
	tg := make([]*tagger.Tagger, len(t.lexicons))
	for i, l := range t.lexicons {
		tg[i] = tagger.New(l)
	}
	for i := range docs {
		count := func(c *tagger.Candidate) (tagger.Tag, int32) {
			for _, f := range c.Features {
				if i := index(f); m.counts[i] < 1<<16-1 {
					m.counts[i]++
				}
			}
			tag, _ := (&teacher{m: m, doc: &docs[i]}).gold(c)
			return tag, 0
		}
		g := tg[i%len(tg)]
		g.Reset()
		g.Scan(tagger.Text{Bytes: []byte(docs[i].text), Ends: true}, 0, count, nil)
	}
	random := rand.New(rand.NewPCG(t.seed, 1)) //nolint:gosec // the same order each time
	order := make([]int, len(docs))
	for i := range order {
		order[i] = i
	}
	for epoch := range t.epochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			teach := &teacher{m: m, doc: &docs[i], rare: uint16(t.rare)}
			g := tg[(i+epoch)%len(tg)]
			g.Reset()
			g.Scan(tagger.Text{Bytes: []byte(docs[i].text), Ends: true}, 0, teach.choose, nil)
		}
	}
	return m.average()
}

// guess decides what unknown spans are, by a model that was trained without them. Where the model is
// not certain, they stay unknown.
func guess(docs []document, lexicon tagger.Lexicon, weights tagger.Weights, certain int32) {
	g := tagger.New(lexicon)
	for i := range docs {
		d := &docs[i]
		sure := map[int]bool{} // starts of candidates that are no names
		choose := func(c *tagger.Candidate) (tagger.Tag, int32) {
			tag, margin := weights.Choose(c)
			if tag == tagger.Other && margin >= certain {
				sure[c.Start] = true
			}
			return tag, margin
		}
		g.Reset()
		names, _ := g.Scan(tagger.Text{Bytes: []byte(d.text), Ends: true}, 0, choose, nil)
		var out []span
		for k, n := 0, 0; k < len(d.spans); k++ {
			s := d.spans[k]
			if s.kind != spanUnknown {
				out = append(out, s)
				continue
			}
			for n < len(names) && names[n].End <= s.start {
				n++
			}
			switch {
			case n < len(names) && names[n].Start < s.end:
				name := names[n]
				last := 0
				if len(out) > 0 {
					last = out[len(out)-1].end
				}
				if name.Margin >= certain && name.Start >= last {
					s = span{name.Start, name.End, int(spanPerson)}
					if name.Tag == tagger.Location {
						s.kind = spanPlace
					}
					for k+1 < len(d.spans) && d.spans[k+1].start < s.end {
						k++
					}
				}
				out = append(out, s)
			case !sure[s.start]:
				out = append(out, s)
			}
		}
		d.spans = out
	}
}

// averaged is the average of the weights over all steps, relative to those of no name, times the steps.
type averaged struct {
	index   []uint32
	weights [][tags - 1]int64
	steps   int64
}

func (m *model) average() *averaged {
	out := &averaged{steps: m.step}
	for i := range m.weights {
		var sum [tags]int64
		any := false
		for tag := range sum {
			sum[tag] = int64(m.weights[i][tag])*(m.step+1) - m.totals[i][tag]
			any = any || sum[tag] != 0
		}
		if !any {
			continue
		}
		var w [tags - 1]int64
		for tag := range w {
			w[tag] = sum[tag+1] - sum[0]
		}
		out.index, out.weights = append(out.index, uint32(i)), append(out.weights, w)
	}
	return out
}

// mean returns the mean of models: each was trained with other names in another order, and what they agree on stays.
func mean(models []*averaged) *averaged {
	sums := make([][tags - 1]int64, 1<<indexBits)
	out := &averaged{}
	for _, m := range models {
		for i, index := range m.index {
			for tag, w := range m.weights[i] {
				// A model's weights are in its own steps. Those of all models get the same unit, without fractions.
				sums[index][tag] += w * unitSteps / m.steps
			}
		}
	}
	out.steps = unitSteps * int64(len(models))
	for i := range sums {
		if sums[i] != [tags - 1]int64{} {
			out.index, out.weights = append(out.index, uint32(i)), append(out.weights, sums[i])
		}
	}
	return out
}

// unitSteps is what a weight of 1 is in the sums of mean.
const unitSteps = 1 << 16

// pruned is the weights that ship: the strongest ones, as bytes.
func (a *averaged) pruned(slots, unit int) []byte {
	strength := func(i int) int64 {
		var s int64
		for _, w := range a.weights[i] {
			s = max(s, w, -w)
		}
		return s
	}
	order := make([]int, len(a.index))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if sx, sy := strength(x), strength(y); sx != sy {
			if sx > sy {
				return -1
			}
			return 1
		}
		return x - y
	})
	order = order[:min(len(order), slots)]
	var features []tagger.Feature
	for _, i := range order {
		f := tagger.Feature{Index: a.index[i]}
		zero := true
		for tag, w := range a.weights[i] {
			q := (w*int64(unit)*2 + a.steps) / (2 * a.steps)
			if w < 0 {
				q = -((-w*int64(unit)*2 + a.steps) / (2 * a.steps))
			}
			f.Weights[tag] = int8(max(-127, min(127, q)))
			zero = zero && f.Weights[tag] == 0
		}
		if !zero {
			features = append(features, f)
		}
	}
	return tagger.MakeWeights(features)
}
