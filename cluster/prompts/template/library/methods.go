package library

import "github.com/modelgateway/modelgateway/cluster/prompts/template/values"

// MethodOf returns a method of a value.
func MethodOf(of values.Value, name string) (*Native, bool) {
	switch of := of.(type) {
	case string, values.Markup:
		if n, ok := trimMethod(name); ok {
			return n, true
		}
		if n, ok := searchMethod(name); ok {
			return n, true
		}
		if n, ok := caseMethod(name); ok {
			return n, true
		}
		return kindMethod(name)
	case *values.Dict:
		return dictMethod(name)
	case *values.List:
		if name == "copy" {
			return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value { return self }}, true
		}
		return listMethod(name)
	case *values.Tuple, *values.RangeOf:
		return listMethod(name)
	case attributed:
		return of.Method(name)
	case *values.Cycler:
		return cyclerMethod(name)
	case float64:
		if name == "is_integer" {
			return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value {
				f := self.(float64)
				return f-f == 0 && f == float64(int64(f)) || f-f == 0 && (f >= 1<<53 || f <= -(1<<53))
			}}, true
		}
		return conjugate(name)
	case int, bool:
		if name == "bit_length" || name == "bit_count" {
			return bitMethod(name), true
		}
		return conjugate(name)
	}
	return nil, false
}

func conjugate(name string) (*Native, bool) {
	if name != "conjugate" {
		return nil, false
	}
	return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value {
		v, _ := numberAttribute(self, "real")
		return v
	}}, true
}

func bitMethod(name string) *Native {
	return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value {
		b, _ := values.AsBig(self)
		if name == "bit_length" {
			return b.BitLen()
		}
		n := 0
		for i := range b.BitLen() {
			n += int(b.Bit(i))
		}
		return n
	}}
}

func dictMethod(name string) (*Native, bool) {
	switch name {
	case "items", "keys", "values", "copy", "get":
	default:
		return nil, false // most names are keys, so nothing is made for them
	}
	n := &Native{Name: name, positional: true}
	switch name {
	case "items":
		n.Call = func(m *Caller, self values.Value, _ *Arguments) values.Value { return m.Entries(self.(*values.Dict)) }
	case "keys":
		n.Call = func(_ *Caller, self values.Value, _ *Arguments) values.Value {
			return &values.View{Kind: "keys", Items: self.(*values.Dict).Keys}
		}
	case "values":
		n.Call = func(_ *Caller, self values.Value, _ *Arguments) values.Value {
			return &values.View{Kind: "values", Items: self.(*values.Dict).Values}
		}
	case "copy":
		n.Call = func(_ *Caller, self values.Value, _ *Arguments) values.Value { return self }
	case "get":
		n.params, n.least, n.Most = "key default", 1, 2
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			m.Hash(a.Pos[0])
			if v, ok := m.Get(self.(*values.Dict), a.Pos[0]); ok {
				return v
			}
			return a.or(1, nil)
		}
	}
	return n, true
}

func listMethod(name string) (*Native, bool) {
	n := &Native{Name: name, params: "value", least: 1, Most: 1, positional: true}
	switch name {
	case "count":
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			count := 0
			for _, item := range m.Items(self) {
				if m.Equal(item, a.Pos[0]) {
					count++
				}
			}
			return count
		}
	case "index":
		n.params, n.Most = "value start stop", 3
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			items := m.Items(self)
			var bounds [3]values.Value
			for i := range 2 {
				bounds[i] = a.or(i+1, nil)
			}
			c := m.Cut(bounds, len(items))
			for i := c.Start; i < c.Start+c.N; i++ {
				if m.Equal(items[i], a.Pos[0]) {
					return i
				}
			}
			m.Fail("the value is not in the list")
			return nil
		}
	default:
		return nil, false
	}
	return n, true
}

func cyclerMethod(name string) (*Native, bool) {
	switch name {
	case "next":
		return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value {
			c := self.(*values.Cycler)
			v := c.Items[c.At]
			c.At = (c.At + 1) % len(c.Items)
			return v
		}}, true
	case "reset":
		return &Native{Name: name, Call: func(_ *Caller, self values.Value, _ *Arguments) values.Value {
			self.(*values.Cycler).At = 0
			return nil
		}}, true
	}
	return nil, false
}
