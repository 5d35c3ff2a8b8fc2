package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"sync"
	"time"
)

// Reason is why a connection was refused, as logs and metrics name it.
type Reason string

// The reasons.
const (
	ReasonNotTLS       Reason = "not_tls"           // something else, HTTP for one
	ReasonOldTLS       Reason = "old_tls"           // nothing newer than TLS 1.2
	ReasonProtocol     Reason = "unknown_protocol"  // no ALPN name that there is here
	ReasonNoCert       Reason = "no_certificate"    // the other side has not said who it is
	ReasonStranger     Reason = "unknown_authority" // its certificate is not the cluster's
	ReasonBadCert      Reason = "bad_certificate"   // the cluster's, but expired, for another use or misnamed
	ReasonRejected     Reason = "rejected_by_peer"  // the other side does not trust this one
	ReasonTooLarge     Reason = "too_large"         // more bytes than a handshake has
	ReasonTimeout      Reason = "timeout"           // it took too long
	ReasonGone         Reason = "gone"              // the other side left
	ReasonHandshake    Reason = "handshake"         // TLS, but not well-formed
	ReasonTooMany      Reason = "too_many"          // made way for a newer one: too many unverified connections at once
	ReasonBusy         Reason = "busy"              // nobody takes connections of that protocol
	ReasonSystem       Reason = "system"            // the operating system could not accept
	ReasonCertificates Reason = "own_certificate"   // none was refused: this node's new certificate cannot be made or read
)

// refusal is one connection that was refused. As an error it is why.
type refusal struct {
	reason Reason
	from   net.Addr // nil if it is a difficulty of this node's own
	err    error
}

// Error implements error.
func (r *refusal) Error() string { return string(r.reason) + ": " + r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// classified keeps with an error what reasonOf finds, for who does not have the
// hint.
func classified(err error, hint Reason) error {
	if _, ok := errors.AsType[*refusal](err); ok {
		return err
	}
	return &refusal{reason: reasonOf(err, hint), err: err}
}

// reasonOf classifies the error of a handshake; hint is what the handshake itself
// noticed, and stands for errors of TLS that have no type.
func reasonOf(err error, hint Reason) Reason {
	if known, ok := errors.AsType[*refusal](err); ok {
		return known.reason
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return ReasonNotTLS
	}
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, errTooMuch):
		return ReasonTooLarge
	case isOp && op.Op == "remote error": // which is how TLS calls what the other side said
		return reasonOfAlert(op.Err)
	case isOp && op.Op == "local error": // and this what it answered itself
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isOp, errors.Is(err, context.Canceled):
		return ReasonGone
	}
	if hint != "" {
		return hint
	}
	return ReasonHandshake
}

// reasonOfAlert says what the other side had against this one. The package tls has
// the numbers of RFC 8446 but no type for alerts that came in; their texts are the
// same.
func reasonOfAlert(err error) Reason {
	for _, known := range []struct {
		reason Reason
		alerts []tls.AlertError
	}{
		// Bad, unsupported, revoked, expired, unknown for another reason, unknown
		// authority, access denied, required.
		{ReasonRejected, []tls.AlertError{42, 43, 44, 45, 46, 48, 49, 116}},
		{ReasonProtocol, []tls.AlertError{120}}, // no application protocol
		{ReasonOldTLS, []tls.AlertError{70}},    // protocol version
	} {
		for _, alert := range known.alerts {
			if err.Error() == alert.Error() {
				return known.reason
			}
		}
	}
	return ReasonHandshake
}

// logEvery is how often a reason is logged at most. A flood of connections must
// not become a flood of lines; the count goes on.
const logEvery = time.Second

// maxLogged bounds what of an error is logged where the other side can have a word
// in it.
const maxLogged = 300

// refusals counts what was refused, and logs it.
type refusals struct {
	logger *slog.Logger
	mu     struct {
		sync.Mutex
		counts map[Reason]uint64
		logged map[Reason]time.Time
	}
}

func (r *refusals) init(logger *slog.Logger) {
	r.logger = logger
	r.mu.counts, r.mu.logged = map[Reason]uint64{}, map[Reason]time.Time{}
}

// counted returns how many there were, by reason.
func (r *refusals) counted() map[Reason]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.mu.counts)
}

// add counts one, and logs it unless one of its kind was logged just now.
func (r *refusals) add(ctx context.Context, one refusal) {
	now := time.Now()
	r.mu.Lock()
	r.mu.counts[one.reason]++
	count, last := r.mu.counts[one.reason], r.mu.logged[one.reason]
	due := last.IsZero() || now.Sub(last) >= logEvery
	if due {
		r.mu.logged[one.reason] = now
	}
	r.mu.Unlock()
	if !due {
		return
	}
	text := one.err.Error()
	if one.from == nil { // trouble of this node's own
		r.logger.WarnContext(ctx, "connections of nodes: this node has a difficulty, and tries again",
			slog.String("reason", string(one.reason)), slog.Uint64("so_far", count), slog.String("error", text))
		return
	}
	r.logger.WarnContext(ctx, "a connection of a node was refused",
		slog.String("reason", string(one.reason)), slog.Uint64("refused_so_far", count),
		slog.String("from", one.from.String()), slog.String("error", text[:min(len(text), maxLogged)]))
}
