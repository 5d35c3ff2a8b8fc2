package mgmt

import (
	"net/http"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// blocked records in the audit log that a request was denied to its caller. where is the
// route and not the path, because paths may have keys in them.
func (s *Server) blocked(c *operation.Call, e *fault.Error, where string) {
	if status := e.HTTPStatus(); status != http.StatusUnauthorized && status != http.StatusForbidden {
		return
	}
	ev := eventOf(c, &journal.Notice{Type: event.TypeRequestBlocked, Code: symbolic(e), Details: event.Member("route", where)})
	if ev.Key == (id.KeyHash{}) {
		if ev.Key, _ = tenancy.HashOf(c.Presented); c.View != nil {
			if k, ok := c.View.Keys.Key(nil, ev.Key); ok { // one that may not be used
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
