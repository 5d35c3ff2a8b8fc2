package googlecaller

import (
	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Reply is contents.Reply, with the searches that Google charges for.
func Reply(body []byte, f *splice.ReplyFacts) error {
	err := contents.Reply(body, f)
	f.Tokens.SearchQueries = charged(f, body)
	return err
}

// Event is Reply for the data of an event.
func Event(data []byte, f *splice.ChunkFacts) error {
	err := contents.Event(data, f)
	f.Tokens.SearchQueries = charged(&f.ReplyFacts, data)
	return err
}

// charged returns the searches of a response that count: before version 3 Google charges for a response with
// searches, however many there were.
func charged(f *splice.ReplyFacts, body []byte) int64 {
	n := f.Tokens.SearchQueries
	if n > 1 && !gemini.Features(string(splice.Plain(f.Model.Of(body)))).SignedCalls {
		return 1
	}
	return n
}
