package main

import (
	_ "embed"
	"strings"
)

//go:embed labels.txt
var labelLines string

// labels returns the kinds of words of the mails, as people have judged them.
func labels() map[string]int {
	out := map[string]int{}
	kind := 0
	for line := range strings.SplitSeq(labelLines, "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line == "[person]":
			kind = spanPerson
		case line == "[place]":
			kind = spanPlace
		case line == "[none]":
			kind = 0
		default:
			for word := range strings.SplitSeq(line, ";") {
				if _, twice := out[word]; !twice {
					out[word] = kind
				}
			}
		}
	}
	return out
}
