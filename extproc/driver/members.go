package driver

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// RejectMembers rejects a request with one of the members, unless the deployment drops what its provider lacks:
// then it removes them. A member that is null is removed.
func RejectMembers(o *splice.Object, t Target, provider string, names ...string) error {
	for _, name := range names {
		if o.Get(name) != nil && !t.DropParams {
			return Unsupported(name, provider)
		}
		o.Remove(name)
	}
	return nil
}

// Elements returns the elements of a list, and any other value as the only one. raw must be JSON that a scan has accepted: names
// of a nested object may occur twice, which is the provider's to reject.
func Elements(raw jsontext.Value) []jsontext.Value {
	var list []jsontext.Value
	if raw.Kind() != '[' || json.Unmarshal(raw, &list, jsontext.AllowDuplicateNames(true)) != nil {
		return []jsontext.Value{raw}
	}
	return list
}

// RenameMember gives a member another name, unless there is one with that name. A member that is null is removed.
func RenameMember(o *splice.Object, name, to string) {
	value := o.Get(name)
	o.Remove(name)
	if value != nil && o.Get(to) == nil {
		o.Set(to, value)
	}
}

// UnderVersion returns a base path that ends with a version, such as v1. Operators like to configure the
// whole address of an endpoint: what is before one of the ends counts.
func UnderVersion(base, version string, ends ...string) string {
	base = strings.TrimRight(base, "/")
	for _, end := range ends {
		if before, ok := strings.CutSuffix(base, end); ok {
			base = before
			break
		}
	}
	if !strings.Contains(base+"/", "/"+version+"/") {
		base += "/" + version
	}
	return base
}
