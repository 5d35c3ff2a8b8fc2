package usage

import clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"

// Violation is what an engine of a guardrail has found in a request or response. It has no text.
type Violation struct {
	Guardrail string // its name
	Engine    string
	Hook      string // pre_call or post_call
	Entity    string // what was found, such as EMAIL_ADDRESS
	Action    string // what was done: anonymize, block, flag or remove
	Place     string // where, such as messages[2].content; empty for several places together
	Offset    int64  // of the first one in the text, in bytes
	Count     int64
}

// Sums adds violations to a list without their places, and returns it. It drops those of a new sort when
// the list has most.
func Sums(list, more []Violation, most int) []Violation {
	for _, v := range more {
		v.Place, v.Offset = "", 0
		if !Add(list, &v) && len(list) < most {
			list = append(list, v)
		}
	}
	return list
}

// Add adds the count of a violation to that of the same sort at the same place, and reports whether the
// list has one.
func Add(list []Violation, v *Violation) bool {
	for i := range list {
		o := &list[i]
		if o.Guardrail == v.Guardrail && o.Engine == v.Engine && o.Hook == v.Hook && o.Entity == v.Entity && o.Action == v.Action && o.Place == v.Place {
			o.Count += v.Count
			return true
		}
	}
	return false
}

func encodeViolations(dst []*clusterv1.GuardrailViolation, list []Violation) []*clusterv1.GuardrailViolation {
	for i := range list {
		v := &list[i]
		dst = append(dst, &clusterv1.GuardrailViolation{
			Guardrail: Text(v.Guardrail), Engine: Text(v.Engine), Hook: Text(v.Hook), Entity: Text(v.Entity),
			Action: Text(v.Action), Count: v.Count, Place: Text(v.Place), Offset: v.Offset,
		})
	}
	return dst
}

func decodeViolations(list []*clusterv1.GuardrailViolation) []Violation {
	if len(list) == 0 {
		return nil
	}
	out := make([]Violation, len(list))
	for i, m := range list {
		out[i] = Violation{
			Guardrail: m.GetGuardrail(), Engine: m.GetEngine(), Hook: m.GetHook(), Entity: m.GetEntity(),
			Action: m.GetAction(), Count: m.GetCount(), Place: m.GetPlace(), Offset: m.GetOffset(),
		}
	}
	return out
}
