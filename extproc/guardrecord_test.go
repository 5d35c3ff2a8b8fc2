package extproc

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// asked is a finding of the engine of greeting in a request.
func asked(guardrail, action, place string, offset, count int64) usage.Violation {
	return usage.Violation{
		Guardrail: guardrail, Engine: "presidio", Hook: "pre_call", Entity: "GREETING", Action: action, Place: place, Offset: offset, Count: count,
	}
}

// answered is one in a response.
func answered(guardrail, action, place string, offset, count int64) usage.Violation {
	v := asked(guardrail, action, place, offset, count)
	v.Hook = "post_call"
	return v
}

// named is hello with guardrails.
func named(body string, guardrails ...string) string {
	return strings.Replace(body, "{", `{"guardrails":["`+strings.Join(guardrails, `","`)+`"],`, 1)
}

// TestFindingsAreRecorded: the final event of a request names its guardrails, and what they found with the places, in
// whole responses and in streams, however these are cut.
func TestFindingsAreRecorded(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{
		"watch": bothHooks("flag"), "mask": bothHooks(""), "quiet": bothHooks("flag"),
	}))
	twice := strings.Replace(hello, `"Hello"}`, `"Hello, Hello"},{"role":"assistant","content":"Well: Hello"}`, 1)
	check := func(name string, e *envoy, post ...usage.Violation) {
		t.Helper()
		want := append([]usage.Violation{
			asked("watch", "flag", "messages[0].content", 0, 2), asked("mask", "anonymize", "messages[0].content", 0, 2),
			asked("watch", "flag", "messages[1].content", 6, 1), asked("mask", "anonymize", "messages[1].content", 6, 1),
		}, post...)
		ev := k.event(e.uuid)
		if diff := cmp.Diff(want, ev.Violations); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"watch", "mask"}, ev.Guardrails); diff != "" || !ev.Final {
			t.Errorf("%s: final %v, applied (-want +got):\n%s", name, ev.Final, diff)
		}
	}
	e := k.open(t)
	taken(t, e, named(twice, "watch", "mask"))
	e.answer(jsonAnswer(strings.Replace(goodReply, "Hi there.", "So: Hi there. Hi there!", 1)))
	check("whole", e,
		answered("watch", "flag", "choices[0].message.content", 4, 2), answered("mask", "anonymize", "choices[0].message.content", 4, 2))

	second := `data: {"id":"c","object":"chat.completion.chunk","model":"up","choices":[{"index":1,"delta":{"content":"ABC Hi there"}}]}` + "\n\n"
	stream := text("So: ") + text("Hi ") + second + text("there. ") + text("Hi there!") + stop() + done
	for _, pieces := range [][]string{{stream}, bytesOf(stream)} {
		e := k.open(t)
		taken(t, e, strings.Replace(named(twice, "watch", "mask"), "{", `{"stream":true,`, 1))
		c := streamAnswer()
		c.pieces = pieces
		e.answer(c)
		check(fmt.Sprintf("%d pieces", len(pieces)), e,
			answered("watch", "flag", "choices[1].delta.content", 4, 1), answered("mask", "anonymize", "choices[1].delta.content", 4, 1),
			answered("watch", "flag", "choices[0].delta.content", 4, 2), answered("mask", "anonymize", "choices[0].delta.content", 4, 2))
	}

	e = k.open(t)
	taken(t, e, named(strings.Replace(hello, "Hello", "x", 1), "quiet"))
	e.answer(jsonAnswer(strings.Replace(goodReply, "Hi there.", "x", 1)))
	if ev := k.event(e.uuid); fmt.Sprint(ev.Guardrails) != "[quiet]" || len(ev.Violations) != 0 {
		t.Errorf("nothing was found, and recorded is %+v", ev)
	}
	e = k.open(t)
	taken(t, e, hello)
	e.answer(jsonAnswer(goodReply))
	if ev := k.event(e.uuid); ev.Guardrails != nil || ev.Violations != nil {
		t.Errorf("no guardrail applies, and recorded is %+v", ev)
	}
	k.settled()
}

// TestFindingsInRequestsThatEndEarly: the notice of a request that was not sent has its findings, also if something else
// rejected it. Of a response that was blocked both records name them, and only the event of the attempt is final.
func TestFindingsInRequestsThatEndEarly(t *testing.T) {
	t.Parallel()
	all := withGuardrails(t, map[string]guardrails.Guardrail{
		"in": greeting("block", guardrails.PreCall), "out": greeting("block", guardrails.PostCall), "watch": greeting("flag", guardrails.PreCall),
	})
	k := newKit(t, one(), all)
	seen := asked("watch", "flag", "messages[0].content", 0, 1)

	e := k.open(t)
	e.ask(named(hello, "watch", "in"))
	n := k.notices(e.uuid)
	if len(n) != 1 || n[0].Notice.Type != "request.blocked" || !n[0].Final || fmt.Sprint(n[0].Guardrails) != "[watch in]" {
		t.Fatalf("noticed %+v", n)
	}
	if diff := cmp.Diff([]usage.Violation{seen, asked("in", "block", "messages[0].content", 0, 1)}, n[0].Violations); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}

	e = k.open(t)
	taken(t, e, named(hello, "out"))
	e.answer(jsonAnswer(goodReply))
	want := []usage.Violation{answered("out", "block", "choices[0].message.content", 0, 1)}
	n = k.notices(e.uuid)
	if len(n) != 1 || n[0].Notice.Type != "request.blocked" || n[0].Final || !cmp.Equal(want, n[0].Violations) {
		t.Errorf("noticed %+v", n)
	}
	if ev := k.event(e.uuid); !ev.Final || !cmp.Equal(want, ev.Violations) {
		t.Errorf("recorded %+v", ev)
	}

	e = k.open(t)
	e.ask(named(strings.Replace(hello, "fast", "nothing", 1), "watch"))
	if n := k.notices(e.uuid); len(n) != 1 || n[0].Notice.Type != "request.guardrail_triggered" || n[0].Notice.Code != "model_not_found" || !cmp.Equal([]usage.Violation{seen}, n[0].Violations) {
		t.Errorf("noticed of an unknown model: %+v", n)
	}
	e = k.open(t)
	e.ask(strings.Replace(hello, "fast", "nothing", 1))
	if n := k.recorded(e.uuid); len(n) != 0 {
		t.Errorf("recorded of an unknown model: %+v", n)
	}
	k.settled()
}

// TestFindingsInCounts: the gateway counts tokens itself, so there is no attempt, and the findings have a notice.
func TestFindingsInCounts(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("solo", "fast", 0)}, Router: quick(0)},
		withGuardrails(t, map[string]guardrails.Guardrail{"watch": greeting("flag", guardrails.PreCall)}))
	e := k.open(t)
	out := e.request(to(e, "/v1/responses/input_tokens"), named(`{"model":"fast","input":"Hello"}`, "watch"))
	if out.refused == nil || out.refused.status != 200 {
		t.Fatalf("the count is %+v", out)
	}
	n := k.notices(e.uuid)
	if len(n) != 1 || n[0].Notice.Type != "request.guardrail_triggered" || n[0].Notice.Code != "" || !cmp.Equal([]usage.Violation{asked("watch", "flag", "input", 0, 1)}, n[0].Violations) {
		t.Errorf("noticed %+v", n)
	}
}

// TestFloodOfFindings: of many blocked requests in a second, the record of those that are counted together has the sums
// of what was found.
func TestFloodOfFindings(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady, withGuardrails(t, map[string]guardrails.Guardrail{"in": greeting("block", guardrails.PreCall)}))
	for range 25 {
		e := k.open(t)
		e.ask(named(hello, "in"))
		e.close()
	}
	k.ticks.Add(1000)
	e := k.open(t)
	e.ask(named(hello, "in"))
	e.close()
	found := int64(0)
	for _, ev := range k.notices("") {
		for _, v := range ev.Violations {
			if found += v.Count; (v.Count == 15) != (ev.Notice.Count == 15) || (v.Place == "") != (v.Count == 15) {
				t.Errorf("recorded %+v of %+v", v, ev.Notice)
			}
		}
	}
	if found != 26 {
		t.Errorf("%d findings are recorded", found)
	}
}

// TestFoundTextsAreNowhere: what a guardrail finds, in any place and under any name, is in no record, log line or metric.
func TestFoundTextsAreNowhere(t *testing.T) {
	t.Parallel()
	reader := sdk.NewManualReader()
	instruments, err := metrics.New(sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t, catalog.Spec{Deployments: one().Deployments, Router: quick(0)}, withGuardrails(t, map[string]guardrails.Guardrail{
		"watch": bothHooks("flag"), "in": greeting("block", guardrails.PreCall), "out": greeting("block", guardrails.PostCall),
	}), func(_ *kit, d *pipeline.Deps) { d.Metrics = instruments })
	everywhere := `{"model":"fast","messages":[{"role":"user","content":"Hello","Hello":"Hello"},{"role":"user","content":[{"type":"text","text":"Hello","Hello":{"Hello":"Hello"}}]},` +
		`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"Hello","arguments":"{\"Hello\":\"Hello\"}"}}]},{"role":"tool","tool_call_id":"1","content":"Hello"}],` +
		`"tools":[{"type":"function","function":{"name":"Hello","description":"Hello","parameters":{"type":"object","properties":{"Hello":{"description":"Hello"}}}}}],"Hello":"Hello","Hello2":{"a":"Hello"}}`
	reply := strings.Replace(goodReply, `"content":"Hi there."`, `"content":"Hi there.","Hi there":"Hi there","tool_calls":[{"id":"1","type":"function","function":{"name":"Hi there","arguments":"{\"Hi there\":\"Hi there\"}"}}]`, 1)
	for _, guardrail := range []string{"watch", "in", "out"} {
		e := k.open(t)
		if out := e.ask(named(everywhere, guardrail)); out.refused == nil {
			e.answer(jsonAnswer(reply))
		}
		e.close()
		e = k.open(t)
		if out := e.ask(strings.Replace(named(everywhere, guardrail), "{", `{"stream":true,`, 1)); out.refused == nil {
			c := streamAnswer()
			c.pieces = []string{text("Hi there") + stop() + done}
			e.answer(c)
		}
		e.close()
	}
	found := int64(0)
	var all strings.Builder
	for _, ev := range k.recorded("") {
		for _, v := range ev.Violations {
			found += v.Count
		}
		fmt.Fprintf(&all, "%+v %+v\n", ev, ev.Notice)
	}
	if found < 40 {
		t.Errorf("%d findings are recorded: the test finds little", found)
	}
	all.WriteString(k.logs.String())
	var measured metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &measured); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&all, "%+v", measured)
	for line := range strings.Lines(all.String()) {
		if strings.Contains(line, "Hello") || strings.Contains(line, "Hi there") {
			t.Errorf("a found text is in %s", line)
		}
	}
}

// TestGuardrailMetrics: findings count by what they are, and time by hook, once for each request. The number of series is
// bounded, whatever engines report.
func TestGuardrailMetrics(t *testing.T) {
	t.Parallel()
	reader := sdk.NewManualReader()
	instruments, err := metrics.New(sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{
		"watch": bothHooks("flag"), "in": greeting("block", guardrails.PreCall),
	}), func(_ *kit, d *pipeline.Deps) { d.Metrics = instruments })
	whole := k.open(t)
	taken(t, whole, named(hello, "watch"))
	whole.answer(jsonAnswer(goodReply))
	whole.close()
	stream := k.open(t)
	taken(t, stream, strings.Replace(named(hello, "watch"), "{", `{"stream":true,`, 1))
	c := streamAnswer()
	c.pieces = []string{text("Hi "), text("there. Hi there."), stop(), done}
	stream.answer(c)
	stream.close()
	blocked := k.open(t)
	blocked.ask(named(hello, "in"))
	blocked.close()
	plain := k.open(t)
	taken(t, plain, hello)
	plain.answer(jsonAnswer(goodReply))
	plain.close()
	got := guardrailSeries(t, reader)
	want := map[string]int64{
		"presidio/GREETING/flag/pre_call/watch":  2,
		"presidio/GREETING/flag/post_call/watch": 3,
		"presidio/GREETING/block/pre_call/in":    1,
		"pre_call false":                         2,
		"pre_call true":                          1,
		"post_call false":                        1,
		"post_call true":                         1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for i := range 3000 {
		instruments.Guarded(t.Context(), []usage.Violation{{Guardrail: "g", Engine: "http", Hook: "pre_call", Entity: fmt.Sprint("E", i), Action: "flag", Count: 1}})
	}
	instruments.Guarded(t.Context(), []usage.Violation{{Guardrail: "g", Engine: "http", Hook: "pre_call", Entity: "a\nb" + strings.Repeat("x", 1000), Action: "flag", Count: 1}})
	got = guardrailSeries(t, reader)
	total := int64(0)
	for name, n := range got {
		if strings.Contains(name, "\n") || len(name) > 200 {
			t.Errorf("a series is %.300s", name)
		}
		if !strings.HasSuffix(name, "true") && !strings.HasSuffix(name, "false") {
			total += n
		}
	}
	if len(got) != 1000+4 || total != 6+3001 || got["other/other/other/other/other"] != 3001-(999-3) {
		t.Errorf("%d series with %d findings, %d of them others", len(got), total, got["other/other/other/other/other"])
	}
}

// guardrailSeries returns the series of guardrails by their labels.
func guardrailSeries(t *testing.T, reader *sdk.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	label := func(set attribute.Set) string {
		values := map[string]string{}
		for _, l := range set.ToSlice() {
			values[string(l.Key)] = l.Value.String()
		}
		if stream, ok := values["gateway.stream"]; ok {
			return values["gateway.guardrail.hook"] + " " + stream
		}
		return strings.Join([]string{
			values["gateway.guardrail.engine"], values["gateway.guardrail.entity"], values["gateway.guardrail.action"],
			values["gateway.guardrail.hook"], values["gateway.guardrail.name"],
		}, "/")
	}
	out := make(map[string]int64)
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				if m.Name == "gateway.guardrail.findings" {
					out[label(p.Attributes)] += p.Value
				}
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				if m.Name == "gateway.guardrail.duration" {
					out[label(p.Attributes)] += int64(p.Count)
				}
			}
		}
	}
	return out
}
