package mgmt

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// headerForwardedFor ends with the client's address: Envoy appends that of its peer.
const headerForwardedFor = "x-forwarded-for"

// maxLogged bounds each text of the caller in a log line, in bytes.
const maxLogged = 200

// client is the origin of a request.
type client struct {
	route          string // without ids, because paths may contain keys
	path           string // empty over gRPC
	address, agent string
}

// lastAddress returns the last entry of a list in headers.
func lastAddress(values []string) string {
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return clipped(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:]))
}

func clientOf(md metadata.MD, route string) client {
	return client{route: route, address: lastAddress(md.Get(headerForwardedFor)), agent: strings.Join(md.Get("user-agent"), " ")}
}

func clipped(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxLogged)], "\uFFFD") }

// logRefusal logs a request that was denied to its caller, or whose path or object does
// not exist.
func (s *Server) logRefusal(ctx context.Context, c *operation.Call, e *fault.Error, from client) {
	status := e.HTTPStatus()
	if status != http.StatusUnauthorized && status != http.StatusForbidden && status != http.StatusNotFound {
		return
	}
	hash := c.Principal.Hash
	if hash == (id.KeyHash{}) {
		hash, _ = credential.HashOf(c.Presented)
	}
	source := lineSource{kind: symbolic(e), key: c.Principal.Hash} // unknown keys are one source
	held, ok := s.lines.take(time.Now(), source)
	if !ok {
		return
	}
	key := ""
	if hash != (id.KeyHash{}) {
		key = hash.String()
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "management request refused",
		slog.String("request_id", c.ID), slog.Int("status", status), slog.String("code", symbolic(e)),
		slog.String("route", from.route), slog.String("path", withoutKeys(from.path)), slog.String("param", e.Param),
		slog.String("key_hash", key), slog.String("key_alias", c.Principal.Alias),
		slog.String("client_address", from.address), slog.String("user_agent", clipped(from.agent)),
		slog.Uint64("not_logged", held))
}

// withoutKeys returns a path without segments that are, or look like, keys.
func withoutKeys(path string) string {
	segments := strings.Split(clipped(path), "/")
	for i, segment := range segments {
		if strings.Contains(segment, "sk-") {
			segments[i] = "sk-…"
		}
	}
	return strings.Join(segments, "/")
}

// logRead logs that a caller read data of others.
func (s *Server) logRead(ctx context.Context, c *operation.Call) {
	op := c.Operation
	if !op.Service.Owned {
		return
	}
	others, named := subjects(c.Principal, c.Request)
	if !named && rights.Of(c.View.Keys, nil, c.Principal).SeesAll() {
		others = []string{"all"}
	}
	if len(others) == 0 {
		return
	}
	held, ok := s.lines.take(time.Now(), lineSource{kind: op.RPC, key: c.Principal.Hash})
	if !ok {
		return
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "management read",
		slog.String("request_id", c.ID), slog.String("actor", c.Principal.Actor()), slog.String("key_hash", c.Principal.Hash.String()),
		slog.String("operation", op.RPC), slog.Any("of", others), slog.Uint64("not_logged", held))
}

// subjects returns the owners in a request that are not the caller. named reports whether
// the request names any owner. Keys are shown by their hashes.
func subjects(who tenancy.Principal, in proto.Message) (others []string, named bool) {
	own := map[string]string{
		"user_id": string(who.User), "team_id": string(who.Team), "organization_id": string(who.Organization), "org_id": string(who.Organization),
		"key": who.Hash.String(), "api_key": who.Hash.String(), "key_hash": who.Hash.String(), "end_user": "", "end_user_id": "", "customer_id": "",
	}
	in.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		mine, ok := own[name]
		if !ok || f.Kind() != protoreflect.StringKind || f.IsList() || v.String() == "" {
			return true
		}
		named = true
		value := v.String()
		if strings.HasSuffix(name, "key") || name == "key_hash" {
			hash, err := credential.ParseReference(value)
			if err != nil {
				return true // not the name of a key
			}
			value = hash.String()
		}
		if value != mine {
			others = append(others, name+"="+clipped(value))
		}
		return true
	})
	slices.Sort(others)
	return others, named
}

// The bounds of log lines about denied requests and reads.
const (
	linesEach    = 10   // of one source per second
	lineSourcesN = 1024 // per second; further sources share one
)

// lineSource is a source of log lines with a count of its own.
type lineSource struct {
	kind string
	key  id.KeyHash
}

// lineLimit bounds the log lines per second. It is safe for concurrent use.
type lineLimit struct {
	mu struct {
		sync.Mutex
		second int64
		counts map[lineSource]int
		held   uint64 // lines that were dropped since the last logged one
	}
}

// take reports whether a line may be logged. held is the number of lines that were dropped
// since the last logged one.
func (l *lineLimit) take(now time.Time, from lineSource) (held uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.mu.second || l.mu.counts == nil {
		l.mu.second, l.mu.counts = second, make(map[lineSource]int)
	}
	if _, known := l.mu.counts[from]; !known && len(l.mu.counts) >= lineSourcesN {
		from = lineSource{}
	}
	if l.mu.counts[from] >= linesEach {
		l.mu.held++
		return 0, false
	}
	l.mu.counts[from]++
	held, l.mu.held = l.mu.held, 0
	return held, true
}

// blocked records in the audit log that a request was denied to its caller. where is the
// route and not the path, because paths may have keys in them.
func (s *Server) blocked(c *operation.Call, e *fault.Error, where string) {
	if status := e.HTTPStatus(); status != http.StatusUnauthorized && status != http.StatusForbidden {
		return
	}
	ev := eventOf(c, &journal.Notice{Type: event.TypeRequestBlocked, Code: symbolic(e), Details: event.Member("route", where)})
	if ev.Key == (id.KeyHash{}) {
		if ev.Key, _ = credential.HashOf(c.Presented); c.View != nil {
			if k, ok := c.View.Keys.Key(nil, ev.Key); ok { // a key that is blocked or expired
				ev.KeyAlias, ev.Actor, ev.Team, ev.User, ev.Organization = k.Alias, k.Actor(), k.Team, k.User, k.Organization
			}
		}
	}
	s.cfg.Notices.Notify(ev)
}

// changed records the event of a change that no transaction makes.
func (s *Server) changed(c *operation.Call, e event.Event, by event.Request) {
	s.cfg.Notices.Notify(eventOf(c, &journal.Notice{Type: e.Type, Details: e.Details(by)}))
}

func eventOf(c *operation.Call, n *journal.Notice) journal.Event {
	now, who := time.Now(), &c.Principal
	return journal.Event{
		Attempt: usage.Attempt{
			Request: id.Request(c.ID), Key: who.Hash, KeyAlias: who.Alias, Actor: who.Actor(),
			Team: who.Team, User: who.User, Organization: who.Organization, Start: now,
		},
		Result: usage.Result{End: now},
		Notice: n,
	}
}

// routeOf returns the route of a request: its method and the pattern of its path.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || !strings.Contains(r.Pattern, " ") {
		return r.Method
	}
	return r.Pattern
}
