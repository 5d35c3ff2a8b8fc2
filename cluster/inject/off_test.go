//go:build !inject

package inject_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// TestWithoutTheTag: whatever the environment says, a binary that was built without the
// tag has no bug.
func TestWithoutTheTag(t *testing.T) {
	t.Parallel()
	for _, name := range append(inject.Defects(), "", "other") {
		out, err := process(t.Context(), "defects", inject.DefectVariable+"="+name).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%q: %v %s", name, err, out)
		}
	}
}
