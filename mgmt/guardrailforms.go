package mgmt

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// guardrailForms rejects empty lists of what the engines of a new guardrail look for. For protobuf they are the same as missing
// ones, which mean all, and their author may mean nothing. Changes take them, because records show them.
func guardrailForms(members map[string]jsontext.Value) error {
	var engines []struct {
		Config struct {
			Entities  jsontext.Value `json:"entities"`
			Detectors jsontext.Value `json:"detectors"`
		} `json:"config"`
	}
	_ = json.Unmarshal(members["engines"], &engines) // the operation's own checks say what is wrong with their form
	for i := range engines {
		c := &engines[i].Config
		for name, list := range map[string]jsontext.Value{"entities": c.Entities, "detectors": c.Detectors} {
			if bytes.Equal(bytes.Join(bytes.Fields(list), nil), []byte("[]")) {
				return fault.Field(field.At("engines", i)+".config."+name, "invalid_value", "%s is empty, and the engine would find nothing. Name some, or leave %s out to look for all.", name, name)
			}
		}
	}
	return nil
}
