package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// Native is a filter, a test, a function or a method.
type Native struct {
	Name        string
	params      string // names of the parameters after the value, with spaces between them
	least, Most int    // how many arguments; most is -1 for any number
	positional  bool   // parameters cannot be given by name
	keywords    bool   // arguments of any name are allowed
	Call        func(m *Caller, self values.Value, a *Arguments) values.Value
}

// Caller calls natives, and ends a rendering that exceeds what its counter allows.
type Caller struct{ *values.Counter }

// Method is a method of a value that was not called yet.
type Method struct {
	Of   values.Value
	With *Native
}

// IsMethod makes it a method for values.
func (*Method) IsMethod() {}

// Arguments are what a call is given. After bind, pos has a value or unset for each
// parameter.
type Arguments struct {
	Pos   []values.Value
	Names []string
	Named []values.Value
	once  bool // they are for one call, which may change them
}

// fewArguments have room in the same piece of memory as their Arguments.
const fewArguments = 4

// NewArguments returns arguments for one call, with n values to be set and room for most.
func NewArguments(n, most int) *Arguments {
	if max(n, most) > fewArguments {
		return &Arguments{Pos: make([]values.Value, n, max(n, most)), once: true}
	}
	a := &struct {
		Arguments
		room [fewArguments]values.Value
	}{}
	a.Pos, a.once = a.room[:n], true
	return &a.Arguments
}

// Unfit says what is wrong with the number and the names of arguments; empty for nothing.
func (n *Native) Unfit(given int, names []string) string {
	if n.Most >= 0 && given > n.Most {
		return n.Name + " takes fewer values"
	}
	if n.keywords {
		return ""
	}
	need := max(0, n.least-given)
	var params []string
	if len(names) > 0 {
		params = strings.Fields(n.params)
	}
	for _, name := range names {
		i := IndexOf(params, name)
		switch {
		case n.positional || i < 0:
			return n.Name + " has no parameter " + name
		case i < given:
			return n.Name + " gets the parameter " + name + " twice"
		case i < n.least:
			need--
		}
	}
	if need > 0 {
		return n.Name + " needs more values"
	}
	return ""
}

// IndexOf returns where s is in list; -1 if it is not there.
func IndexOf(list []string, s string) int {
	for i, e := range list {
		if e == s {
			return i
		}
	}
	return -1
}

// Invoke calls a native with arguments in their places.
func (m *Caller) Invoke(n *Native, self values.Value, a *Arguments) values.Value {
	if problem := n.Unfit(len(a.Pos), a.Names); problem != "" {
		m.Fail("%s", problem)
	}
	if n.Most > 0 && !n.keywords {
		given := len(a.Pos)
		var pos []values.Value
		if a.once && cap(a.Pos) >= n.Most {
			pos = a.Pos[:n.Most]
		} else {
			pos = make([]values.Value, n.Most)
			copy(pos, a.Pos)
		}
		for i := given; i < n.Most; i++ {
			pos[i] = values.Unset{}
		}
		if len(a.Names) > 0 {
			params := strings.Fields(n.params)
			for i, name := range a.Names {
				pos[IndexOf(params, name)] = a.Named[i]
			}
		}
		if a.once {
			*a = Arguments{Pos: pos}
		} else {
			a = &Arguments{Pos: pos}
		}
	}
	return n.Call(m, self, a)
}

// given reports whether the argument i is there.
func (a *Arguments) given(i int) bool { return i < len(a.Pos) && a.Pos[i] != any(values.Unset{}) }

// or returns the argument i, or another value if it is not given.
func (a *Arguments) or(i int, other values.Value) values.Value {
	if a.given(i) {
		return a.Pos[i]
	}
	return other
}

// keyword returns an argument with a name.
func (a *Arguments) keyword(name string) (values.Value, bool) {
	i := IndexOf(a.Names, name)
	if i < 0 {
		return nil, false
	}
	return a.Named[i], true
}
