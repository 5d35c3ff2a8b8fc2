package dialect

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// ReadMessages reads an array of messages, or null, and appends them to list. It ends at the first
// one beyond most with a *fault.Error: what follows is not decoded.
func ReadMessages[T any](dec *jsontext.Decoder, list []T, most int) ([]T, error) {
	if dec.PeekKind() != '[' {
		err := json.UnmarshalDecode(dec, &list) // null, or an error that says what was expected
		return list, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return list, err
	}
	for dec.PeekKind() != ']' {
		if len(list) == most {
			return list, fault.Field("messages", CodeMany, "messages has more than %d entries.", most)
		}
		var one T
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return list, err
		}
		list = append(list, one)
	}
	_, err := dec.ReadToken()
	return list, err
}
