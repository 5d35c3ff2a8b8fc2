package anthropic

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// FromBedrock returns a request of InvokeModel of Bedrock as one of Anthropic's own. There, the path has the model and
// whether it streams, and the body has the version of the API and the beta features.
func FromBedrock(body []byte, model string, streams bool) ([]byte, error) { //nolint:revive // what the path says, not a mode
	if _, err := BedrockBetas(body); err != nil {
		return nil, err
	}
	o := splice.ReadObject(body)
	o.Remove("anthropic_version")
	o.Remove("anthropic_beta")
	o.Remove("stream")
	if streams {
		o.Set("stream", []byte("true"))
	}
	o.Set("model", splice.Quote(nil, model))
	return o.Append(nil), nil
}

// BedrockBetas returns the beta features in the body of a request of InvokeModel, as Anthropic's header has them; empty for
// none.
func BedrockBetas(body []byte) (string, error) {
	if err := splice.Valid(body); err != nil {
		return "", err
	}
	return betasIn(splice.Lookup(body, flagsMember), flagsMember)
}

// flagsMember is the member with the beta features of a request at Bedrock.
const flagsMember = "anthropic_beta"

// ConverseBetas is BedrockBetas for a request of Converse, whose additional fields have them.
func ConverseBetas(body []byte) (string, error) {
	if !bytes.Contains(body, []byte(`"`+flagsMember+`"`)) {
		return "", nil
	}
	if err := splice.Valid(body); err != nil {
		return "", err
	}
	const fields = "additionalModelRequestFields"
	return betasIn(splice.Lookup(body, fields, flagsMember), fields+"."+flagsMember)
}

// betasIn returns the beta features that a member lists.
func betasIn(raw []byte, param string) (string, error) {
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	var flags []string
	if json.Unmarshal(raw, &flags) != nil {
		return "", fault.Field(param, dialect.CodeType, "%s must be an array of texts.", param)
	}
	for i, flag := range flags {
		if flag == "" || len(flag) > 128 || strings.ContainsFunc(flag, func(c rune) bool {
			return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		}) {
			return "", fault.Field(param, dialect.CodeValue, "%s[%d] must be the name of a beta feature.", param, i)
		}
	}
	return strings.Join(flags, ","), nil
}

// IsBedrockCount reports whether a request of CountTokens of Bedrock is for a body of InvokeModel.
func IsBedrockCount(body []byte) bool {
	return splice.Valid(body) == nil && splice.Lookup(body, "input", "invokeModel") != nil && splice.Lookup(body, "input", "converse") == nil
}

// FromBedrockCount returns such a request as one for a count of tokens of Anthropic's own. Parameters that change no count are
// left out, as that API does not take them.
func FromBedrockCount(body []byte, model string) ([]byte, error) {
	const param = "input.invokeModel.body"
	var encoded string
	if raw := splice.Lookup(body, "input", "invokeModel", "body"); raw == nil || json.Unmarshal(raw, &encoded) != nil {
		return nil, fault.Field(param, dialect.CodeMissing, "%s must be the base64 of a request of InvokeModel.", param)
	}
	inner, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fault.Field(param, dialect.CodeValue, "%s must be the base64 of a request of InvokeModel.", param)
	}
	if splice.Valid(inner) != nil || splice.Lookup(inner, "messages") == nil {
		return nil, fault.Field(param, dialect.CodeValue, "%s must be a request of Anthropic's messages; count those of other models with input.converse.", param)
	}
	o := splice.ReadObject(inner)
	for _, name := range [...]string{"max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "metadata"} {
		o.Remove(name)
	}
	return FromBedrock(o.Append(nil), model, false)
}

// ToBedrockCount returns the response to such a request.
func ToBedrockCount(body []byte) ([]byte, error) {
	n := splice.Lookup(body, "input_tokens")
	if n == nil {
		return nil, errors.New("the response has no count of tokens")
	}
	return append(append([]byte(`{"inputTokens":`), n...), '}'), nil
}

// BedrockErrors is Dialect for clients of Bedrock, which read an error's message at the top of its body.
type BedrockErrors struct{ Dialect }

// EncodeError returns an error of Anthropic's shape with the message that AWS's libraries read.
func (d BedrockErrors) EncodeError(e *fault.Error, request string) []byte {
	o := splice.ReadObject(d.Dialect.EncodeError(e, request))
	o.Set("message", splice.Quote(nil, e.Message()))
	return o.Append(nil)
}
