package openai

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Most characters of what OpenAI limits.
const (
	longestCallID = 40
	longestUser   = 64
	longestName   = 64 // of a function
)

// mostStops is the most texts that may end a response of OpenAI's.
const mostStops = 4

// bounded rejects what OpenAI itself has no room for, and returns the texts that end the response.
// Compatible providers have other limits, and judge for themselves.
func (d Driver) bounded(r *wire.Request, t driver.Target) (stop []string, err error) {
	if !d.NewLimit {
		return r.Stop, nil
	}
	if err := driver.FunctionNames(r, longestName, "OpenAI"); err != nil {
		return nil, err
	}
	switch {
	case len(r.Stop) <= mostStops:
		return r.Stop, nil
	case t.DropParams:
		return r.Stop[:mostStops], nil
	}
	param := "stop"
	if !r.Caller.IsOpenAIs() {
		param = "stop_sequences"
	}
	return nil, fault.Field(param, driver.CodeUnsupported, "%s: OpenAI takes %d texts at most; send fewer, or set drop_params on the deployment.", param, mostStops)
}

// CallID makes an id of a tool call that OpenAI accepts. A longer one becomes its hash: the same
// one in the call and in its result.
func CallID(id string) string {
	if len(id) <= longestCallID {
		return id
	}
	return "call_" + hashOf(id)[:longestCallID-len("call_")]
}

// userOf makes a name of an end user that OpenAI accepts. Claude Code's are longer.
func userOf(user string) string {
	if len(user) <= longestUser {
		return user
	}
	return hashOf(user)
}

// hashOf returns 64 characters that stand for a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
