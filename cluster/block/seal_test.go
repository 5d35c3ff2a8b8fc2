package block_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// files are the files of sealed segments.
type files map[[32]byte][]byte

func (f files) Open(_ context.Context, s block.Segment) (*block.File, error) {
	b, ok := f[s.Sum]
	if !ok {
		return nil, errors.New("the file is not there")
	}
	return block.OpenFile(int64(len(b)), func(offset, size int64) ([]byte, error) { return b[offset : offset+size], nil })
}

func (f files) Damaged(context.Context, block.Segment) bool { return false }

// sealed are the files of this test's stores: a file is named by its content.
var sealed = files{}

// reader reads sealed records as well.
func reader(s *store.Store) block.Reader { return block.WithFiles(s, sealed) }

// seal seals the next segment, if one is due.
func seal(t tb, s *store.Store, due block.Due) {
	x, ok, err := log().Sealable(t.Context(), s, due)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return
	}
	var b bytes.Buffer
	g, err := log().WriteSegment(t.Context(), s, x, &b)
	if err != nil {
		t.Fatal(err)
	}
	if g.Size != uint64(b.Len()) || g.Sum != sha256.Sum256(b.Bytes()) {
		t.Fatalf("size or sum of the segment %v are wrong", x)
	}
	sealed[g.Sum] = b.Bytes()
	for i := range 2 {
		change(t, s, func(tx *store.Tx) error {
			done, err := log().Seal(tx, g)
			if done != (i == 0) {
				t.Errorf("the segment %v was sealed: %v, the time %d", x, done, i)
			}
			return err
		})
	}
}

// TestSealedRecordsAreFound seals a part of a log while queries read it: each finds the records of a value once.
func TestSealedRecordsAreFound(t *testing.T) {
	s := open(t)
	var model []record
	for n := uint64(1); n <= 6*block.Size; n++ {
		model = append(model, record{n, int64(n), byte(n % 3), byte(n / 300), []byte("x")})
	}
	change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(model)) })
	for _, reverse := range []bool{false, true} {
		for color := range byte(3) {
			var got []uint64
			q := block.Query{Terms: []block.Term{block.NewTerm('c', []byte{color})}, Reverse: reverse}
			if err := log().Query(t.Context(), reader(s), q, func(x block.Record) bool {
				if len(got) == 300 {
					seal(t, s, block.Due{Before: int64(x.Number), Late: math.MaxInt64, Multiple: block.Size})
				}
				if byte(x.Number%3) == color {
					got = append(got, x.Number)
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if reverse {
				slices.Reverse(got)
			}
			if len(got) != 2*block.Size || !slices.IsSorted(got) || len(slices.Compact(got)) != 2*block.Size {
				t.Errorf("color %d, reverse %v: %d records", color, reverse, len(got))
			}
		}
	}
	if _, ok, err := log().SegmentAt(t.Context(), s, 1); err != nil || !ok {
		t.Errorf("nothing was sealed: %v", err)
	}
	check(t, s, model)
}
