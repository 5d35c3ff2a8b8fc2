package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/proto/gen"
)

// apiCommands are the commands for what the management API manages.
func apiCommands() []*cobra.Command {
	flags := map[*cobra.Command]*remote{}
	cfg := Config{
		Document: func() []byte { return []byte(gen.OpenAPI) },
		Getenv:   os.Getenv,
		Caller: func(cmd *cobra.Command) (Caller, error) {
			c, err := flags[cmd].client()
			return apiCaller{c}, err
		},
	}
	prepare := func(cmd *cobra.Command) {
		o := &remote{output: "json"} // which only the cluster's commands take from here
		flags[cmd] = o
		o.flags(cmd.Flags(), "the key to ask with")
	}
	out := Commands(cfg, prepare)
	for _, parent := range out {
		if parent.Name() == "guardrail" {
			parent.AddCommand(evaluateCommand())
		}
		if parent.Name() != "prompt" {
			continue
		}
		for _, cmd := range promptFileCommands(cfg) {
			prepare(cmd)
			parent.AddCommand(cmd)
		}
	}
	return out
}

// apiCaller sends what commands ask.
type apiCaller struct{ client *client }

// Call sends a request and returns the body of its answer.
func (a apiCaller) Call(ctx context.Context, r Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := a.client.request(ctx, r.Method, r.Path, body)
	if err != nil {
		return nil, err
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.IdempotencyKey != "" {
		req.Header.Set("Idempotency-Key", r.IdempotencyKey)
	}
	answer, err := a.client.send(req)
	if err != nil {
		return nil, lost(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, UnansweredError{Err: err}
	}
	return text, nil
}

// lost marks the errors after which it is not known what became of a request, or
// that ask for it to be sent again.
func lost(err error) error {
	var refused *refusal
	switch {
	case errors.As(err, &refused) && refused.status != http.StatusServiceUnavailable && refused.status != http.StatusBadGateway && refused.status != http.StatusGatewayTimeout:
		return err
	case errors.Is(err, context.Canceled):
		return err
	}
	return UnansweredError{Err: err}
}
