package mgmt

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// auditBlocked is the type of requests that were refused.
const auditBlocked = "request.blocked"

// blocked has the audit log say that a request was refused for who asks. where is
// the route, which names no record: paths may have keys in them.
func (s *Server) blocked(who keys.Principal, e *fault.Error, where, request string) {
	if status := e.HTTPStatus(); status != http.StatusUnauthorized && status != http.StatusForbidden {
		return
	}
	s.notify(who, request, &journal.Notice{Type: auditBlocked, Code: symbolic(e), Details: jsonObject(map[string]any{"route": where})})
}

// changed has the audit log say of a change that goes by no transaction.
func (s *Server) changed(c *call, resource, operation string, ids ...string) {
	d := deed{operation: operation, resource: resource, ids: ids}
	s.notify(c.principal, c.id, &journal.Notice{Type: auditManagement, Details: d.details(c, resource, ids)})
}

func (s *Server) notify(who keys.Principal, request string, n *journal.Notice) {
	now := time.Now()
	s.cfg.Notices.Notify(journal.Event{
		Request: id.Request(request), Key: who.Hash, KeyAlias: who.Alias, Actor: who.Actor(),
		Team: who.Team, User: who.User, Organization: who.Organization,
		Start: now, End: now, Notice: n,
	})
}

func jsonObject(members map[string]any) string {
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil { // a text is not UTF-8
		return ""
	}
	return string(text)
}

// routeOf is the route of a request: its method and the pattern of its path.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || !strings.Contains(r.Pattern, " ") {
		return r.Method
	}
	return r.Pattern
}
