package dialect

import "github.com/modelgateway/modelgateway/cluster/fault"

// Names are the names of a request's tools so far.
type Names map[string]bool

// Add adds the name of a tool, which param is the field of. Providers reject two tools of one name.
func (n Names) Add(name, param string) error {
	if name != "" && n[name] {
		return fault.Field(param, CodeTwice, "%s is the name of an earlier tool; give each tool a name of its own.", param)
	}
	n[name] = true
	return nil
}

// Calls are the ids of a request's tool calls so far.
type Calls map[string]bool

// CheckResult rejects the result of a call that is not among them, as providers do. param is the field of the
// id, and what is the caller's word for a call.
func (c Calls) CheckResult(id, param, what string) error {
	if c[id] {
		return nil
	}
	return fault.Field(param, CodeValue, "%s must be the id of %s before it.", param, what)
}
