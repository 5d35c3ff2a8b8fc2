package main

import (
	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
)

// size says how much to train with.
type size struct {
	texts  int // that are generated
	epochs int
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
	lb := newLabeller(words, letters, nil)
	var docs []document
	for i := range letters {
		d := document{text: letters[i].text, spans: lb.label(&letters[i])}
		docs = append(docs, d)
	}
	g := newGenerator(newPool(l, 1))
	for i := range letters {
		docs = append(docs, g.exchange(&docs[i]))
	}
	docs = append(docs, g.documents(n.texts)...)
	a := trainer{epochs: n.epochs, rare: 2, margin: 10, lexicons: lexicons, seed: 1}.train(docs)
	return lex, a.pruned(tagger.MostFeatures, 8), nil
}
