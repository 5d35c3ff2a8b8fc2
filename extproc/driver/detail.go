package driver

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// violation is what a validator of requests says of one field. Its place begins with the part of
// the request, which is the body.
type violation struct {
	Place   []jsontext.Value `json:"loc"`
	Message string           `json:"msg"`
}

// readDetail reads errors that are an object or a list of violations: a list under detail, in some
// providers' errors once more within an object. The first violation counts.
func readDetail(candidates ...jsontext.Value) (message, param string) {
	for _, raw := range candidates {
		if len(raw) > 0 && raw.Kind() == '{' {
			var inner struct {
				Detail  jsontext.Value `json:"detail"`
				Error   jsontext.Value `json:"error"`
				Message jsontext.Value `json:"message"`
			}
			_ = DecodeLoose(raw, &inner) // what could be read so far suffices
			for _, v := range []jsontext.Value{inner.Error, inner.Message, inner.Detail} {
				if text := Text(v); text != "" {
					return text, ""
				}
			}
			raw = inner.Detail
		}
		var list []violation
		if len(raw) > 0 && raw.Kind() == '[' && DecodeLoose(raw, &list) == nil && len(list) > 0 {
			param = list[0].field()
			if message = list[0].Message; param != "" && message != "" {
				message = param + ": " + message
			}
			return message, param
		}
	}
	return "", ""
}

// field returns the path of the field. It ends before what is no member of JSON, as validators name
// the types that they tried.
func (v *violation) field() string {
	path := ""
	for i, step := range v.Place {
		name := Text(step)
		_, notIndex := strconv.Atoi(name)
		switch {
		case i == 0 && name == "body":
		case notIndex == nil:
			path += "[" + name + "]"
		case path == "":
			path = name
		case isName(name):
			path += "." + name
		default:
			return path
		}
	}
	return path
}

// isName reports whether a step of a path may be the name of a member.
func isName(step string) bool {
	for _, c := range step {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return step != "" && step != "str"
}

// baseResponse is how MiniMax reports failures, with status 200.
type baseResponse struct {
	Status  int    `json:"status_code"`
	Message string `json:"status_msg"`
}

// error returns the error in the usual words.
func (b *baseResponse) error() apiError {
	e := apiError{Message: b.Message, status: http.StatusInternalServerError}
	switch b.Status {
	case 1002, 1041, 2045:
		e.status = http.StatusTooManyRequests
	case 1004, 2049:
		e.status = http.StatusUnauthorized
	case 1008, 2056:
		e.status = http.StatusPaymentRequired
	case 1026, 1027:
		e.status, e.Code = http.StatusBadRequest, "content_filter"
	case 1039:
		e.status, e.Code = http.StatusBadRequest, "context_length_exceeded"
	case 2013:
		e.status = http.StatusBadRequest
	case 1001:
		e.status = http.StatusGatewayTimeout
	}
	return e
}
