package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

// status has the used fields of GET /cluster/status.
type status struct {
	Node   string `json:"node"`
	Leader struct {
		Address string `json:"address"`
	} `json:"leader"`
	Commit  float64 `json:"commit_index"`
	Applied float64 `json:"applied_index"`
}

// callTime is the timeout of one request. A node without quorum reports that within 5 s.
const callTime = 10 * time.Second

// call sends one request; an empty key means the admin key.
func (c *cluster) call(ctx context.Context, n *node, method, path, key string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if key == "" {
		key = c.admin
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

func (c *cluster) status(ctx context.Context, n *node) (status, error) {
	var s status
	err := c.ask(ctx, n, http.MethodGet, "/cluster/status", nil, &s)
	return s, err
}

// createKey creates a key; it is the management write that is timed. If there are teams, the keys
// are distributed over them in turn.
func (c *cluster) createKey(ctx context.Context, at *node, alias string, n int) (string, error) {
	wanted := map[string]any{"key_alias": alias}
	if c.teams > 0 {
		wanted["team_id"], wanted["metadata"] = team(n%c.teams), map[string]any{"cost_center": n % 97}
		wanted["models"], wanted["rpm_limit"] = []string{model}, 600_000
	}
	var made struct {
		Key string `json:"key"`
	}
	err := c.ask(ctx, at, http.MethodPost, "/key/generate", wanted, &made)
	return made.Key, err
}

// ask sends an admin request with the body in, unless that is nil, and decodes the response
// into out, unless that is nil.
func (c *cluster) ask(ctx context.Context, at *node, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	code, b, err := c.call(ctx, at, method, path, "", body)
	switch {
	case err != nil:
		return err
	case code != http.StatusOK:
		return fmt.Errorf("%s: %d %s", path, code, b)
	case out == nil:
		return nil
	}
	return json.Unmarshal(b, out)
}

func (c *cluster) deleteKey(ctx context.Context, n *node, key string) error {
	return c.ask(ctx, n, http.MethodPost, "/key/delete", map[string][]string{"keys": {key}}, nil)
}

// use sends a request with a key and reports whether the key was accepted. Only 200 and 401 are
// conclusive.
func (c *cluster) use(ctx context.Context, n *node, key string) (bool, error) {
	code, b, err := c.call(ctx, n, http.MethodPost, "/v1/chat/completions", key, openai.ChatRequest(model, 0, false))
	switch {
	case err != nil:
		return false, err
	case code == http.StatusOK:
		return true, nil
	case code == http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("/v1/chat/completions: %d %s", code, b)
}
