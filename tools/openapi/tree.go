package main

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

// object is a JSON object that keeps the order of its members, for human readers and for the
// order of fields.
type object struct {
	names  []string
	values map[string]any
}

// obj returns an object from alternating names and values.
func obj(pairs ...any) *object {
	o := &object{values: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		o.set(name, pairs[i+1])
	}
	return o
}

// set adds or replaces a member.
func (o *object) set(name string, v any) *object {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
	return o
}

// get returns a member; nil if it does not exist.
func (o *object) get(name string) any { return o.values[name] }

// child returns a member that is an object, and creates it if necessary.
func (o *object) child(name string) *object {
	c, ok := o.values[name].(*object)
	if !ok {
		c = obj()
		o.set(name, c)
	}
	return c
}

// drop removes a member.
func (o *object) drop(name string) {
	delete(o.values, name)
	for i, n := range o.names {
		if n == name {
			o.names = append(o.names[:i:i], o.names[i+1:]...)
			return
		}
	}
}

// copyOf returns a shallow copy.
func (o *object) copyOf() *object {
	c := obj()
	for _, n := range o.names {
		c.set(n, o.values[n])
	}
	return c
}

// fromYAML converts YAML to objects, lists ([]any) and scalars.
func fromYAML(text []byte) (any, error) {
	var v any
	if err := yaml.UnmarshalWithOptions(text, &v, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	return ordered(v)
}

func ordered(v any) (any, error) {
	switch v := v.(type) {
	case yaml.MapSlice:
		o := obj()
		for _, item := range v {
			value, err := ordered(item.Value)
			if err != nil {
				return nil, err
			}
			name := fmt.Sprint(item.Key) // YAML parses 200: as a number
			if o.get(name) != nil {
				return nil, fmt.Errorf("%s is defined twice", name)
			}
			o.set(name, value)
		}
		return o, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = ordered(v[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return v, nil
}

// encode encodes a tree as indented JSON.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	if err := write(e, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func write(e *jsontext.Encoder, v any) error {
	switch v := v.(type) {
	case *object:
		return writeObject(e, v)
	case []any:
		return writeList(e, v)
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return writeList(e, list)
	case nil:
		return e.WriteToken(jsontext.Null)
	case string:
		return e.WriteToken(jsontext.String(v))
	case bool:
		return e.WriteToken(jsontext.Bool(v))
	case int:
		return e.WriteToken(jsontext.Int(int64(v)))
	case int64:
		return e.WriteToken(jsontext.Int(v))
	case uint64:
		return e.WriteToken(jsontext.Uint(v))
	case float64:
		return e.WriteToken(jsontext.Float(v))
	}
	return fmt.Errorf("a document cannot contain a %T", v)
}

func writeObject(e *jsontext.Encoder, o *object) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range o.names {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := write(e, o.values[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func writeList(e *jsontext.Encoder, list []any) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, item := range list {
		if err := write(e, item); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}
