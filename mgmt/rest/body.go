package rest

import (
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// Bounds of the body of a management request. The largest requests have a list of a
// thousand names.
const (
	MaxBody  = 1 << 20
	bodyTime = 30 * time.Second // for the whole body
)

// The media types of bodies.
const (
	jsonType   = "application/json"
	BinaryType = "application/octet-stream"
)

// Form rewrites another form that clients may send to that of the message.
type Form func(members map[string]jsontext.Value) error

// ReadMessage reads a body and returns it in protobuf's JSON form, without the parameters
// in the path. form may be nil.
func ReadMessage(w http.ResponseWriter, r *http.Request, m protoreflect.MessageDescriptor, form Form, path map[string]string) ([]byte, error) {
	members, err := readMembers(w, r)
	if err != nil {
		return nil, err
	}
	if form != nil {
		if err := form(members); err != nil {
			return nil, err
		}
	}
	if err := conform("", members, m); err != nil {
		return nil, err
	}
	for name, value := range path {
		if v, ok := members[name]; ok && v.Kind() != 'n' && !sameText(v, value) {
			return nil, fault.Field(name, "invalid_value", "%s is in the path, too, with another value. Leave it out of the body.", name)
		}
		delete(members, name)
	}
	if err := sameQuery(r.URL.RawQuery, members); err != nil {
		return nil, err
	}
	if err := widen(members, m); err != nil {
		return nil, err
	}
	if err := gatherClears(members, m); err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}

// readMembers reads a body as one JSON object. No body at all is the empty one.
func readMembers(w http.ResponseWriter, r *http.Request) (map[string]jsontext.Value, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return map[string]jsontext.Value{}, nil
	}
	return parseObject(body)
}

// readBody reads a JSON body of at most maxBody bytes. Its errors are 408, 413 and 415.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		return nil, nil
	}
	if !isJSON(r.Header) {
		return nil, fault.New(fault.MediaType, "", "Send the body as application/json, in UTF-8 and not compressed.")
	}
	if r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	conn := http.NewResponseController(w)
	deadline := conn.SetReadDeadline(time.Now().Add(bodyTime)) == nil
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if deadline { // the next request on the connection has its own time
		err = errors.Join(err, conn.SetReadDeadline(time.Time{}))
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &fault.Error{Kind: fault.Malformed, Status: http.StatusRequestTimeout, Code: "request_timeout", Detail: "The body did not come in time. Send it at once.", Err: err}
	}
	return nil, &fault.Error{Kind: fault.Malformed, Code: "invalid_body", Detail: "The body broke off.", Err: err}
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "", "The request body is larger than %d bytes.", MaxBody)
}

// isJSON reports whether the headers announce plain JSON in UTF-8.
func isJSON(h http.Header) bool {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return false
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != jsonType && !strings.HasSuffix(media, "+json") {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// parseObject reads a body as one JSON object. Two members of one name are an error, since
// readers differ in which of them counts.
func parseObject(body []byte) (map[string]jsontext.Value, error) {
	if v := jsontext.Value(body); v.IsValid() && v.Kind() != '{' {
		return nil, fault.New(fault.Malformed, "invalid_json", "The body is JSON but not an object.")
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		e := &fault.Error{Kind: fault.Malformed, Code: "invalid_json", Detail: "The body is not valid JSON.", Err: err}
		var at *jsontext.SyntacticError
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &at):
			e.Detail = "The body has two members of the name " + field.ShortName(at.JSONPointer.LastToken()) + ". Send one."
		case errors.As(err, &at):
			e.Detail = "The body is not valid JSON, from byte " + strconv.FormatInt(at.ByteOffset, 10) + " on."
		}
		return nil, e
	}
	return members, nil
}

// conform checks the members of a JSON object against a message: every name must be that
// of a field, and every value of the field's type. The library that decodes the object
// afterwards accepts more than is documented (strings for numbers, a second spelling of
// each name), and its errors name no field.
func conform(at string, members map[string]jsontext.Value, m protoreflect.MessageDescriptor) error {
	for _, name := range field.SortedNames(members) {
		param := at + field.ShortName(name)
		f := m.Fields().ByName(protoreflect.Name(name))
		if f == nil {
			return field.Unknown(param)
		}
		if members[name].Kind() == 'n' { // null: not given
			continue
		}
		if err := conformField(param, members[name], f); err != nil {
			return err
		}
	}
	return nil
}

// conformField checks one member, which is not null.
func conformField(param string, v jsontext.Value, f protoreflect.FieldDescriptor) error {
	switch {
	case f.IsMap():
		entries, err := ObjectAt(param, v)
		if err != nil {
			return err
		}
		for _, name := range field.SortedNames(entries) {
			if err := conformValue(param+"."+field.ShortName(name), entries[name], f.MapValue()); err != nil {
				return err
			}
		}
		return nil
	case f.IsList():
		if v.Kind() != '[' {
			return field.WrongType(param, "a list")
		}
		var items []jsontext.Value
		if err := json.Unmarshal(v, &items); err != nil {
			return field.WrongType(param, "a list")
		}
		for i, item := range items {
			if err := conformValue(param+"["+strconv.Itoa(i)+"]", item, f); err != nil {
				return err
			}
		}
		return nil
	}
	return conformValue(param, v, f)
}

// conformValue checks one value of a field, a list or a map.
func conformValue(param string, v jsontext.Value, f protoreflect.FieldDescriptor) error {
	var name string
	var bytes []byte
	switch kind := f.Kind(); {
	case f.Message() != nil:
		return conformMessage(param, v, f.Message())
	case kind == protoreflect.BoolKind && v.Kind() != 't' && v.Kind() != 'f':
		return field.WrongType(param, "true or false")
	case kind == protoreflect.StringKind && v.Kind() != '"':
		return field.WrongType(param, "a string")
	case kind == protoreflect.BytesKind && (v.Kind() != '"' || json.Unmarshal(v, &bytes) != nil):
		return field.WrongType(param, "a string in base64")
	case kind == protoreflect.EnumKind && (v.Kind() != '"' || json.Unmarshal(v, &name) != nil):
		return field.WrongType(param, "a string")
	case kind == protoreflect.EnumKind:
		return conformEnum(param, name, f.Enum())
	case kind == protoreflect.BoolKind, kind == protoreflect.StringKind, kind == protoreflect.BytesKind:
		return nil
	default:
		return conformNumber(param, v, kind)
	}
}

// conformEnum checks the name of a value. Numbers of values are not documented, so they
// are rejected.
func conformEnum(param, name string, e protoreflect.EnumDescriptor) error {
	if e.Values().ByName(protoreflect.Name(name)) != nil {
		return nil
	}
	names := make([]string, e.Values().Len())
	for i := range names {
		names[i] = string(e.Values().Get(i).Name())
	}
	return fault.Field(param, "invalid_value", "%s must be one of %s.", param, strings.Join(names, ", "))
}

// conformNumber checks a number. Whole numbers are exact in JSON up to 2^53 only.
func conformNumber(param string, v jsontext.Value, kind protoreflect.Kind) error {
	if v.Kind() != '0' {
		return field.WrongType(param, "a number")
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil { // 1e999
		return fault.Field(param, "invalid_value", "%s is too large.", param)
	}
	if kind == protoreflect.DoubleKind || kind == protoreflect.FloatKind {
		return nil
	}
	low, high := 0.0, float64(1<<53-1) // of the unsigned ones of 64 bits
	if kind == protoreflect.Int64Kind || kind == protoreflect.Sint64Kind || kind == protoreflect.Sfixed64Kind {
		low = -high
	}
	if kind == protoreflect.Int32Kind || kind == protoreflect.Sint32Kind || kind == protoreflect.Sfixed32Kind {
		low, high = math.MinInt32, math.MaxInt32
	}
	if kind == protoreflect.Uint32Kind || kind == protoreflect.Fixed32Kind {
		high = math.MaxUint32
	}
	if n != math.Trunc(n) || n < low || n > high {
		return fault.Field(param, "invalid_value", "%s must be a whole number from %.0f to %.0f.", param, low, high)
	}
	return nil
}

// conformMessage checks a message in a message. Of free JSON it checks the outermost level
// only.
func conformMessage(param string, v jsontext.Value, m protoreflect.MessageDescriptor) error {
	switch m.FullName() {
	case "google.protobuf.Value", "gateway.v1.Json":
		return nil
	case "google.protobuf.Struct":
		_, err := ObjectAt(param, v)
		return err
	case "google.protobuf.ListValue":
		if v.Kind() != '[' {
			return field.WrongType(param, "a list")
		}
		return nil
	case "google.protobuf.Timestamp":
		var text string
		if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
			return field.WrongType(param, "a string")
		}
		if at, err := time.Parse(time.RFC3339Nano, text); err != nil || at.Year() < 1 || at.Year() > 9999 {
			return fault.Field(param, "invalid_value", "%s must be an instant in RFC 3339, such as 2026-06-29T10:00:00Z.", param)
		}
		return nil
	}
	if field.IsFree(m) { // a value that may be null
		return conformValue(param, v, m.Fields().ByName("value"))
	}
	if hasShortForm(m) && v.Kind() != '{' {
		if v.Kind() != '0' {
			return field.WrongType(param, "an object or an amount in USD")
		}
		return conformNumber(param, v, protoreflect.DoubleKind)
	}
	members, err := ObjectAt(param, v)
	if err != nil {
		return err
	}
	return conform(param+".", members, m)
}

// ObjectAt returns the members of an object.
func ObjectAt(param string, v jsontext.Value) (map[string]jsontext.Value, error) {
	var members map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v, &members) != nil {
		return nil, field.WrongType(param, "an object")
	}
	return members, nil
}
