package extproc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// providersID is the id that the provider gives to its responses.
const providersID = "resp_68a1f0e7c1b081908f0a1d2c3b4e5f60718293a4b5c6d7e8"

// respondedWith is a whole response.
func respondedWith(responseID, previous string) string {
	return `{"id":"` + responseID + `","object":"response","status":"completed","model":"up","previous_response_id":` + previous + `,"output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed",` +
		`"content":[{"type":"output_text","text":"Hi.","annotations":[]}]}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`
}

// respondedInEvents is the same as a stream.
func respondedInEvents(responseID, previous string) string {
	var out strings.Builder
	event := func(kind, members string) {
		fmt.Fprintf(&out, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, members)
	}
	whole := `"response":` + respondedWith(responseID, previous)
	begun := strings.Replace(whole, `"completed"`, `"in_progress"`, 1)
	event("response.created", begun)
	event("response.in_progress", begun)
	event("response.output_text.delta", `"item_id":"msg_1","delta":"Hi."`)
	event("response.completed", whole)
	return out.String()
}

// mates is a group of two, of which the first is preferred, and another model.
func mates() catalog.Spec {
	return catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "model-a", 0), place("b", "fast", "model-b", 1), place("c", "other", "model-c", 0)},
		Router:      quick(2),
	}
}

// only is a catalog with the given deployments alone.
func only(ds ...catalog.DeploymentSpec) catalog.Spec {
	return catalog.Spec{Deployments: ds, Router: quick(2)}
}

// asks sends a request for a response.
func (k *kit) asks(t *testing.T, body string) (*envoy, outgoing) {
	t.Helper()
	e := k.open(t)
	return e, e.request(to(e, "/v1/responses"), body)
}

// continued is a request that names an earlier response.
func continued(model, previous string) string {
	return fmt.Sprintf(`{"model":%q,"input":"And?","previous_response_id":%q}`, model, previous)
}

// idOf is the id of a response.
func idOf(t *testing.T, body string) string {
	t.Helper()
	var out struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || out.ID == "" {
		t.Fatalf("%s has no id: %v", body, err)
	}
	return out.ID
}

// made is the caller's id of a response that a deployment makes at a node of its own.
func made(t *testing.T, d catalog.DeploymentSpec, changes ...change) string {
	t.Helper()
	k := newKit(t, only(d), changes...)
	e, out := k.asks(t, fmt.Sprintf(`{"model":%q,"input":"Hello"}`, d.ModelName))
	if out.refused != nil {
		t.Fatalf("rejected: %s", out.refused.body)
	}
	return idOf(t, e.answer(jsonAnswer(respondedWith(providersID, "null"))).body)
}

// plans checks that a request goes to one deployment and to no other, however often it is repeated.
func plans(t *testing.T, k *kit, out outgoing, deployment string) {
	t.Helper()
	if out.refused != nil {
		t.Fatalf("rejected: %d %s", out.refused.status, out.refused.body)
	}
	want := k.cluster(t, deployment, contract.Bare)
	for _, c := range out.plan {
		if c != want && c != k.cluster(t, deployment, contract.Rewrite) {
			t.Errorf("the plan is %v, want %s alone", out.plan, want)
		}
	}
	if d, _ := k.catalog.Deployment(id.Deployment(deployment)); out.headers[":authority"] != d.Endpoint.Host {
		t.Errorf("sent to %s, want %s", out.headers[":authority"], deployment)
	}
}

// A response is continued where it was made, whichever node gets the request: with the provider's
// id there, and the caller's id here. All else passes as it is.
func TestStoredResponseContinues(t *testing.T) {
	t.Parallel()
	first := made(t, place("b", "fast", "model-b", 1))
	if strings.Contains(first, providersID) || !strings.HasPrefix(first, "resp_") || len(first) > 512 {
		t.Errorf("the caller's id is %s", first)
	}
	k := newKit(t, mates())
	if out := refuseNot(t, k, helloResponses); out.headers[":authority"] != "a.example" {
		t.Fatalf("a request without history goes to %s, so this test shows nothing", out.headers[":authority"])
	}
	e, out := k.asks(t, continued("fast", first))
	plans(t, k, out, "b")
	if want := strings.Replace(continued("model-b", providersID), `"fast"`, `"model-b"`, 1); out.body != want {
		t.Errorf("the provider gets %s, want %s", out.body, want)
	}
	const next = "resp_2"
	a := e.answer(jsonAnswer(respondedWith(next, `"`+providersID+`"`)))
	second := idOf(t, a.body)
	want := strings.Replace(respondedWith(second, `"`+first+`"`), `"up"`, `"fast"`, 1)
	if a.body != want {
		t.Errorf("the caller gets %s, want %s", a.body, want)
	}
	e, out = k.asks(t, continued("fast", second))
	plans(t, k, out, "b")
	if !strings.Contains(out.body, `"previous_response_id":"`+next+`"`) {
		t.Errorf("the provider gets %s", out.body)
	}
	e.quit()
	k.settled()
}

// The longest id of a deployment leaves room for the provider's.
func TestStoredResponseOfALongName(t *testing.T) {
	t.Parallel()
	long := place("b", "fast", "model-b", 1)
	long.ID = strings.Repeat("b", 128)
	previous := made(t, long)
	if len(previous) > 512 {
		t.Errorf("the id has %d characters: %s", len(previous), previous)
	}
	k := newKit(t, only(long))
	plans(t, k, refuseNot(t, k, continued("fast", previous)), long.ID)
}

// refuseNot is a request that is accepted, and given up by its caller.
func refuseNot(t *testing.T, k *kit, body string) outgoing {
	t.Helper()
	e, out := k.asks(t, body)
	if out.refused == nil {
		e.quit()
	}
	return out
}

// Each event of a stream has the same id, wherever the stream is cut.
func TestStoredResponseStreams(t *testing.T) {
	t.Parallel()
	first := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates())
	stream := respondedInEvents("resp_2", `"`+providersID+`"`)
	for _, pieces := range [][]string{{stream}, bytesOf(stream)} {
		e, out := k.asks(t, strings.Replace(continued("fast", first), "{", `{"stream":true,`, 1))
		plans(t, k, out, "b")
		c := streamAnswer()
		c.pieces = pieces
		a := e.answer(c)
		_, begun, _ := strings.Cut(a.body, `"response":{"id":"`)
		second, _, _ := strings.Cut(begun, `"`)
		want := strings.ReplaceAll(respondedInEvents(second, `"`+first+`"`), `"up"`, `"fast"`)
		if a.body != want || second == "resp_2" {
			t.Errorf("the caller gets %s, want %s", a.body, want)
		}
		_, out = k.asks(t, continued("fast", second))
		plans(t, k, out, "b")
		if !strings.Contains(out.body, `"resp_2"`) {
			t.Errorf("the provider gets %s", out.body)
		}
	}
}

// Whatever a provider's id is, it gets it back.
func TestStoredResponseIDs(t *testing.T) {
	t.Parallel()
	k := newKit(t, mates())
	rapid.Check(t, func(rt *rapid.T) {
		theirs := rapid.StringN(1, 80, 100).Draw(rt, "id")
		quoted, err := json.Marshal(theirs)
		if err != nil {
			rt.Fatal(err)
		}
		e, _ := k.asks(t, helloResponses)
		mine := idOf(t, e.answer(jsonAnswer(strings.Replace(respondedWith("X", "null"), `"X"`, string(quoted), 1))).body)
		e, out := k.asks(t, continued("fast", mine))
		plans(t, k, out, "a")
		var sent struct {
			Previous string `json:"previous_response_id"`
		}
		if err := json.Unmarshal([]byte(out.body), &sent); err != nil || sent.Previous != theirs {
			rt.Errorf("the provider gets %q back, want %q: %v", sent.Previous, theirs, err)
		}
		e.quit()
	})
}

// noResponse checks that a request is rejected because its previous response is unknown.
func noResponse(t *testing.T, out outgoing, says string) {
	t.Helper()
	if out.refused == nil || out.refused.status != 400 {
		t.Fatalf("not rejected: %+v", out)
	}
	e := callerErrorOf(t, out.refused.body)
	if e.Code != "previous_response_not_found" || e.Param != "previous_response_id" || !strings.Contains(e.Message, says) {
		t.Errorf("the error is %+v, want one that says %q", e, says)
	}
}

// An id that leads nowhere is rejected before anything is sent.
func TestStoredResponseIsGone(t *testing.T) {
	t.Parallel()
	const foreign, gone, other = "not the id of a stored response", "is gone", "Name the model"
	b := made(t, place("b", "fast", "model-b", 1))
	c := made(t, place("c", "other", "model-c", 0))
	z := made(t, place("z", "fast", "model-z", 0))
	translated := claude("b", "fast", 0)
	for name, test := range map[string]struct {
		spec           catalog.Spec
		previous, says string
	}{
		"of another model":            {mates(), c, other},
		"of a deleted deployment":     {mates(), z, gone},
		"of the only one's neighbor":  {only(place("a", "fast", "model-a", 0)), b, gone},
		"of one that was replaced":    {only(translated), b, other},
		"the provider's":              {mates(), providersID, foreign},
		"cut":                         {mates(), b[:len(b)-1], foreign},
		"with a line feed":            {mates(), b + "\n", foreign},
		"too long":                    {mates(), b + strings.Repeat("A", 512), foreign},
		"a prefix alone":              {mates(), "resp_mgw1_", foreign},
		"forged":                      {mates(), "resp_mgw1_YgByZXNwXzE", foreign},
		"forged for a single one":     {only(place("b", "fast", "model-b", 0)), "resp_mgw1_YgByZXNwXzE", foreign},
		"changed, with a single one":  {only(place("b", "fast", "model-b", 0)), b[:len(b)-3] + "___", foreign},
		"not an id, and several have": {mates(), "last", foreign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, test.spec)
			noResponse(t, refuseNot(t, k, continued("fast", test.previous)), test.says)
			k.settled()
			notAsked(t, k)
		})
	}
}

// No change of an id is overlooked.
func TestStoredResponseIsForged(t *testing.T) {
	t.Parallel()
	b := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates())
	for i := len("resp_mgw1_"); i < len(b); i++ {
		letter := "A"
		if b[i] == 'A' {
			letter = "B"
		}
		noResponse(t, refuseNot(t, k, continued("fast", b[:i]+letter+b[i+1:])), "not the id of a stored response")
	}
	plans(t, k, refuseNot(t, k, continued("fast", b)), "b")
}

// as has each request come from a principal.
func as(change func(p *tenancy.Principal)) change {
	return func(_ *kit, d *pipeline.Deps) {
		d.Identify = func(v *cluster.View, c credential.Presented, now time.Time) (tenancy.Principal, error) {
			p, err := byView(v, c, now)
			change(&p)
			return p, err
		}
	}
}

// Only the team, the user or the key that got a response may continue it, although the provider
// would let anyone.
func TestStoredResponseOfAnotherTenant(t *testing.T) {
	t.Parallel()
	of := func(key string, organization id.Organization, team id.Team, user id.User) change {
		return as(func(p *tenancy.Principal) {
			p.Hash, p.Organization, p.Team, p.User = id.HashKey(key), organization, team, user
		})
	}
	regenerated := as(func(p *tenancy.Principal) { p.Hash, p.Origin = id.HashKey("3"), id.HashKey("1") })
	for name, test := range map[string]struct {
		made, asked change
		may         bool
	}{
		"a key":                           {of("1", "", "", ""), of("1", "", "", ""), true},
		"a key that was regenerated":      {of("1", "", "", ""), regenerated, true},
		"another key":                     {of("1", "", "", ""), of("2", "", "", ""), false},
		"another key of the organization": {of("1", "acme", "", ""), of("2", "acme", "", ""), false},
		"another key of the team":         {of("1", "acme", "blue", "eve"), of("2", "acme", "blue", ""), true},
		"another team":                    {of("1", "acme", "blue", "eve"), of("2", "acme", "red", "eve"), false},
		"another key of the user":         {of("1", "acme", "", "eve"), of("2", "acme", "", "eve"), true},
		"another user":                    {of("1", "acme", "", "eve"), of("2", "acme", "", "bob"), false},
		"the user in another organization": {
			of("1", "acme", "", "eve"), of("1", "bulk", "", "eve"), false,
		},
		"a user named like the team": {of("1", "acme", "eve", ""), of("1", "acme", "", "eve"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := place("b", "fast", "model-b", 1)
			previous := made(t, b, test.made)
			k := newKit(t, only(b), test.asked) // a single one, which takes ids that are not sealed
			out := refuseNot(t, k, continued("fast", previous))
			if test.may {
				plans(t, k, out, "b")
				return
			}
			noResponse(t, out, "not the id of a stored response")
			notAsked(t, k)
		})
	}
}

// What is stored without a sealed id is found only where one deployment can have it.
func TestStoredReferences(t *testing.T) {
	t.Parallel()
	with := func(members string) string { return `{"model":"fast",` + members + `}` }
	const unsealed, conversation = `"input":"And?","previous_response_id":"resp_1"`, `"input":"And?","conversation":"conv_1"`
	const item = `"input":[{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}]`
	const bare, escaped = `"input":[{"id":"msg_1"}]`, `"input":[{"role":"user","content":"a"},{"type":"item\u005freference","id":"msg_1"}]`
	single := only(place("a", "fast", "model-a", 0), claude("x", "fast", 0), place("c", "other", "model-c", 0))
	single.Router.Fallbacks = []map[string][]string{{"fast": {"other"}}}
	translated := only(claude("x", "fast", 0))
	account := func(change func(*catalog.DeploymentSpec)) catalog.Spec {
		a, b := place("a", "fast", "model-a", 0), place("b", "fast", "model-b", 1)
		b.APIBase, b.APIKey = a.APIBase, a.APIKey
		change(&b)
		spec := only(a, b, claude("x", "fast", 0), place("c", "other", "model-c", 0))
		spec.Router.Fallbacks = []map[string][]string{{"fast": {"other"}}}
		return spec
	}
	shared := account(func(*catalog.DeploymentSpec) {})
	inOrganization := func(d *catalog.DeploymentSpec) {
		d.ExtraHeaders = map[string]vault.Secret{"OpenAI-Organization": vault.NewSecret("org-2")}
	}
	sealed := made(t, place("b", "fast", "model-b", 1))
	for name, test := range map[string]struct {
		spec    catalog.Spec
		members string
		to      string // empty if it is rejected
		param   string
	}{
		"unsealed at one":                       {single, unsealed, "a", ""},
		"a conversation at one":                 {single, conversation, "a", ""},
		"an item at one":                        {single, item, "a", ""},
		"an item without a type at one":         {single, bare, "a", ""},
		"a conversation at several":             {mates(), conversation, "", "conversation"},
		"an item at several":                    {mates(), item, "", "input[1]"},
		"an item without a type at several":     {mates(), bare, "", "input[0]"},
		"an item with an escape at several":     {mates(), escaped, "", "input[1]"},
		"an item after a response of a sealed":  {mates(), item + `,"previous_response_id":"` + sealed + `"`, "b", ""},
		"nulls at several":                      {mates(), `"input":[{"role":"user","content":"a"}],"previous_response_id":null,"conversation":null`, "a", ""},
		"unsealed in one account":               {shared, unsealed, "a", ""},
		"a conversation in one account":         {shared, conversation, "a", ""},
		"an item in one account":                {shared, item, "a", ""},
		"an item at another address":            {account(func(d *catalog.DeploymentSpec) { d.APIBase += "/eu" }), item, "", "input[1]"},
		"an item with another key":              {account(func(d *catalog.DeploymentSpec) { d.APIKey = vault.NewSecret("other") }), item, "", "input[1]"},
		"an item in another organization":       {account(inOrganization), item, "", "input[1]"},
		"unsealed where nothing is stored":      {translated, unsealed, "", "previous_response_id"},
		"a conversation where nothing is":       {translated, conversation, "", "conversation"},
		"an item where nothing is stored":       {translated, item, "", "input[1]"},
		"a number instead of an id":             {mates(), `"input":"a","previous_response_id":1`, "", "previous_response_id"},
		"a number instead of an id, at one":     {single, `"input":"a","previous_response_id":1`, "", "previous_response_id"},
		"a number instead of an id, translated": {translated, `"input":"a","previous_response_id":1`, "", "previous_response_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, test.spec)
			out := refuseNot(t, k, with(test.members))
			if test.to != "" {
				if len(test.spec.Deployments) > 1 && !strings.Contains(name, "null") {
					plans(t, k, out, test.to)
				}
				if want := strings.Replace(with(strings.Replace(test.members, sealed, providersID, 1)), "fast", "model-"+test.to, 1); out.body != want {
					t.Errorf("the provider gets %s, want %s", out.body, want)
				}
				return
			}
			if out.refused == nil || out.refused.status != 400 {
				t.Fatalf("not rejected: %+v", out)
			}
			if e := callerErrorOf(t, out.refused.body); e.Param != test.param {
				t.Errorf("the error is %+v, want one about %s", e, test.param)
			}
			notAsked(t, k)
		})
	}
}

// A response that a fallback has made is continued there, under the same model.
func TestStoredResponseOfAFallback(t *testing.T) {
	t.Parallel()
	c := place("c", "other", "model-c", 0)
	previous := made(t, c)
	spec := mates()
	spec.Router.Fallbacks = []map[string][]string{{"fast": {"other"}}}
	k := newKit(t, spec)
	plans(t, k, refuseNot(t, k, continued("fast", previous)), "c")
	k.settled()
}

// The history is input that the request does not show: it is paid for.
func TestStoredHistoryIsPaidFor(t *testing.T) {
	t.Parallel()
	previous := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates())
	e, _ := k.asks(t, continued("fast", previous))
	e.answer(jsonAnswer(strings.Replace(respondedWith("resp_2", "null"), `"input_tokens":10`, `"input_tokens":90000`, 1)))
	if ev := k.event(e.uuid); ev.Tokens.Input != 90_000 {
		t.Errorf("recorded %+v", ev.Tokens)
	}
}

// A provider that no longer has the response names it in its error: the caller reads the id that it
// has sent.
func TestStoredResponseExpired(t *testing.T) {
	t.Parallel()
	previous := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates())
	e, _ := k.asks(t, continued("fast", previous))
	c := jsonAnswer(`{"error":{"message":"Previous response with id '` + providersID + `' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`)
	c.status = 400
	a := e.answer(c)
	if got := callerErrorOf(t, a.body); a.status != 400 || got.Code != "previous_response_not_found" || !strings.Contains(got.Message, previous) || strings.Contains(a.body, providersID) {
		t.Errorf("the caller gets %d %s", a.status, a.body)
	}
}

// While the key is not there, responses are made but cannot be continued.
func TestStoredResponseWithoutKey(t *testing.T) {
	t.Parallel()
	previous := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates(), func(_ *kit, d *pipeline.Deps) {
		d.Seal = func(vault.Secret, string) ([]byte, error) { return nil, vault.ErrLocked }
		d.Open = func([]byte, string) (vault.Secret, error) { return vault.Secret{}, vault.ErrLocked }
	})
	e, _ := k.asks(t, helloResponses)
	a := e.answer(jsonAnswer(respondedWith(providersID, "null")))
	if a.status != 200 || strings.Contains(a.body, providersID) || !strings.Contains(a.body, "Hi.") {
		t.Errorf("the caller gets %d %s", a.status, a.body)
	}
	noResponse(t, refuseNot(t, k, continued("fast", idOf(t, a.body))), "not the id of a stored response")
	if out := refuseNot(t, k, continued("fast", previous)); out.refused == nil || out.refused.status != 503 || out.refused.headers["retry-after"] == "" {
		t.Errorf("without the key: %+v", out)
	}
}

// The tokens of a history are counted where the history is.
func TestStoredHistoryIsCounted(t *testing.T) {
	t.Parallel()
	previous := made(t, place("b", "fast", "model-b", 1))
	k := newKit(t, mates())
	e := k.open(t)
	out := e.request(to(e, "/v1/responses/input_tokens"), continued("fast", previous))
	plans(t, k, out, "b")
	if !strings.Contains(out.body, `"previous_response_id":"`+providersID+`"`) {
		t.Errorf("the provider gets %s", out.body)
	}
	e.quit()
	noResponse(t, refuseNot(t, k, continued("fast", previous+"A")), "not the id of a stored response")
}
