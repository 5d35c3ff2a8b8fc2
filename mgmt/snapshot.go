package mgmt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

const operationRestore = "RestoreSnapshot"

// restored returns the event of a restore and its request. No service has this operation.
func restored(c *operation.Call) (event.Event, event.Request) {
	return event.ManagementChanged("state", nil), c.By(operationRestore, "restored", nil)
}

// restore restores a file that snapshot sent. It needs the word of consent, because later
// changes of settings are lost.
func (s *Server) restore(w http.ResponseWriter, r *http.Request) {
	if err := checkRestore(r); err != nil {
		s.reject(w, r, err)
		return
	}
	c := operation.Of(r.Context())
	run := s.restoreSettings
	if r.URL.Query().Get(paramFull) == confirmed {
		run = s.restoreAll
	}
	out, err := run(r.Context(), c, r)
	if err != nil {
		s.reject(w, r, operation.Timely(r.Context(), surface.Change, err))
		return
	}
	if c.Replayed {
		w.Header().Set(operation.HeaderReplayed, "true")
	}
	body, err := json.Marshal(out)
	if err != nil {
		s.reject(w, r, err)
		return
	}
	reply(w, http.StatusOK, body)
}

// restoredState is the response of a restore.
type restoredState struct {
	Restored bool            `json:"restored"`
	Mode     string          `json:"mode"` // settings or full
	Snapshot string          `json:"snapshot_time,omitempty"`
	Revision uint64          `json:"revision,omitzero"`
	Changes  []restoredCount `json:"changes,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

// restoredCount counts the changes to the records of one kind.
type restoredCount struct {
	Name      string   `json:"name"`
	Returned  uint64   `json:"returned"`
	Changed   uint64   `json:"changed"`
	Removed   uint64   `json:"removed"`
	Kept      uint64   `json:"kept"`
	Unblocked uint64   `json:"unblocked,omitzero"`
	Back      []string `json:"returned_keys,omitempty"`
	Gone      []string `json:"removed_keys,omitempty"`
	Free      []string `json:"unblocked_keys,omitempty"`
}

const (
	modeSettings = "settings"
	modeFull     = "full"
)

// restoredOf returns the response of a restore. done is nil if the changes are not known any
// more.
func restoredOf(done *restore.Report) restoredState {
	out := restoredState{Restored: true, Mode: modeSettings}
	if done == nil {
		return out
	}
	out.Revision, out.Snapshot = done.Index, done.Backup.Format(time.RFC3339)
	for _, c := range done.Counts {
		out.Changes = append(out.Changes, restoredCount{
			Name: c.Name, Returned: c.Returned, Changed: c.Changed, Removed: c.Removed, Kept: c.Kept, Unblocked: c.Unblocked,
			Back: hexes(c.ReturnedKeys), Gone: hexes(c.RemovedKeys), Free: hexes(c.UnblockedKeys),
		})
		note := func(n uint64, text string) {
			if n > 0 {
				out.Notes = append(out.Notes, fmt.Sprintf(text, c.Name, n))
			}
		}
		if c.Name == "keys" {
			note(c.Returned, "%s that were deleted or regenerated after the snapshot and are valid again: %d.")
			note(c.Removed, "%s that were made after the snapshot and are not valid any more: %d.")
		}
		note(c.Unblocked, "%s that were blocked after the snapshot and are not blocked any more: %d.")
	}
	return out
}

func hexes(keys [][]byte) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = hex.EncodeToString(k)
	}
	return out
}

// restoring is a restore, which a client may repeat.
type restoring struct {
	once *operation.Once // nil: it has no Idempotency-Key
	file io.Reader
	sum  hash.Hash
}

// restoringOf begins to read the file. It returns the response to an earlier request with the
// same Idempotency-Key; nil for none.
func (s *Server) restoringOf(ctx context.Context, c *operation.Call, mode string, file io.Reader) (*restoring, *wrapperspb.BytesValue, error) {
	r := &restoring{file: file}
	if len(c.Idempotency) == 0 {
		return r, nil, nil
	}
	var err error
	if r.once, err = s.operations.OnceFor(c, operationRestore, (&wrapperspb.BytesValue{}).ProtoReflect().Type()); err != nil {
		return nil, nil, err
	}
	r.sum = sha256.New()
	_, _ = io.WriteString(r.sum, mode) // never fails
	r.file = io.TeeReader(file, r.sum)
	if _, err := s.cfg.State.Changes.Current(ctx); err != nil { // another node may have run it
		return nil, nil, err
	}
	found, err := r.once.State.Replayed(ctx, r.once.Scope)
	if err != nil || found == nil || found.Stale {
		return r, nil, err
	}
	if _, err := io.Copy(io.Discard, r.file); err != nil {
		return nil, nil, &fault.Error{Kind: fault.Malformed, Code: "invalid_body", Detail: "The body broke off.", Err: err}
	}
	kept, _, err := r.kept(ctx)
	return r, kept, err
}

// kept returns the response that was kept. The file must have been read.
func (r *restoring) kept(ctx context.Context) (*wrapperspb.BytesValue, uint64, error) {
	r.once.Fingerprint = [sha256.Size]byte(r.sum.Sum(nil))
	kept, stale, err := r.once.Find(ctx)
	answer, _ := kept.(*wrapperspb.BytesValue)
	return answer, stale, err
}

// errAnswered ends a restore that another node has done meanwhile for the same request.
var errAnswered = errors.New("the same request was answered meanwhile")

// restoreSettings restores what operators set. It does not change the ledger and the audit log.
// The entry that restores also keeps the response.
func (s *Server) restoreSettings(ctx context.Context, c *operation.Call, r *http.Request) (restoredState, error) {
	in, kept, err := s.restoringOf(ctx, c, modeSettings, r.Body)
	if err != nil {
		return restoredState{}, err
	}
	if kept == nil {
		what, by := restored(c)
		request := cluster.RestoreRequest{
			Actor: c.Principal.Actor(), AcceptUnusable: r.URL.Query().Get(paramUnusable) == confirmed,
			Audit: record.Audit{Type: what.Type, Details: what.Details(by)},
		}
		if in.once != nil {
			request.Also = func(tx *record.Txn, name []byte) error {
				var stale uint64
				if kept, stale, err = in.kept(ctx); err != nil {
					return err
				}
				if kept != nil {
					return errAnswered
				}
				return in.once.Keep(tx, wrapperspb.Bytes(name), stale)
			}
		}
		done, err := s.cfg.State.Backups.Restore(ctx, in.file, request)
		if !errors.Is(err, errAnswered) {
			return restoredOf(done), err
		}
	}
	c.Replayed = true
	done, err := s.cfg.State.Backups.RestoredBy(ctx, kept.GetValue())
	return restoredOf(done), err
}

// restoreAll restores the whole state into a new cluster. The response is kept afterwards, in
// the restored state. A crash in between leaves no response; the second attempt is rejected,
// because the cluster is not new any more.
func (s *Server) restoreAll(ctx context.Context, c *operation.Call, r *http.Request) (restoredState, error) {
	out := restoredState{Restored: true, Mode: modeFull}
	in, kept, err := s.restoringOf(ctx, c, modeFull, r.Body)
	switch {
	case err != nil:
		return out, err
	case kept != nil:
		c.Replayed = true
		return out, nil
	}
	if err := s.cfg.State.Backups.RestoreAll(ctx, in.file); err != nil {
		return out, err
	}
	what, by := restored(c)
	s.changed(c, what, by)
	if in.once != nil {
		in.once.Fingerprint = [sha256.Size]byte(in.sum.Sum(nil))
		in.once.KeepDone(ctx, c.Principal.Actor(), &wrapperspb.BytesValue{})
	}
	return out, nil
}

// headerConfirm says the same as the parameter confirm.
const headerConfirm = "x-gateway-confirm"

// confirmed is the value that both must have.
const confirmed = "yes"

// Parameters of a restore, which are yes or missing.
const (
	paramFull     = "full"
	paramUnusable = "accept_unusable"
)

// snapshot sends the whole agreed state as one file. It writes the file while it reads the
// state, so it needs little memory.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	out := &file{w: w, media: rest.BinaryType, name: "modelgateway.snapshot"}
	err := out.send(r, surface.Change, func(ctx context.Context) error {
		err := s.cfg.State.Backups.Backup(ctx, out)
		if err != nil && out.begun {
			s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "snapshot broke off",
				slog.String("request_id", w.Header().Get(headerRequestID)), slog.String("error", err.Error()))
		}
		return err
	})
	if err != nil {
		s.reject(w, r, err)
	}
}

// file is a response that is a file. Until its first byte, an error can be sent instead.
type file struct {
	w           http.ResponseWriter
	media, name string
	begun       bool
}

// send sends what write writes. It returns an error if nothing has been sent. Later it cuts the
// connection, so that the caller notices that the file is incomplete.
func (f *file) send(r *http.Request, effect surface.Effect, write func(ctx context.Context) error) error {
	err := write(r.Context())
	switch {
	case err == nil:
		f.begin() // a file without bytes has headers, too
	case !f.begun:
		return operation.Timely(r.Context(), effect, err)
	default:
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (f *file) begin() {
	if f.begun {
		return
	}
	f.begun = true
	h := f.w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	h.Set("Cache-Control", "no-store")
	f.w.WriteHeader(http.StatusOK)
}

// Write sends a piece.
func (f *file) Write(p []byte) (int, error) {
	f.begin()
	return f.w.Write(p)
}

func checkRestore(r *http.Request) error {
	if r.URL.Query().Get("confirm") != confirmed && r.Header.Get(headerConfirm) != confirmed {
		return fault.Field("confirm", "confirmation_required", "This makes the keys, models and settings of every node those of the snapshot. Add ?confirm=yes if that is meant.")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != rest.BinaryType || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.MediaType, "", "Send the snapshot as it was downloaded, as %s.", rest.BinaryType)
	}
	for name, values := range r.URL.Query() {
		switch name {
		case "confirm":
		case paramFull, paramUnusable:
			if len(values) > 1 || values[0] != confirmed {
				return fault.Field(name, "invalid_value", "%s must be yes, or be left out.", name)
			}
		default:
			return fault.Field(name, "unknown_field", "There is no parameter %s; confirm, %s and %s are known.", name, paramFull, paramUnusable)
		}
	}
	if r.ContentLength == 0 {
		return fault.New(fault.Malformed, "invalid_snapshot", "The body is empty; send the snapshot.")
	}
	return nil
}
