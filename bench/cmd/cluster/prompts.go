package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// measurePrompts edits a prompt and moves its label while all nodes use it.
func (c *cluster) measurePrompts(ctx context.Context, o options, r *report) error {
	if err := c.ask(ctx, c.nodes[0], http.MethodPost, "/prompts", content("prompt_name", "bench", 1), nil); err != nil {
		return err
	}
	if err := c.ask(ctx, c.nodes[0], http.MethodPut, "/prompts/bench/labels/live", map[string]int{"version": 1}, nil); err != nil {
		return err
	}
	var edits, moves, answered []time.Duration
	late := 0
	for round := range o.moves {
		version := round + 2
		at := c.nodes[round%len(c.nodes)]
		edit, err := c.promptChange(ctx, "", version, func() error {
			return c.ask(ctx, at, http.MethodPut, "/prompts/bench", content("", "", version), nil)
		})
		if err != nil {
			return err
		}
		move, err := c.promptChange(ctx, `"prompt_label":"live",`, version, func() error {
			return c.ask(ctx, at, http.MethodPut, "/prompts/bench/labels/live", map[string]int{"version": version}, nil)
		})
		if err != nil {
			return err
		}
		edits, moves = append(edits, edit.inForce), append(moves, move.inForce)
		answered = append(answered, edit.answered, move.answered)
		late += edit.late + move.late
	}
	const due = 300 * time.Millisecond
	r.add("edited prompt in force on all nodes", edits, due)
	r.add("moved label in force on all nodes", moves, due)
	r.add("change of a prompt answered", answered, due)
	r.note("Requests that were begun after the answer to a change and got the earlier version: %d; due: 0.", late)
	return nil
}

// content is a request that makes a version of a prompt, with one more field unless it is empty.
func content(field, value string, version int) map[string]any {
	out := map[string]any{"messages": []map[string]string{{"role": "system", "content": fmt.Sprintf("Version %d of {{ name }}.", version)}}}
	if field != "" {
		out[field] = value
	}
	return out
}

// promptChange makes a change after which requests get a version, while all nodes use the prompt.
func (c *cluster) promptChange(ctx context.Context, named string, version int, change func() error) (deletion, error) {
	return c.changed(ctx, fmt.Sprintf("bench@%d", version), func(ctx context.Context, n *node) (string, error) { return c.usePrompt(ctx, n, named) }, change)
}

// changed makes a change after which what requests get is another text, while all nodes serve such requests.
func (c *cluster) changed(ctx context.Context, want string, use func(context.Context, *node) (string, error), change func() error) (deletion, error) {
	var done atomic.Bool
	earlier := make([][]time.Time, len(c.nodes)) // start times of requests that got the earlier text
	reached := make([]atomic.Bool, len(c.nodes))
	group, all := errgroup.WithContext(ctx)
	for i, n := range c.nodes {
		group.Go(func() error {
			for !done.Load() {
				began := time.Now()
				got, err := use(all, n)
				if err != nil {
					return err
				}
				if got == want {
					reached[i].Store(true)
					continue
				}
				earlier[i] = append(earlier[i], began)
			}
			return nil
		})
	}
	start := time.Now()
	err := change()
	d := deletion{answered: time.Since(start)}
	end := start.Add(d.answered)
	if err == nil {
		err = c.until(all, "a change is in force", func(context.Context) bool {
			for i := range reached {
				if !reached[i].Load() {
					return false
				}
			}
			return true
		})
	}
	done.Store(true)
	if used := group.Wait(); used != nil {
		err = used
	}
	for _, times := range earlier {
		for _, began := range times {
			d.inForce = max(d.inForce, began.Sub(start))
			if began.After(end) {
				d.late++
			}
		}
	}
	return d, err
}

// usePrompt sends a request with the prompt and returns the version that it got.
func (c *cluster) usePrompt(ctx context.Context, n *node, named string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	body := fmt.Sprintf(`{"model":%q,"prompt_id":"bench",%s"messages":[{"role":"user","content":"hello"}]}`, model, named)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+c.admin)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("/v1/chat/completions with a prompt: %d %s", resp.StatusCode, text)
	}
	return resp.Header.Get("x-gateway-prompt"), err
}
