package mgmt

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"mime"
	"net/http"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// headerConfirm says the same as the parameter confirm.
const headerConfirm = "x-gateway-confirm"

// confirmed is what both must say.
const confirmed = "yes"

// snapshot sends the whole agreed state as one file. It is made while it is sent,
// so that it needs no memory; an error after its first byte cuts the connection,
// for there is no other way left to say that the file is not whole.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	out := &download{w: w}
	err := s.cfg.State.Backups.Backup(r.Context(), out)
	switch {
	case err == nil:
		out.begin() // also a file of no bytes has headers
	case !out.begun:
		s.refuse(w, r, timely(r.Context(), writes, err))
	default:
		s.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "snapshot broke off",
			slog.String("request_id", w.Header().Get(headerRequestID)), slog.String("error", err.Error()))
		panic(http.ErrAbortHandler)
	}
}

// download is a response that becomes a file with its first byte.
type download struct {
	w     http.ResponseWriter
	begun bool
}

func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	h := d.w.Header()
	h.Set("Content-Type", binaryType)
	h.Set("Content-Disposition", `attachment; filename="modelgateway.snapshot"`)
	h.Set("Cache-Control", "no-store")
	d.w.WriteHeader(http.StatusOK)
}

// Write sends a piece.
func (d *download) Write(p []byte) (int, error) {
	d.begin()
	return d.w.Write(p)
}

// restore replaces the whole agreed state by a file that snapshot sent. It takes
// nothing for consent but the word: what was changed since is lost.
func (s *Server) restore(w http.ResponseWriter, r *http.Request) {
	if err := checkRestore(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	c := callOf(r.Context())
	var err error
	if len(c.idempotency) == 0 {
		err = s.cfg.State.Backups.Restore(r.Context(), r.Body)
	} else {
		err = s.restoreOnce(r.Context(), c, r.Body)
	}
	switch {
	case err != nil:
		s.refuse(w, r, timely(r.Context(), writes, err))
		return
	case c.replayed:
		w.Header().Set(HeaderReplayed, "true")
	default:
		s.changed(c, "state", "RestoreSnapshot")
	}
	reply(w, http.StatusOK, []byte(`{"restored":true}`))
}

// restoreOnce restores a file unless that was done under the call's Idempotency-Key.
// That it was is written into the state that it has become, after it; a crash
// in between, or the same request twice at once, restores the same file twice.
func (s *Server) restoreOnce(ctx context.Context, c *call, file io.Reader) error {
	o, err := s.onceOf(c, "RestoreSnapshot", (&emptypb.Empty{}).ProtoReflect().Type())
	if err != nil {
		return err
	}
	sum := sha256.New()
	file = io.TeeReader(file, sum)
	if _, err := s.cfg.State.Changes.Current(ctx); err != nil { // it may have been another node that did it
		return err
	}
	found, err := o.state.Replayed(ctx, o.scope)
	switch {
	case err != nil:
		return err
	case found == nil || found.Stale:
		err = s.cfg.State.Backups.Restore(ctx, file)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, file); err != nil {
		return &fault.Error{Kind: fault.Malformed, Code: "invalid_body", Detail: "The body broke off.", Err: err}
	}
	o.fingerprint = [sha256.Size]byte(sum.Sum(nil))
	if found == nil || found.Stale {
		o.keepDone(ctx, c.principal.Actor(), &emptypb.Empty{})
		return nil
	}
	_, _, err = o.find(ctx)
	c.replayed = err == nil
	return err
}

func checkRestore(r *http.Request) error {
	if r.URL.Query().Get("confirm") != confirmed && r.Header.Get(headerConfirm) != confirmed {
		return fault.Field("confirm", "confirmation_required", "This replaces all keys, deployments and settings on every node. Add ?confirm=yes if that is meant.")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != binaryType || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.MediaType, "", "Send the snapshot as it was downloaded, as %s.", binaryType)
	}
	if r.ContentLength == 0 {
		return fault.New(fault.Malformed, "invalid_snapshot", "The body is empty; send the snapshot.")
	}
	return nil
}
