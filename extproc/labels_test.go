package extproc

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// TestEndUserOfTheRequest: the first place that names the end user counts, and a
// customer is blocked in whichever place it stands. The provider gets what it got
// before: its own fields as they are, and LiteLLM's not.
func TestEndUserOfTheRequest(t *testing.T) {
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast", 0)}, Router: quick(0)}, office)
	const (
		user       = `"user":"u"`
		litellm    = `"litellm_metadata":{"x":1,"user":"l"}`
		metadata   = `"metadata":{"user_id":"m"}`
		identifier = `"safety_identifier":"s"`
	)
	all := func(parts ...string) string { return with(strings.Join(parts, ",")) }
	for _, test := range []struct {
		name, body, header, want string
		passed                   string // what the provider gets
	}{
		{"the header is first", all(user, litellm, metadata, identifier), "h", "h", all(user, metadata, identifier)},
		{"user", all(identifier, metadata, litellm, user), "", "u", all(identifier, metadata, user)},
		{"LiteLLM's metadata", all(identifier, metadata, litellm), "", "l", all(identifier, metadata)},
		{"metadata", all(identifier, metadata), "", "m", all(identifier, metadata)},
		{"the safety identifier", all(identifier), "", "s", all(identifier)},
		{"nobody", all(`"metadata":{"user":"u","nested":{"user_id":"u"}}`), "", "", all(`"metadata":{"user":"u","nested":{"user_id":"u"}}`)},
		{
			"what is empty or null names nobody", all(`"user":""`, `"litellm_metadata":{"user":null}`, `"metadata":{"user_id":""}`, identifier), "", "s",
			all(`"user":""`, `"metadata":{"user_id":""}`, identifier),
		},
		{"metadata that are none", all(`"litellm_metadata":null`, `"metadata":"m"`), "", "", all(`"metadata":"m"`)},
		{"an escape", all(`"metadata":{"user\u005fid":"\u00fcber"}`), "", "über", all(`"metadata":{"user\u005fid":"\u00fcber"}`)},
		{"the last of two", all(`"metadata":{"user_id":"one","user_id":"two"}`), "", "two", all(`"metadata":{"user_id":"one","user_id":"two"}`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := k.open(t)
			out := e.request(plainHeaders(e.uuid, "authorization", "Bearer sk-of-caller", "x-gateway-customer-id", test.header), test.body)
			if out.refused != nil {
				t.Fatal(out.refused.body)
			}
			if out.body != test.passed {
				t.Errorf("the provider gets %s, want %s", out.body, test.passed)
			}
			e.answer(jsonAnswer(goodReply))
			if got := k.event(e.uuid).EndUser; got != test.want {
				t.Errorf("counted for %q, want %q", got, test.want)
			}
		})
	}
	for _, body := range []string{
		with(`"user":"mallory"`), with(`"litellm_metadata":{"user":"mallory"}`), with(`"metadata":{"user_id":"mallory"}`), with(`"safety_identifier":"mallory"`),
	} {
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, "authorization", "Bearer sk-of-caller"), body)
		rejectedWith(t, e, out.refused, 403, "customer_blocked")
		e.close()
	}
}

func TestRejectsLabels(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	many := strings.Repeat(`"t",`, 40) + `"t"`
	for _, test := range []struct{ members, code, param string }{
		{`"user":"a\u0000b"`, "invalid_value", "user"},
		{`"user":"a\nb"`, "invalid_value", "user"},
		{`"litellm_metadata":{"user":"\u007f"}`, "invalid_value", "litellm_metadata.user"},
		{`"metadata":{"user_id":"a\u0000b"}`, "invalid_value", "metadata.user_id"},
		{`"safety_identifier":"\u001f"`, "invalid_value", "safety_identifier"},
		{`"metadata":{"user_id":7}`, "invalid_type", "metadata.user_id"},
		{`"safety_identifier":7`, "invalid_type", "safety_identifier"},
		{`"litellm_metadata":{"user":{}}`, "invalid_type", "litellm_metadata.user"},
		{`"litellm_metadata":[]`, "invalid_type", "litellm_metadata"},
		{`"litellm_session_id":7`, "invalid_type", "litellm_session_id"},
		{`"litellm_metadata":{"session_id":[]}`, "invalid_type", "litellm_metadata.session_id"},
		{`"metadata":{"session_id":"a\u0000b"}`, "invalid_value", "metadata.session_id"},
		{`"litellm_metadata":{"tags":"a"}`, "invalid_type", "litellm_metadata.tags"},
		{`"litellm_metadata":{"guardrails":["g"]}`, "guardrail_not_found", "litellm_metadata.guardrails"},
		{`"metadata":{"tags":[1]}`, "invalid_type", "metadata.tags"},
		{`"tags":[` + many + `],"metadata":{"tags":[` + many + `]}`, "invalid_type", "metadata.tags"},
	} {
		e := k.open(t)
		out := e.ask(with(test.members))
		if m := rejectedWith(t, e, out.refused, 400, test.code); m.Param != test.param {
			t.Errorf("%s: the param is %q", test.members, m.Param)
		}
		e.close()
	}
	e := k.open(t)
	if m := rejectedWith(t, e, e.ask(hello, "x-gateway-customer-id", "a\tb").refused, 400, "invalid_value"); m.Param != "x-gateway-customer-id" {
		t.Errorf("the param is %q", m.Param)
	}
	e.close()
	notAsked(t, k)
}

// TestSessionOfTheRequest: it is named in the header or in the body, and goes into the
// event.
func TestSessionOfTheRequest(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	const metadata, litellm, own = `"metadata":{"session_id":"m"}`, `"litellm_metadata":{"session_id":"l"}`, `"litellm_session_id":"s"`
	for _, test := range []struct{ header, members, want, passed string }{
		{"h", metadata + "," + litellm + "," + own, "h", with(metadata)},
		{"", metadata + "," + litellm + "," + own, "s", with(metadata)},
		{"", metadata + "," + litellm, "l", with(metadata)},
		{"", metadata, "m", with(metadata)},
		{"", litellm, "l", hello},
		{"", `"metadata":{"session_id":"` + strings.Repeat("x", 300) + `"}`, strings.Repeat("x", 256), with(`"metadata":{"session_id":"` + strings.Repeat("x", 300) + `"}`)},
		{"", `"metadata":{"session":"m"}`, "", with(`"metadata":{"session":"m"}`)},
	} {
		e := k.open(t)
		out := taken(t, e, with(test.members), "x-gateway-session-id", test.header)
		if out.body != test.passed {
			t.Errorf("the provider gets %s, want %s", out.body, test.passed)
		}
		e.answer(jsonAnswer(goodReply))
		if got := k.event(e.uuid).Session; got != test.want {
			t.Errorf("%s: the session is %q, want %q", test.members, got, test.want)
		}
	}
}

// TestTagsOfTheRequest: they come from four places, and each counts once.
func TestTagsOfTheRequest(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	const metadata = `"metadata":{"tags":["c","d","a"]}`
	out := taken(t, e, with(`"tags":["b","c"],"litellm_metadata":{"tags":["e","a"]},`+metadata), "x-gateway-tags", "a, b")
	if want := with(metadata); out.body != want {
		t.Errorf("the provider gets %s, want %s", out.body, want)
	}
	e.answer(jsonAnswer(goodReply))
	if d := cmp.Diff([]string{"a", "b", "c", "d", "e"}, k.event(e.uuid).Tags); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	e = k.open(t) // a text of that name is the provider's
	taken(t, e, with(`"metadata":{"tags":"mine"},"litellm_metadata":{"tags":null,"guardrails":[]}`))
	e.answer(jsonAnswer(goodReply))
	if got := k.event(e.uuid).Tags; len(got) != 0 {
		t.Errorf("tags %q", got)
	}
}

// noted is a journal that shows the test the intents.
type noted struct {
	pipeline.Journal
	intent func(usage.Attempt)
}

func (n noted) Intent(in usage.Attempt) *journal.Pending {
	n.intent(in)
	return n.Journal.Intent(in)
}

// TestIntentMatchesItsEvent: after a crash of the gateway only the intent of an
// attempt remains, so it describes the attempt and its caller as the event would.
func TestIntentMatchesItsEvent(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	intents := make(chan usage.Attempt, 1)
	k := newKit(t, one(), bounded(budget(money.USD)), b.use, func(_ *kit, d *pipeline.Deps) {
		d.Journal = noted{d.Journal, func(in usage.Attempt) { intents <- in }}
		identify := d.Identify
		d.Identify = func(v *cluster.View, presented credential.Presented, now time.Time) (tenancy.Principal, error) {
			p, err := identify(v, presented, now)
			p.Origin, p.Team, p.User, p.Organization = id.HashKey("sk-first"), "blue", "ada", "acme"
			return p, err
		}
	})
	e := k.open(t)
	taken(t, e, with(`"stream":true,"user":"customer","metadata":{"session_id":"chat-4711","tags":["batch","eu"]}`))
	e.answer(jsonAnswer(goodReply))
	ev, in := k.event(e.uuid), <-intents
	want := ev.Attempt
	want.Tokens, want.Cost = in.Tokens, in.Cost // of these the event has what the attempt used
	if diff := cmp.Diff(want, in); diff != "" || in.Session != "chat-4711" || len(in.Tags) != 2 || in.EndUser != "customer" || in.Origin != id.HashKey("sk-first") || len(in.Charges) == 0 {
		t.Errorf("the intent (- as its event has it): %s\n%+v", diff, in)
	}
}
