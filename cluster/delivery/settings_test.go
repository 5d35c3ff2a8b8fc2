package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	hook   = "https://hooks.example.com/audit"
	first  = "canary-first-secret"
	second = "canary-second-secret"
)

// world is a state with the settings that a node has of it.
type world struct {
	t      *testing.T
	state  recordtest.State
	sealer *vault.Sealer
	now    time.Time
	s      delivery.Settings
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, sealer: sealerOf(t, strings.Repeat("k", 40)), now: time.Unix(1_700_000_000, 0).UTC()}
}

func sealerOf(t *testing.T, secret string) *vault.Sealer {
	t.Helper()
	key, err := vault.KeyFromSecret(vault.NewSecret(secret))
	if err != nil {
		t.Fatal(err)
	}
	s, err := vault.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// set changes the settings; what is stored must be what is loaded, and hold no secret.
func (w *world) set(c delivery.Change, ifRevision uint64) (vault.Secret, error) {
	w.t.Helper()
	tx := record.NewTxn(w.now, "ada")
	_, made, err := w.s.Set(tx, c, delivery.Rules{Seal: w.sealer.Seal, IfRevision: ifRevision})
	if err != nil {
		return made, err
	}
	changes, _, err := w.state.Commit(tx)
	if err != nil {
		return made, err
	}
	for _, c := range changes {
		for _, secret := range []string{first, second, made.Reveal()} {
			if secret != "" && strings.Contains(string(c.Value), secret) {
				w.t.Error("a secret is stored as it is")
			}
		}
	}
	next, broken := w.s.With(changes, w.sealer.Open)
	loaded, alsoBroken, err := delivery.Load(context.Background(), &w.state, w.sealer.Open)
	if err != nil || broken != nil || alsoBroken != nil {
		w.t.Fatal(err, broken, alsoBroken)
	}
	if d := cmp.Diff(shown(loaded), shown(next)); d != "" {
		w.t.Errorf("loaded and changed settings differ: %s", d)
	}
	w.s = next
	return made, nil
}

// shown is what there is to compare of settings.
func shown(s delivery.Settings) string {
	return fmt.Sprint(s.Webhook, s.URL, s.Secret.Reveal(), s.Previous.Reveal(), s.SecretChanged, s.Events, s.Pace, s.Meta, s.Locked())
}

func secret(text string) *vault.Secret { s := vault.NewSecret(text); return &s }

func signers(s delivery.Settings, now time.Time) (out []string) {
	for _, one := range s.Secrets(now) {
		out = append(out, one.Reveal())
	}
	return out
}

func TestTheWebhookIsSwitchedOn(t *testing.T) {
	w := newWorld(t)
	if w.s.Ready() {
		t.Error("a webhook that nobody has set is ready")
	}
	made, err := w.set(delivery.Change{Webhook: new(true), URL: new(hook)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Reveal()) < 40 || !w.s.Secret.Equal(made.Reveal()) {
		t.Errorf("the secret that was made has %d bytes, and is not the one in force", len(made.Reveal()))
	}
	if !w.s.Ready() || w.s.UpdatedBy != "ada" || w.s.Revision == 0 {
		t.Errorf("not ready, or not stamped: %+v", w.s.Meta)
	}
	if made, err := w.set(delivery.Change{Events: &[]string{"key.revoked", "key.created", "key.created"}}, w.s.Revision); err != nil || !made.IsEmpty() {
		t.Errorf("another secret was made, or %v", err)
	}
	if d := cmp.Diff([]string{"key.created", "key.revoked"}, w.s.Events); d != "" {
		t.Error(d)
	}
	if _, err := w.set(delivery.Change{Webhook: new(false)}, 0); err != nil || w.s.Ready() {
		t.Errorf("still ready when switched off, or %v", err)
	}
}

func TestSecretsOverlapForADay(t *testing.T) {
	w := newWorld(t)
	for _, s := range []string{first, second} {
		if _, err := w.set(delivery.Change{Webhook: new(true), URL: new(hook), Secret: secret(s)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	changed := w.s.SecretChanged
	for _, tc := range []struct {
		after time.Duration
		want  []string
	}{
		{0, []string{second, first}},
		{24*time.Hour - 1, []string{second, first}},
		{24 * time.Hour, []string{second}},
	} {
		if d := cmp.Diff(tc.want, signers(w.s, changed.Add(tc.after))); d != "" {
			t.Errorf("after %s: %s", tc.after, d)
		}
	}
	// Setting the same again is no change: the day goes on.
	w.now = w.now.Add(time.Hour)
	if _, err := w.set(delivery.Change{Secret: secret(second)}, 0); err != nil || !w.s.SecretChanged.Equal(changed) {
		t.Errorf("the same secret again counts as a change, or %v", err)
	}
	if made, err := w.set(delivery.Change{Secret: secret("")}, 0); err != nil || !w.s.Secret.Equal(made.Reveal()) || !w.s.Previous.Equal(second) {
		t.Errorf("an empty secret did not have one made in the place of the current, or %v", err)
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	events := make([]string, 65)
	for i := range events {
		events[i] = fmt.Sprint(i)
	}
	for name, tc := range map[string]struct {
		change delivery.Change
		param  string
	}{
		"no address":       {delivery.Change{Webhook: new(true)}, "alerting_webhook_url"},
		"metadata address": {delivery.Change{URL: new("https://169.254.169.254/")}, "alerting_webhook_url"},
		"short secret":     {delivery.Change{Secret: secret("short")}, "alerting_webhook_secret"},
		"long secret":      {delivery.Change{Secret: secret(strings.Repeat("s", 257))}, "alerting_webhook_secret"},
		"too many events":  {delivery.Change{Events: &events}, "alerting_webhook_events"},
	} {
		w := newWorld(t)
		_, err := w.set(tc.change, 0)
		if f := fault.From(err); f == nil || f.Kind != fault.Malformed || f.Param != tc.param {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := newWorld(t)
	if _, err := w.set(delivery.Change{Webhook: new(false)}, 7); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another revision is answered with %v", err)
	}
}

// TestAKeyThatIsAway: settings whose secret cannot be opened are there and not
// ready, and a new secret mends them.
func TestAKeyThatIsAway(t *testing.T) {
	w := newWorld(t)
	if _, err := w.set(delivery.Change{Webhook: new(true), URL: new(hook), Secret: secret(first)}, 0); err != nil {
		t.Fatal(err)
	}
	other := sealerOf(t, strings.Repeat("o", 40))
	s, broken, err := delivery.Load(t.Context(), &w.state, other.Open)
	if err != nil || len(broken) != 1 || s.Ready() || !errors.Is(s.Locked(), vault.ErrOtherKey) || s.URL != hook {
		t.Errorf("%v, broken %v, ready %v, locked %v", err, broken, s.Ready(), s.Locked())
	}
	if strings.Contains(fmt.Sprint(s.Locked(), s), first) {
		t.Error("the secret is shown")
	}
	w.s, w.sealer = s, other
	if _, err := w.set(delivery.Change{Secret: secret(second)}, 0); err != nil || !w.s.Ready() || w.s.Locked() != nil {
		t.Errorf("a new secret does not mend it: %v %v", err, w.s.Locked())
	}
}

func TestReseal(t *testing.T) {
	w := newWorld(t)
	for _, s := range []string{first, second} {
		if _, err := w.set(delivery.Change{Webhook: new(true), URL: new(hook), Secret: secret(s)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	old, err := vault.KeyFromSecret(vault.NewSecret(strings.Repeat("k", 40)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := vault.KeyFromSecret(vault.NewSecret(strings.Repeat("n", 40)))
	if err != nil {
		t.Fatal(err)
	}
	both, err := vault.NewSealer(key, old)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][2]int{{2, 0}, {0, 2}} {
		tx := record.NewTxn(w.now, "ada")
		done, already, err := w.s.Reseal(tx, both.Reseal)
		if err != nil || [2]int{done, already} != want {
			t.Fatalf("%d done, %d already, %v", done, already, err)
		}
		changes, _, err := w.state.Commit(tx)
		if err != nil {
			t.Fatal(err)
		}
		var broken []error
		if w.s, broken = w.s.With(changes, both.Open); broken != nil {
			t.Fatal(broken)
		}
	}
	alone := sealerOf(t, strings.Repeat("n", 40))
	s, broken, err := delivery.Load(t.Context(), &w.state, alone.Open)
	if err != nil || broken != nil || !s.Secret.Equal(second) || !s.Previous.Equal(first) {
		t.Errorf("the new key alone does not open them: %v %v", err, broken)
	}
	if _, _, err := w.s.Reseal(record.NewTxn(w.now, "ada"), sealerOf(t, strings.Repeat("x", 40)).Reseal); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a key that opens nothing is answered with %v", err)
	}
}

// TestPace sets how many records the webhook gets at a time, clears it again, and
// tries what cannot be.
func TestPace(t *testing.T) {
	w := newWorld(t)
	file := delivery.Pace{Batch: 20}
	for _, tc := range []struct {
		change delivery.Change
		want   delivery.Pace
	}{
		{delivery.Change{}, delivery.Pace{Batch: 20, Parallel: 1}},
		{delivery.Change{Batch: new(500)}, delivery.Pace{Batch: 500, Parallel: 1}},
		{delivery.Change{Parallel: new(64)}, delivery.Pace{Batch: 500, Parallel: 64}},
		{delivery.Change{Batch: new(0)}, delivery.Pace{Batch: 20, Parallel: 64}},
	} {
		if _, err := w.set(tc.change, 0); err != nil {
			t.Fatal(err)
		}
		if got := w.s.Pace.Or(file); got != tc.want {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
	for field, bad := range map[string]delivery.Change{
		delivery.FieldBatch: {Batch: new(1001)}, delivery.FieldParallel: {Parallel: new(65)},
	} {
		if _, err := w.set(bad, 0); fault.KindOf(err) != fault.Malformed || fault.From(err).Param != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestObjectsAreAgreedOn: the first leader that chooses an object decides, until it is put.
func TestObjectsAreAgreedOn(t *testing.T) {
	var state recordtest.State
	move := func(to delivery.Progress) error {
		c, err := delivery.CursorOf(&state, delivery.UsageTables)
		if err != nil {
			t.Fatal(err)
		}
		tx := record.NewTxn(time.Unix(5, 0), "gateway")
		if err := c.Move(tx, delivery.UsageTables, to); err != nil {
			return err
		}
		_, _, err = state.Commit(tx)
		return err
	}
	chosen := delivery.Progress{Next: 1, Object: delivery.Object{First: 1, Last: 5, Begin: time.Unix(3600, 0).UTC()}}
	for _, to := range []delivery.Progress{{Next: 1}, chosen, chosen} {
		if err := move(to); err != nil {
			t.Fatal(err)
		}
	}
	other := delivery.Progress{Next: 1, Object: delivery.Object{First: 1, Last: 6, Begin: time.Unix(3600, 0)}}
	for _, to := range []delivery.Progress{other, {Next: 1}} {
		if err := move(to); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%+v in the place of another object: %v", to, err)
		}
	}
	if c, err := delivery.CursorOf(&state, delivery.UsageTables); err != nil || !c.Object.Begin.Equal(chosen.Object.Begin) || c.Object.Last != 5 {
		t.Errorf("the cursor is %+v: %v", c, err)
	}
	if err := move(delivery.Progress{Next: 6}); err != nil {
		t.Errorf("the object is put: %v", err)
	}
}

func TestCursors(t *testing.T) {
	var state recordtest.State
	move := func(c delivery.Cursor, next uint64, taken ...delivery.Range) error {
		tx := record.NewTxn(time.Unix(5, 0), "gateway")
		if err := c.Move(tx, delivery.Webhook, delivery.Progress{Next: next, Taken: taken}); err != nil {
			return err
		}
		_, _, err := state.Commit(tx)
		return err
	}
	read := func() delivery.Cursor {
		c, err := delivery.CursorOf(&state, delivery.Webhook)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := read(); !cmp.Equal(c, delivery.Cursor{}) {
		t.Errorf("a cursor that was never saved is %+v", c)
	}
	if err := move(read(), 5); err != nil {
		t.Fatal(err)
	}
	stale := read()
	if err := move(stale, 9); err != nil {
		t.Fatal(err)
	}
	if c := read(); c.Next != 9 || !c.Moved.Equal(time.Unix(5, 0)) {
		t.Errorf("the cursor is %+v", c)
	}
	if err := move(stale, 7); fault.From(err).Code != record.CodeStale {
		t.Errorf("a cursor moved by what was read before: %v", err)
	}
	if err := move(read(), 8); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a cursor went back: %v", err)
	}
	for _, taken := range [][]delivery.Range{{{First: 12, Last: 13}, {First: 20, Last: 20}}, {{First: 14, Last: 15}, {First: 30, Last: 31}}} {
		if err := move(read(), 9, taken...); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]delivery.Range{{First: 12, Last: 15}, {First: 20, Last: 20}, {First: 30, Last: 31}}, read().Taken); d != "" {
		t.Errorf("records that were taken above the cursor: %s", d)
	}
	if err := move(read(), 14); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]delivery.Range{{First: 14, Last: 15}, {First: 20, Last: 20}, {First: 30, Last: 31}}, read().Taken); d != "" {
		t.Errorf("after the cursor moved: %s", d)
	}
	if c, err := delivery.CursorOf(&state, delivery.Queue); err != nil || c.Next != 0 {
		t.Errorf("another place has %+v, %v", c, err)
	}
}
