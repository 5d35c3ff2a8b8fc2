package dataplane_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/dataplane"
)

// TestOperationsAreInference: each path of an operation is in the group of routes of inference, also
// with the model in it, and the paths of management are not.
func TestOperationsAreInference(t *testing.T) {
	for _, path := range dataplane.Paths() {
		if !dataplane.IsInference(path) {
			t.Errorf("%s is not inference", path)
		}
	}
	for _, o := range dataplane.Operations() {
		if o.Method != "" || o.Alone { // of Google's, or of Cohere's
			continue
		}
		path := "/openai/deployments/a%2Fb" + o.Path
		if model, rest, ok := dataplane.PathModel(path); !ok || model != "a%2Fb" || rest != o.Path || !dataplane.IsInference(path) {
			t.Errorf("%s: %s, %s, %v", path, model, rest, ok)
		}
	}
	for _, path := range []string{"/", "/key/info", "/v1/models", "/chat", "/model/new", "/v1/chatty"} {
		if _, _, ok := dataplane.PathModel(path); ok || dataplane.IsInference(path) {
			t.Errorf("%s is inference", path)
		}
	}
	for _, path := range []string{"/engines//embeddings", "/engines/a", "/openai/deployments/a/models"} {
		if model, rest, ok := dataplane.PathModel(path); ok {
			t.Errorf("%s names the model %q and %s", path, model, rest)
		}
	}
}
