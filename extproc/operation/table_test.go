package operation

import (
	"testing"

	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Each operation of the table must have the code that reads its requests, and must be found
// at each of its paths.
func TestEveryOperationHasItsReader(t *testing.T) {
	t.Parallel()
	byPath := NewTable()
	for _, path := range dataplane.Paths() {
		switch op := byPath[path]; {
		case op == nil:
			t.Errorf("POST %s has no operation", path)
		case op.Language == nil:
			t.Errorf("operation %s of POST %s lacks a language", op.CallType, path)
		case op.Scan == nil || op.Texts == texts.Reader{}:
			t.Errorf("operation %s of POST %s lacks a scanner or a reader of texts", op.CallType, path)
		}
	}
}
