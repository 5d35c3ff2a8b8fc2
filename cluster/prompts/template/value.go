package template

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// absent is the value of what was not supplied.
type absent struct{}

// loopState is what a loop's body knows of it.
type loopState struct{ index, length int }

// memberOf returns an attribute or an element; absent where there is none.
func memberOf(of, key any) any {
	switch of := of.(type) {
	case map[string]any:
		if k, ok := key.(string); ok {
			if v, ok := of[k]; ok {
				return v
			}
		}
	case []any:
		if i, ok := key.(float64); ok && i == math.Trunc(i) {
			if i < 0 {
				i += float64(len(of))
			}
			if i >= 0 && i < float64(len(of)) {
				return of[int(i)]
			}
		}
	case loopState:
		switch key {
		case "index":
			return float64(of.index + 1)
		case "index0":
			return float64(of.index)
		case "first":
			return of.index == 0
		case "last":
			return of.index == of.length-1
		case "length":
			return float64(of.length)
		}
	}
	return absent{}
}

// truth is whether a condition of the value holds.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, absent:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// appendText writes a value as text: numbers in their shortest form, lists and
// objects as JSON.
func appendText(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil, absent, loopState:
		return out
	case string:
		return append(out, v...)
	case bool:
		return strconv.AppendBool(out, v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.AppendInt(out, int64(v), 10)
		}
		return strconv.AppendFloat(out, v, 'g', -1, 64)
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil { // only for text that is not UTF-8, which JSON is not decoded to
		return out
	}
	return append(out, text...)
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(appendText(nil, v))
}

// compare says whether two values are in a relation. Those of different sorts are
// not, but for being different.
func compare(sign string, a, b any) bool {
	switch sign {
	case "in":
		return contains(b, a)
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	}
	var order int
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		if !ok {
			return false
		}
		switch {
		case a < b:
			order = -1
		case a > b:
			order = 1
		}
	case string:
		b, ok := b.(string)
		if !ok {
			return false
		}
		order = strings.Compare(a, b)
	default:
		return false
	}
	switch sign {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case nil, absent:
		return b == nil || b == any(absent{})
	case string, float64, bool:
		return a == b
	}
	return textOf(a) == textOf(b) && sameSort(a, b)
}

func sameSort(a, b any) bool {
	_, listA := a.([]any)
	_, listB := b.([]any)
	_, objectA := a.(map[string]any)
	_, objectB := b.(map[string]any)
	return listA == listB && objectA == objectB
}

func contains(of, v any) bool {
	switch of := of.(type) {
	case string:
		s, ok := v.(string)
		return ok && strings.Contains(of, s)
	case []any:
		for _, e := range of {
			if equal(e, v) {
				return true
			}
		}
	case map[string]any:
		k, ok := v.(string)
		_, there := of[k]
		return ok && there
	}
	return false
}
