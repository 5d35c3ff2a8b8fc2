package values

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of what is decoded.
const (
	maxValues   = 1 << 20 // bytes of the JSON
	maxLevels   = 100     // lists and objects within others
	maxDecoded  = 2 << 20 // bytes that the values take
	maxIntegers = 1000    // digits of an integer
)

// Decode reads the members of a JSON object. The error is a *fault.Error with code
// invalid_prompt_variables, without a Param.
func Decode(object []byte) (*Dict, error) {
	if len(object) > maxValues {
		return nil, invalidValues("The variables have more than %d bytes. Send shorter ones.", maxValues)
	}
	d := &decoder{in: jsontext.NewDecoder(bytes.NewBuffer(object))}
	if d.in.PeekKind() != '{' {
		return nil, invalidValues("The variables are no JSON object. Send an object with a member for each variable.")
	}
	v, err := d.value(0)
	if err == nil {
		if _, end := d.in.ReadToken(); !errors.Is(end, io.EOF) {
			err = invalidValues("There is something after the object of variables.")
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*fault.Error](err); !ok {
			err = invalidValues("The variables are no valid JSON: each member needs a name of its own, and text has to be UTF-8.")
		}
		return nil, err
	}
	return v.(*Dict), nil
}

func invalidValues(format string, args ...any) error {
	return fault.Field("", "invalid_prompt_variables", format, args...)
}

type decoder struct {
	in    *jsontext.Decoder
	bytes int
}

func (d *decoder) grow(n int) error {
	if d.bytes += n; d.bytes > maxDecoded {
		return invalidValues("The variables take more than %d bytes of memory. Send fewer members and elements.", maxDecoded)
	}
	return nil
}

func (d *decoder) value(depth int) (Value, error) {
	if depth > maxLevels {
		return nil, invalidValues("The variables are nested more than %d deep.", maxLevels)
	}
	t, err := d.in.ReadToken()
	if err != nil {
		return nil, err
	}
	if err := d.grow(WordBytes); err != nil {
		return nil, err
	}
	kind := t.Kind()
	if kind == 'n' {
		return nil, nil
	}
	if kind == 't' || kind == 'f' {
		return t.Bool(), nil
	}
	if kind == '0' {
		return number(t.String())
	}
	if kind == '"' {
		s := t.String()
		return s, d.grow(len(s) + WordBytes)
	}
	if kind == '[' {
		return d.list(depth)
	}
	return d.object(depth)
}

func (d *decoder) list(depth int) (Value, error) {
	out := &List{}
	for d.in.PeekKind() != ']' {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	_, err := d.in.ReadToken()
	return out, err
}

func (d *decoder) object(depth int) (Value, error) {
	out := &Dict{}
	for d.in.PeekKind() != '}' {
		t, err := d.in.ReadToken()
		if err != nil {
			return nil, err
		}
		key := t.String()
		if err := d.grow(len(key) + EntryBytes); err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.put(key, key, v)
	}
	_, err := d.in.ReadToken()
	return out, err
}

// number reads a number as Python does: one with a point or an exponent is a float.
func number(text string) (Value, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, err
		}
		return f, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if len(text) > maxIntegers {
		return nil, invalidValues("An integer has more than %d digits.", maxIntegers)
	}
	b, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, strconv.ErrSyntax
	}
	return b, nil
}
