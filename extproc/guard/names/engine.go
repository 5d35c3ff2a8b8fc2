package names

import (
	"context"
	_ "embed"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// The entities that the engine finds.
const (
	Person   = "PERSON"
	Location = "LOCATION"
)

// Both files are tables that are used as they are, so an engine costs nothing to make.
var (
	//go:embed lexicon.bin
	lexiconTable string
	//go:embed weights.bin
	weightsTable string
)

// Engine finds names of persons and places.
type Engine struct {
	lexicon tagger.Lexicon
	weights tagger.Weights
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine.
func New() *Engine {
	lexicon, err := tagger.NewLexicon(lexiconTable)
	if err != nil {
		panic(err) // the file is part of the program
	}
	weights, err := tagger.NewWeights(weightsTable, margins())
	if err != nil {
		panic(err)
	}
	return &Engine{lexicon: lexicon, weights: weights}
}

// margins speak against each name, since training gives most of what it can find: more so if no list has the name, as training
// hides part of the lists. They give that back if the name was found before.
func margins() tagger.Margins {
	return tagger.Margins{Person: -150, NewPerson: -275, Location: -180, NewPlace: -330, Learned: 260}
}

// Scanner returns a scanner for the texts of one request.
func (e *Engine) Scanner() engine.Scanner {
	return &scanner{tagger: tagger.New(e.lexicon), weights: e.weights}
}

// scanner finds the names in the texts of one request.
type scanner struct {
	tagger  *tagger.Tagger
	weights tagger.Weights
	names   []tagger.Name
	fresh   bool // nothing of the text was read
}

// Begin begins another text.
func (s *scanner) Begin(texts.Kind, texts.Role) {
	s.tagger.Begin()
	s.fresh = true
}

// ReadsLabels says that a label is among the tokens before a name.
func (s *scanner) ReadsLabels() {}

// Scan appends the names in text to found.
func (s *scanner) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	var decided int
	if s.fresh && at > 0 {
		_, _ = s.tagger.Scan(tagger.Text{Bytes: text[:at], Ends: true}, 0, noName, nil)
	}
	s.fresh = false
	s.names, decided = s.tagger.Scan(tagger.Text{Bytes: text, Ends: end}, at, s.weights.Choose, s.names[:0])
	for _, n := range s.names {
		entity := Person
		if n.Tag == tagger.Location {
			entity = Location
		}
		found = append(found, engine.Finding{Start: n.Start, End: n.End, Entity: entity, Score: score(n.Margin)})
	}
	return found, decided, nil
}

// noName is the tag of all words of a label.
func noName(*tagger.Candidate) (tagger.Tag, int32) { return tagger.Other, 0 }

// Fork returns a scanner that knows the names that this one has found.
func (s *scanner) Fork() engine.Scanner {
	return &scanner{tagger: s.tagger.Fork(), weights: s.weights}
}

// Reset forgets everything.
func (s *scanner) Reset() { s.tagger.Reset() }

// half is the margin at which the score is in the middle between the lowest and the highest one.
const half = 200

// score returns how certain a name is: 0.5 if another tag was as good, towards 1 the larger the margin is.
func score(margin int32) float32 {
	return 0.5 + 0.5*float32(margin)/float32(margin+half)
}
