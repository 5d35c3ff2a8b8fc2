package splice_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// TestReference finds the first item that only names a stored one.
func TestReference(t *testing.T) {
	const message = `{"role":"user","content":"item_reference"}`
	for input, want := range map[string]int{
		`"item_reference"`: -1,
		`null`:             -1,
		`{"id":"a"}`:       -1,
		`[]`:               -1,
		`[` + message + `,{"type":"message","role":"user","content":[{"type":"item_reference"}]}]`: -1,
		`[` + message + `,{"type":"item_reference","id":"a"},{"type":"item_reference"}]`:           1,
		`[{"id":"a","type":"item\u005freference"}]`:                                                0,
		`[{"id":"a"}]`:                                 0,
		`[{"id":"a","type":null}]`:                     0,
		`["item_reference",` + message + `,{"id":""}]`: 2,
		`[{"role":null,"id":"a"}]`:                     0,
		`[{"type":"item_reference","type":"message"}]`: -1, // the last member with a name counts
		`[{"type":"function_call","call_id":"a","name":"f","arguments":"{\"type\":\"item_reference\"}"}]`: -1,
	} {
		var r splice.Request
		if err := splice.ScanModel([]byte(`{"model":"m","input":`+input+`}`), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.Reference(); got != want {
			t.Errorf("%s: item %d, want %d", input, got, want)
		}
	}
	var r splice.Request
	if err := splice.ScanModel([]byte(`{"model":"m","conversation":null,"previous_response_id":""}`), &r); err != nil {
		t.Fatal(err)
	}
	if r.Reference() != -1 || r.Given(splice.Conversation) || !r.Given(splice.PreviousResponse) || r.Given(splice.Input) {
		t.Errorf("input %d, conversation %t, previous_response_id %t", r.Reference(), r.Given(splice.Conversation), r.Given(splice.PreviousResponse))
	}
}

// TestResponseIDs finds the ids of a response, and of no item.
func TestResponseIDs(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"id":"r","previous_response_id":"p","output":[{"id":"i"}]}`:   {`"r"`, `"p"`},
		`{"output":[{"id":"i","previous_response_id":"j"}]}`:            {},
		`{"id":"","previous_response_id":null}`:                         {},
		`{"id":1,"previous_response_id":{"id":"p"}}`:                    {},
		`{"id":"r","id":"s","previous_response_id":"p","id":"\u0074"}`:  {`"\u0074"`, `"p"`},
		`{"id":"r","previous_response_id":"p","id":2,"conversation":1}`: {"", `"p"`},
	} {
		var whole splice.ReplyFacts
		if err := splice.Response([]byte(body), &whole); err != nil {
			t.Fatal(err)
		}
		if got := [2]string{string(whole.ID.Of([]byte(body))), string(whole.Previous.Of([]byte(body)))}; got != want {
			t.Errorf("%s has %q, want %q", body, got, want)
		}
		event := `{"id":"e","type":"response.created","previous_response_id":"e","response":` + body + `}`
		var facts splice.ChunkFacts
		if err := splice.ResponseEvent([]byte(event), &facts); err != nil {
			t.Fatal(err)
		}
		if got := [2]string{string(facts.ID.Of([]byte(event))), string(facts.Previous.Of([]byte(event)))}; got != want {
			t.Errorf("%s has %q, want %q", event, got, want)
		}
	}
}
