package operation

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Counted returns the gateway's own response to a request for a count of tokens, in the caller's form.
func (o *Operation) Counted(n int64) []byte {
	body := driver.TokenCount(o.Endpoint, n)
	if o.Outof == nil {
		return body
	}
	out, err := o.Outof(body)
	if err != nil { // it is the response of an endpoint that counts nothing
		return body
	}
	return out
}

// counted returns what reads a complete response that is a count of tokens: an object with that member. Otherwise it
// is like splice.Reply.
func counted(member string) func(body []byte, f *splice.ReplyFacts) error {
	return func(body []byte, f *splice.ReplyFacts) error {
		*f = splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
		if err := splice.Check(body); err != nil {
			return err
		}
		found := false
		for name, at := range splice.Members(body, splice.Span{End: len(body)}) {
			switch string(name) {
			case member:
				_, found = splice.Whole(at.Of(body), usage.Limit)
			case "error":
				if f.Error = at; string(at.Of(body)) == "null" {
					f.Error = splice.Span{}
				}
			}
		}
		if !found && !f.HasError() {
			return fault.New(fault.Upstream, "invalid_provider_response", "The provider responded without a count of tokens.")
		}
		return nil
	}
}
