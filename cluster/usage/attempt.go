package usage

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Attempt describes one attempt of a request at a provider: its owner, its target, its call,
// its usage and its cost. The journal keeps it from before it is sent until its event is
// posted, and the ledger keeps it after that. A new field belongs here, in Encoder.Attempt and
// in Attempt.Decode.
type Attempt struct {
	Request    id.Request
	Number     int // of the attempt within its request, from 1
	Key        id.KeyHash
	Origin     id.KeyHash   // the key with the account of this key; zero: its own account
	Parents    []id.KeyHash // as tenancy.Principal.Parents
	KeyAlias   string
	Deployment id.Deployment
	Group      id.ModelName // the model group; for a pattern, the requested model
	Provider   string
	Model      string // name at the provider
	CallType   string
	Stream     bool
	EndUser    string
	// OfOrganization says that EndUser is an end user of Organization, if there is one. In
	// records of older versions all keys of the gateway share the end user.
	OfOrganization bool
	Session        string // the caller's name for a series of requests
	Tags           []string
	// Team, User and Organization are those of the key; empty where it has none.
	Team         id.Team
	User         id.User
	Organization id.Organization
	BoundedBy    id.User  // as tenancy.Principal.BoundedBy
	Actor        string   // as tenancy.Principal.Actor formats it
	Charges      []Charge // the bounds by which the request was admitted
	Steps        Steps    // before this attempt
	Prompt       Prompt   // that the request was composed with
	Passed       Passed   // the request itself, if nothing here has read it

	Start time.Time
	// OwnClock is set by the journal: the times are those of the node's clock, because the
	// cluster's time was unknown. The cluster's time was not before NotBefore.
	OwnClock  bool
	NotBefore time.Time

	// Tokens and Cost are estimates until the attempt has ended: the input, without output. If
	// the gateway crashes during an attempt, it is charged with them.
	Tokens Tokens
	Cost   money.Pico
}

// Prompt is a version of a prompt. The zero value is none.
type Prompt struct {
	ID      string
	Version uint32
	Label   string // by which the version was found; empty if the request named it or got the latest
}

// Passed is a request to a path of a provider that the gateway does not serve itself: it was passed on unread, and has no
// price. The zero value is none.
type Passed struct {
	Method string
	Path   string // without its query
	Bytes  int64  // of its body
}

// Steps counts the steps of a request before an attempt.
type Steps struct {
	Counted   bool // false in records from before these counts existed
	Retries   int  // further attempts at the same model or fallback target
	Fallbacks int  // steps to a fallback, including the one to the attempt
}

// Payer returns the user at whose accounts the attempt counts; empty for none.
func (a *Attempt) Payer() id.User {
	if a.User == "" {
		return a.BoundedBy
	}
	return a.User
}

// Account returns the key whose account pays for the attempt.
func (a *Attempt) Account() id.KeyHash {
	if a.Origin == (id.KeyHash{}) {
		return a.Key
	}
	return a.Origin
}

// EndUserAccount returns the account of the end user.
func (a *Attempt) EndUserAccount() id.Account {
	u := id.EndUser{ID: id.Customer(a.EndUser)}
	if a.OfOrganization {
		u.Organization = a.Organization
	}
	return u.Account()
}

// Attempt sets the fields of m that describe an attempt.
func (e *Encoder) Attempt(m *clusterv1.UsageEvent, a *Attempt) {
	m.Request = Text(string(a.Request))
	m.Attempt = int64(a.Number)
	m.KeyHash = a.Key[:]
	m.OriginHash = given(&a.Origin)
	m.ParentHashes = m.ParentHashes[:0]
	for i := range a.Parents {
		m.ParentHashes = append(m.ParentHashes, a.Parents[i][:])
	}
	m.KeyAlias = Text(a.KeyAlias)
	m.Deployment = Text(string(a.Deployment))
	m.Group = Text(string(a.Group))
	m.Provider = Text(a.Provider)
	m.Model = Text(a.Model)
	m.CallType = Text(a.CallType)
	m.Stream = a.Stream
	m.EndUser = Text(a.EndUser)
	m.EndUserOfOrganization = a.OfOrganization && a.EndUser != "" && a.Organization != ""
	m.Session = Text(a.Session)
	m.Tags = m.Tags[:0]
	for _, tag := range a.Tags {
		m.Tags = append(m.Tags, Text(tag))
	}
	m.Team = Text(string(a.Team))
	m.User = Text(string(a.User))
	m.Organization = Text(string(a.Organization))
	m.BoundedByUser = Text(string(a.BoundedBy))
	m.Actor = Text(a.Actor)
	m.Charges = e.encodeCharges(a.Charges)
	m.CountedApart, m.Retries, m.FallbacksTaken = a.Steps.Counted, int64(a.Steps.Retries), int64(a.Steps.Fallbacks)
	m.PromptId, m.PromptVersion, m.PromptLabel = Text(a.Prompt.ID), a.Prompt.Version, Text(a.Prompt.Label)
	m.Passthrough = encodePassed(&a.Passed)
	m.StartUnixNano = nanos(a.Start)
	m.OwnClock, m.NotBeforeUnixNano = a.OwnClock, nanos(a.NotBefore)
	m.Tokens = e.encodeTokens(&a.Tokens)
	m.CostPico = int64(a.Cost)
}

// encodePassed returns a request that was passed on for records; nil for none.
func encodePassed(p *Passed) *clusterv1.Passthrough {
	if *p == (Passed{}) {
		return nil
	}
	return &clusterv1.Passthrough{Method: Text(p.Method), Path: Text(p.Path), Bytes: p.Bytes}
}

// Decode replaces a by the attempt that m describes.
func (a *Attempt) Decode(m *clusterv1.UsageEvent) {
	*a = Attempt{
		Request: id.Request(m.GetRequest()), Number: int(m.GetAttempt()),
		Parents: decodeHashes(m.GetParentHashes()), KeyAlias: m.GetKeyAlias(),
		Deployment: id.Deployment(m.GetDeployment()), Group: id.ModelName(m.GetGroup()),
		Provider: m.GetProvider(), Model: m.GetModel(), CallType: m.GetCallType(), Stream: m.GetStream(),
		EndUser: m.GetEndUser(), OfOrganization: m.GetEndUserOfOrganization(),
		Session: m.GetSession(), Tags: m.GetTags(),
		Team: id.Team(m.GetTeam()), User: id.User(m.GetUser()), Organization: id.Organization(m.GetOrganization()), BoundedBy: id.User(m.GetBoundedByUser()),
		Actor: m.GetActor(), Charges: decodeCharges(m.GetCharges()),
		Steps:  Steps{Counted: m.GetCountedApart(), Retries: int(m.GetRetries()), Fallbacks: int(m.GetFallbacksTaken())},
		Prompt: Prompt{ID: m.GetPromptId(), Version: m.GetPromptVersion(), Label: m.GetPromptLabel()},
		Passed: Passed{Method: m.GetPassthrough().GetMethod(), Path: m.GetPassthrough().GetPath(), Bytes: m.GetPassthrough().GetBytes()},
		Start:  instant(m.GetStartUnixNano()), OwnClock: m.GetOwnClock(), NotBefore: instant(m.GetNotBeforeUnixNano()),
		Tokens: decodeTokens(m.GetTokens()), Cost: money.Pico(m.GetCostPico()),
	}
	copy(a.Key[:], m.GetKeyHash())
	copy(a.Origin[:], m.GetOriginHash())
}

// Charge is the limit by which a request was admitted at one of the accounts of its events. The
// event contains the account; an account without limits has no Charge. The ledger uses the
// Charge and not the nodes' knowledge of keys and teams, so that all nodes reach the same
// state.
type Charge struct {
	Kind    id.AccountKind
	Key     id.KeyHash // for the account of a parent of the key: that parent; zero: as in the event
	Epoch   uint64     // of the account's window, at admission: late spend counts in its own window
	Hold    money.Pico // leased for this request only and free when it is posted, including its cost; 0: the cost reduces the lease
	Soft    money.Pico // soft budget; 0: none
	Max     money.Pico // highest spend in one window, if Bounded
	Bounded bool
}
