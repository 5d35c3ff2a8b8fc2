// Package names finds the names of persons and places in texts, without a network: PERSON and LOCATION. It has
// the weights of a tagger and a lexicon, which tools/nametagger makes. DESIGN.md says how, and how well it does.
package names
