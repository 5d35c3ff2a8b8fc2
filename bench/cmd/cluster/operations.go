package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"
)

// Parameters of the operations.
const (
	manyTeams = 200
	samples   = 300 // of each read
	bulkSize  = 500
	bulks     = 10
)

// Targets, at 100,000 keys.
const (
	dueWrite = 100 * time.Millisecond
	dueList  = 20 * time.Millisecond
	dueInfo  = 5 * time.Millisecond
)

func team(n int) string { return fmt.Sprintf("team-%03d", n) }

// measureOperations creates keys in teams, and times typical requests of users and scripts, on
// all nodes in turn.
func (c *cluster) measureOperations(ctx context.Context, o options, r *report) error {
	if err := c.fill(ctx, o, r); err != nil {
		return err
	}
	for _, callers := range []int{1, o.writers} {
		times, err := c.write(ctx, o.writes, callers)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("key/generate, %d at once", callers), times, dueWrite)
	}
	tokens, err := c.tokens(ctx)
	if err != nil {
		return err
	}
	for _, read := range []struct {
		name string
		path func(i int) string
		due  time.Duration
	}{
		{"key/info", func(i int) string { return "/key/info?key=" + tokens[i%len(tokens)] }, dueInfo},
		{"key/list, the first page of 100 records", func(int) string { return "/key/list?size=100&return_full_object=true" }, dueList},
		{"key/list, a page in the middle", func(i int) string {
			return fmt.Sprintf("/key/list?size=100&return_full_object=true&page=%d", max(1, o.keys/200-i))
		}, dueList},
		{"key/list, of a team", func(i int) string { return "/key/list?size=100&return_full_object=true&team_id=" + team(i%manyTeams) }, dueList},
		{"key/list, by alias", func(i int) string { return fmt.Sprintf("/key/list?key_alias=key-%d", i) }, dueList},
		{"key/list, search", func(i int) string { return fmt.Sprintf("/key/list?size=100&search=-%d", 1000+i) }, dueList},
		{"team/info with 100 keys", func(i int) string { return "/team/info?team_id=" + team(i%manyTeams) }, dueList},
	} {
		log.Printf("measuring %s", read.name)
		times, err := c.timed(samples, func(i int) error { return c.ask(ctx, c.nodes[i%len(c.nodes)], http.MethodGet, read.path(i), nil, nil) })
		if err != nil {
			return err
		}
		r.add(read.name, times, read.due)
	}
	return c.measureUpdates(ctx, tokens, r)
}

// fill creates the keys in teams, unless they exist.
func (c *cluster) fill(ctx context.Context, o options, r *report) error {
	if c.teams > 0 {
		return nil
	}
	for i := range manyTeams {
		if err := c.ask(ctx, c.nodes[0], http.MethodPost, "/team/new", map[string]any{"team_id": team(i), "team_alias": fmt.Sprintf("Team %d", i)}, nil); err != nil {
			return err
		}
	}
	c.teams = manyTeams
	start := time.Now()
	if _, err := c.write(ctx, o.keys, o.fillers); err != nil {
		return err
	}
	r.note("%d keys were made in %d teams with %d callers at %.0f a second.", o.keys, manyTeams, o.fillers, float64(o.keys)/time.Since(start).Seconds())
	return c.settle(ctx)
}

func (c *cluster) measureUpdates(ctx context.Context, tokens []string, r *report) error {
	times, err := c.timed(samples, func(i int) error {
		return c.ask(ctx, c.nodes[i%len(c.nodes)], http.MethodPost, "/key/update", map[string]any{"key": tokens[i%len(tokens)], "rpm_limit": 1000 + i}, nil)
	})
	if err != nil {
		return err
	}
	r.add("key/update", times, dueWrite)
	times, err = c.timed(bulks, func(i int) error {
		var changes []map[string]any
		for n := range bulkSize {
			changes = append(changes, map[string]any{"key": tokens[n%len(tokens)], "rpm_limit": 2000 + i})
		}
		return c.ask(ctx, c.nodes[i%len(c.nodes)], http.MethodPost, "/key/bulk_update", map[string]any{"keys": changes[:min(bulkSize, len(tokens))]}, nil)
	})
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("key/bulk_update of %d", min(bulkSize, len(tokens))), times, time.Second)
	return nil
}

// timed calls do n times in sequence.
func (*cluster) timed(n int, do func(i int) error) ([]time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if err := do(i); err != nil {
			return nil, err
		}
		times[i] = time.Since(start)
	}
	return times, nil
}

// tokens returns the hashes of some keys.
func (c *cluster) tokens(ctx context.Context) ([]string, error) {
	var out []string
	for page := 1; page <= 10; page++ {
		var list struct {
			Keys []string `json:"keys"`
		}
		if err := c.ask(ctx, c.nodes[0], http.MethodGet, fmt.Sprintf("/key/list?size=100&page=%d", page), nil, &list); err != nil {
			return nil, err
		}
		out = append(out, list.Keys...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("/key/list has no keys")
	}
	return out, nil
}
