package audit

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Checkpoint is a signed statement of a chain's head.
type Checkpoint struct {
	Note string // in the format of C2SP's signed-note and tlog-checkpoint
	Size uint64 // number of records in the chain
	Time time.Time
}

// statement is the content of a checkpoint.
type statement struct {
	workspace  string
	size       uint64
	root, head [32]byte
	time       int64
}

// origin returns the name of a chain in its checkpoints.
func origin(workspace string) string { return "modelgateway/" + workspace }

// text returns the signed text: origin, size and root, as tlog-checkpoint requires, and two
// extension lines.
func (s statement) text() string {
	return fmt.Sprintf("%s\n%d\n%s\nhead %s\ntime %s\n", origin(s.workspace), s.size,
		base64.StdEncoding.EncodeToString(s.root[:]), hashText(s.head), time.Unix(0, s.time).UTC().Format(timeLayout))
}

// parseStatement parses a statement. It accepts only the canonical form.
func parseStatement(text string) (statement, error) {
	bad := errors.New("the note does not have the form of a checkpoint")
	lines := strings.Split(text, "\n")
	if len(lines) != 6 {
		return statement{}, bad
	}
	var s statement
	var err [4]error
	var root, head []byte
	var at time.Time
	s.workspace = strings.TrimPrefix(lines[0], origin(""))
	s.size, err[0] = strconv.ParseUint(lines[1], 10, 64)
	root, err[1] = base64.StdEncoding.DecodeString(lines[2])
	head, err[2] = hex.DecodeString(strings.TrimPrefix(lines[3], "head "+hashPrefix))
	at, err[3] = time.Parse(timeLayout, strings.TrimPrefix(lines[4], "time "))
	if errors.Join(err[:]...) != nil || len(root) != len(s.root) || len(head) != len(s.head) {
		return statement{}, bad
	}
	s.root, s.head, s.time = [32]byte(root), [32]byte(head), at.UnixNano()
	if s.text() != text {
		return statement{}, bad
	}
	return s, nil
}

// Sign signs a checkpoint of a head.
func Sign(head ChainHead, workspace string, now time.Time, signer *Signer) (*clusterv1.AuditCheckpoint, error) {
	if head.Size == 0 || !validWorkspace(workspace) {
		return nil, fault.New(fault.Malformed, "", "A checkpoint needs a workspace whose chain has at least one record.")
	}
	at := micros(record.Nanos(now))
	s := statement{workspace: workspace, size: head.Size, root: head.Root, head: head.Hash, time: at}
	signed, err := note.Sign(&note.Note{Text: s.text()}, signer.key)
	if err != nil {
		return nil, fmt.Errorf("sign the checkpoint: %w", err)
	}
	return &clusterv1.AuditCheckpoint{Note: string(signed), Size: head.Size, TimeUnixNano: at}, nil
}

// CheckpointKey returns the key of a checkpoint in store.SpaceCheckpoint.
func CheckpointKey(workspace string, size uint64) []byte { return recordKey(workspace, size) }

// LastCheckpoint returns the largest checkpoint, if there is one.
func LastCheckpoint(ctx context.Context, r Reader, workspace string) (last Checkpoint, ok bool, err error) {
	x := store.Range{Prefix: recordPrefix(workspace), Reverse: true, Limit: 1}
	err = scanCheckpoints(ctx, r, x, func(_ uint64, c Checkpoint) bool {
		last, ok = c, true
		return false
	})
	return last, ok, err
}

// scanCheckpoints calls fn with the checkpoints of a range and the sizes in their keys. An
// unreadable one is passed as an empty one.
func scanCheckpoints(ctx context.Context, r Reader, x store.Range, fn func(size uint64, c Checkpoint) bool) error {
	x.Space = store.SpaceCheckpoint
	return r.Scan(ctx, x, func(key, value []byte) bool {
		m := &clusterv1.AuditCheckpoint{}
		if err := proto.Unmarshal(value, m); err != nil {
			m = &clusterv1.AuditCheckpoint{}
		}
		return fn(numberOf(key), Checkpoint{Note: m.GetNote(), Size: m.GetSize(), Time: record.FromNanos(m.GetTimeUnixNano())})
	})
}
