package googlecaller

import (
	"slices"

	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// CountEdits is WithoutSealed for a count of tokens. The whole request in it repeats the model.
func CountEdits(edits []splice.Edit, body []byte, model string) []splice.Edit {
	edits = WithoutSealed(edits, body, model)
	named, err := gemini.ModelPath(model)
	if err != nil {
		return edits // the address has the same error
	}
	for name, at := range splice.Members(body, splice.Span{End: len(body)}) {
		if contents.Camel(string(name)) != "generateContentRequest" {
			continue
		}
		for member, value := range splice.Members(body, at) {
			if string(member) == "model" {
				edits = append(edits, splice.Edit{Off: value.Off, End: value.End, With: string(splice.Quote(nil, named))})
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b splice.Edit) int { return a.Off - b.Off })
	return edits
}
