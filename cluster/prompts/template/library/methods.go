package template

// methodOf returns a method of a value.
func methodOf(of value, name string) (*native, bool) {
	switch of := of.(type) {
	case string, markup:
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
	case *dict:
		return dictMethod(name)
	case *list:
		if name == "copy" {
			return &native{name: name, call: func(_ *caller, self value, _ *arguments) value { return self }}, true
		}
		return listMethod(name)
	case *tuple, *rangeOf:
		return listMethod(name)
	case attributed:
		return of.method(name)
	case *cycler:
		return cyclerMethod(name)
	case float64:
		if name == "is_integer" {
			return &native{name: name, call: func(_ *caller, self value, _ *arguments) value {
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

func conjugate(name string) (*native, bool) {
	if name != "conjugate" {
		return nil, false
	}
	return &native{name: name, call: func(_ *caller, self value, _ *arguments) value {
		v, _ := numberAttribute(self, "real")
		return v
	}}, true
}

func bitMethod(name string) *native {
	return &native{name: name, call: func(_ *caller, self value, _ *arguments) value {
		b, _ := asBig(self)
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

func dictMethod(name string) (*native, bool) {
	n := &native{name: name, positional: true}
	switch name {
	case "items":
		n.call = func(m *caller, self value, _ *arguments) value { return m.entries(self.(*dict)) }
	case "keys":
		n.call = func(_ *caller, self value, _ *arguments) value { return &view{"keys", self.(*dict).keys} }
	case "values":
		n.call = func(_ *caller, self value, _ *arguments) value { return &view{"values", self.(*dict).values} }
	case "copy":
		n.call = func(_ *caller, self value, _ *arguments) value { return self }
	case "get":
		n.params, n.least, n.most = "key default", 1, 2
		n.call = func(m *caller, self value, a *arguments) value {
			m.hash(a.pos[0])
			if v, ok := m.get(self.(*dict), a.pos[0]); ok {
				return v
			}
			return a.or(1, nil)
		}
	default:
		return nil, false
	}
	return n, true
}

func listMethod(name string) (*native, bool) {
	n := &native{name: name, params: "value", least: 1, most: 1, positional: true}
	switch name {
	case "count":
		n.call = func(m *caller, self value, a *arguments) value {
			count := 0
			for _, item := range m.items(self) {
				if m.equal(item, a.pos[0]) {
					count++
				}
			}
			return count
		}
	case "index":
		n.params, n.most = "value start stop", 3
		n.call = func(m *caller, self value, a *arguments) value {
			items := m.items(self)
			var bounds [3]value
			for i := range 2 {
				bounds[i] = a.or(i+1, nil)
			}
			c := m.cut(bounds, len(items))
			for i := c.start; i < c.start+c.n; i++ {
				if m.equal(items[i], a.pos[0]) {
					return i
				}
			}
			m.fail("the value is not in the list")
			return nil
		}
	default:
		return nil, false
	}
	return n, true
}

func cyclerMethod(name string) (*native, bool) {
	switch name {
	case "next":
		return &native{name: name, call: func(_ *caller, self value, _ *arguments) value {
			c := self.(*cycler)
			v := c.items[c.at]
			c.at = (c.at + 1) % len(c.items)
			return v
		}}, true
	case "reset":
		return &native{name: name, call: func(_ *caller, self value, _ *arguments) value {
			self.(*cycler).at = 0
			return nil
		}}, true
	}
	return nil, false
}
