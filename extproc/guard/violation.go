package guard

import "github.com/modelgateway/modelgateway/cluster/usage"

// maxViolations bounds the records of one request. What is found beyond them counts in one record of its
// guardrail, engine, hook, entity and action, without a place.
const maxViolations = 100

// record notes a finding. Findings of one sort at one place share a record, which has the offset of the first.
func (s *Screen) record(c *chain, u *unit, entity string, action Action, offset int) {
	place := ""
	if c.place != nil && len(s.violations) < maxViolations {
		place = c.place()
	}
	s.note(&usage.Violation{
		Guardrail: u.guardrail, Engine: u.name, Hook: c.hook, Entity: entity, Action: string(action), Place: place, Offset: int64(offset), Count: 1,
	})
}

func (s *Screen) note(v *usage.Violation) {
	if len(s.violations) >= maxViolations {
		v.Place, v.Offset = "", 0
	}
	if usage.Add(s.violations, v) {
		return
	}
	if len(s.violations) < maxViolations+maxViolations {
		s.violations = append(s.violations, *v)
	}
}
