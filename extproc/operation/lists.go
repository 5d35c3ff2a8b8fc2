package operation

import (
	"errors"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// everyVector checks that there is an embedding of each input, in the order of the inputs: callers
// match them by their place.
func everyVector(facts *splice.Request, reply *splice.ReplyFacts) error {
	switch {
	case reply.Items != facts.Inputs:
		return errors.New("it has another number of embeddings than the request has inputs")
	case !reply.Ordered:
		return errors.New("its embeddings are in another order than the inputs")
	}
	return nil
}

// vectors returns a response whose embeddings have the requested form. Many providers have one
// form only.
func vectors(facts *splice.Request, reply *splice.ReplyFacts, body []byte) []byte {
	text := string(facts.Raw(splice.EncodingFormat)) == `"base64"`
	if reply.Items == 0 || text == reply.Base64 {
		return body
	}
	return splice.Vectors(body, text)
}

// pictures returns the number of requested pictures.
func pictures(facts *splice.Request) usage.Tokens { return usage.Tokens{Images: facts.N} }

// documentsPerUnit is the number of documents that a provider ranks for one search unit. See
// https://docs.cohere.com/docs/how-does-cohere-pricing-work.
const documentsPerUnit = 100

// searchUnits returns the search units of a ranking.
func searchUnits(facts *splice.Request) usage.Tokens {
	return usage.Tokens{SearchQueries: int64((facts.Inputs + documentsPerUnit - 1) / documentsPerUnit)}
}
