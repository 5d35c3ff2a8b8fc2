package main

import (
	"slices"

	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
)

// size says how much to train with.
type size struct {
	texts  int // that are generated
	epochs int
	models int // whose mean the weights are
}

// build returns the lexicon and the weights.
func build(l *lists, letters []letter, n size) (lex, weights []byte, err error) {
	texts := make([]string, len(letters))
	for i, m := range letters {
		texts[i] = m.text
	}
	words := lexicon(l, countCases(texts))
	lex = words.table()
	lexicons := make([]tagger.Lexicon, 0, 4)
	for part := range uint32(4) {
		some := words.without(func(hash uint32) bool { return hash>>7&3 == part }).table()
		lx, err := tagger.NewLexicon(string(some))
		if err != nil {
			return nil, nil, err
		}
		lexicons = append(lexicons, lx)
	}
	lb := newLabeller(words, letters, labels())
	var docs []document
	for i := range letters {
		d := document{text: letters[i].text, spans: lb.label(&letters[i])}
		docs = append(docs, d)
	}
	material := func(seed uint64) []document {
		g := newGenerator(newPool(l, seed))
		all := slices.Clone(docs)
		for i := range docs {
			all = append(all, g.exchange(&docs[i]))
		}
		return append(all, g.documents(n.texts)...)
	}
	tr := trainer{epochs: max(1, n.epochs/2), rare: 3, margin: 10, lexicons: lexicons, seed: 1}
	first, err := tagger.NewWeights(string(tr.train(material(1)).pruned(tagger.MostFeatures, 8)), tagger.Margins{Person: -180, NewPerson: -180, Location: -180, NewPlace: -180, Learned: 40})
	if err != nil {
		return nil, nil, err
	}
	whole, err := tagger.NewLexicon(string(lex))
	if err != nil {
		return nil, nil, err
	}
	guess(docs, whole, first, 100)
	tr.epochs = n.epochs
	var models []*averaged
	for i := range n.models {
		tr.seed = uint64(i + 1)
		models = append(models, tr.train(material(uint64(i+2))))
	}
	return lex, mean(models).pruned(tagger.MostFeatures, 8), nil
}
