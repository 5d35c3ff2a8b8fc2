package credential_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/credential"
)

// A key may stand in the query of a client of Google's; two that differ are rejected.
func TestAddQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"key=sk-one": "sk-one", "alt=sse&key=sk-one": "sk-one", "key=sk%2Done": "sk-one", "": "", "alt=sse": "", "xkey=sk-one": "", "key=": "", "key=sk-one&key=sk-two": "",
	} {
		var p credential.Presented
		p.AddQuery(query)
		if got, err := credential.Parse(p); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", query, got, err)
		}
	}
	var p credential.Presented
	p.Add(credential.HeaderGoogle, "sk-one")
	p.AddQuery("key=sk-two")
	if got, err := credential.Parse(p); err == nil {
		t.Errorf("of two keys it is %s", got)
	}
}
