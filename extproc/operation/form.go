package operation

import (
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/googleembed"
)

// Requests of some clients differ from those of a row in their form alone. They are rewritten before anything reads
// them, so that all stages know the form of the row only, and their responses and errors are rewritten
// at the end.

// addForms adds the operations whose callers have another form than their language.
func (t Table) addForms() {
	embeddings := *t[string(driver.Embeddings)]
	embeddings.Caller = googlecaller.Dialect{}
	for form, of := range map[string]googleembed.Form{
		"/embedContent": googleembed.EmbedContent, "/batchEmbedContents": googleembed.BatchEmbedContents, dataplane.FormPredict + string(driver.Embeddings): googleembed.Predict,
	} {
		op := embeddings
		op.Into, op.Outof = of.Into, of.Outof
		t[form] = &op
	}
	for _, path := range []driver.Endpoint{driver.Messages, driver.CountTokens} {
		op := *t[string(path)]
		op.Caller, op.Into = anthropic.Dialect{}, anthropic.FromVertex
		t[dataplane.FormVertex+string(path)] = &op
	}
	for form, streams := range map[string]bool{dataplane.FormInvoke: false, dataplane.FormInvokes: true} {
		op := *t[string(driver.Messages)]
		op.Caller, op.Betas, op.Blob = anthropic.BedrockErrors{}, anthropic.BedrockBetas, true
		op.Into = func(body []byte, model string) ([]byte, error) { return anthropic.FromBedrock(body, model, streams) }
		if op.PathStreams = streams; streams {
			op.Reframe, op.Framed = func() Reframer { return &eventstream.Frames{} }, eventstream.Media
		}
		t[form+string(driver.Messages)] = &op
	}
	count := *t[string(driver.CountTokens)]
	count.Caller, count.Into, count.Outof = converse.Dialect{}, anthropic.FromBedrockCount, anthropic.ToBedrockCount
	t[string(driver.ConverseCount)].Instead = func(body []byte) *Operation {
		if anthropic.IsBedrockCount(body) {
			return &count
		}
		return nil
	}
}
