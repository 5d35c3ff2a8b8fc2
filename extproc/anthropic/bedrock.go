package anthropic

import (
	"bytes"
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

// BedrockErrors is Dialect for clients of Bedrock, which read an error's message at the top of its body.
type BedrockErrors struct{ Dialect }

// EncodeError returns an error of Anthropic's shape with the message that AWS's libraries read.
func (d BedrockErrors) EncodeError(e *fault.Error, request string) []byte {
	o := splice.ReadObject(d.Dialect.EncodeError(e, request))
	o.Set("message", splice.Quote(nil, e.Message()))
	return o.Append(nil)
}
