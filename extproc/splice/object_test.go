package splice_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// TestObjectChanges checks each kind of change, and that other bytes stay.
func TestObjectChanges(t *testing.T) {
	for _, c := range []struct {
		body, want string
		change     func(o *splice.Object)
	}{
		{`{ "a" : 1 , "b":2}`, `{ "a" : 1 , "b":2}`, func(*splice.Object) {}},
		{`{ "a" : 1 , "b":2} `, `{ "a" : [3] , "b":2} `, func(o *splice.Object) { o.Set("a", []byte("[3]")) }},
		{`{ "a" : 1 , "b":2}`, `{ "a" : 1 , "b":2,"c":"x"}`, func(o *splice.Object) { o.Set("c", []byte(`"x`), []byte(`"`)) }},
		{` { } `, ` {"c":1 } `, func(o *splice.Object) { o.Set("c", []byte(`1`)) }},
		{`{ "a" : 1 , "b":2}`, `{ "b":2}`, func(o *splice.Object) { o.Remove("a") }},
		{`{"a":1,"b":2,"c":3}`, `{"a":1}`, func(o *splice.Object) { o.Remove("b"); o.Remove("c") }},
		{`{"a":1, "b":2,"c":3}`, `{ "b":2}`, func(o *splice.Object) { o.Remove("a"); o.Remove("c") }},
		{`{"a":1}`, `{}`, func(o *splice.Object) { o.Remove("a") }},
		{`{"a":1}`, `{"d":4}`, func(o *splice.Object) { o.Remove("a"); o.Set("d", []byte("4")) }},
		{`{"\u0061":1}`, `{"\u0061":5}`, func(o *splice.Object) { o.Set("a", []byte("5")) }},
		{`{"m":[ {"x":1} ]}`, `{"m":[1, {"x":1} ,2]}`, func(o *splice.Object) { o.Surround("m", []byte("1"), []byte("2"), [2]string{}) }},
		{`{"m":[ ]}`, `{"m":[1,2]}`, func(o *splice.Object) { o.Surround("m", []byte("1"), []byte("2"), [2]string{}) }},
		{`{}`, `{"m":[1]}`, func(o *splice.Object) { o.Surround("m", []byte("1"), nil, [2]string{}) }},
		{`{"m":null}`, `{"m":[1]}`, func(o *splice.Object) { o.Surround("m", []byte("1"), nil, [2]string{}) }},
		{`{"m":"hi"}`, `{"m":[1,{"t":"hi"}]}`, func(o *splice.Object) { o.Surround("m", []byte("1"), nil, [2]string{`{"t":`, `}`}) }},
		{`{"m":7}`, `{"m":7}`, func(o *splice.Object) { o.Surround("m", []byte("1"), nil, [2]string{}) }},
	} {
		o := splice.ReadObject([]byte(c.body))
		c.change(o)
		if got := string(o.Append(nil)); got != c.want {
			t.Errorf("%s became %s, want %s", c.body, got, c.want)
		}
	}
}

// TestObjectIsAlwaysAnObject makes random changes of random objects, and compares the result with
// those of a map.
func TestObjectIsAlwaysAnObject(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		model := map[string]any{}
		body := bytes.NewBufferString("{")
		for i := range r.IntN(5) {
			name := fmt.Sprintf("n%d", i)
			if i > 0 {
				body.WriteString([]string{",", " , ", ",\n"}[r.IntN(3)])
			}
			fmt.Fprintf(body, "%q: %d", name, i)
			model[name] = float64(i)
		}
		body.WriteString("}")
		o := splice.ReadObject(body.Bytes())
		for range r.IntN(6) {
			name := fmt.Sprintf("n%d", r.IntN(7))
			if r.IntN(2) == 0 {
				_, had := model[name]
				if o.Remove(name) != had {
					t.Fatalf("seed %d: Remove(%s) is wrong about whether there was one", seed, name)
				}
				delete(model, name)
			} else {
				o.Set(name, []byte("1"), []byte("7"))
				model[name] = 17.0
			}
		}
		var got map[string]any
		if err := json.Unmarshal(o.Append(nil), &got); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, o.Append(nil), err)
		}
		if fmt.Sprint(got) != fmt.Sprint(model) || o.Len() != len(model) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, model)
		}
		for name, raw := range o.All() {
			if string(raw) != fmt.Sprint(model[name]) {
				t.Fatalf("seed %d: All says %s is %s, want %v", seed, name, raw, model[name])
			}
		}
	}
}
