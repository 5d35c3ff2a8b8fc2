package token_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestTokenIsRenewedAFifthOfItsLifeEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K"))
		b.serve(hourly)
		b.start()
		time.Sleep(48*time.Minute - time.Second)
		synctest.Wait()
		if n := b.fetches("K"); n != 1 {
			t.Errorf("there were %d fetches before four fifths of an hour", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := b.fetches("K"); n != 2 {
			t.Errorf("there were %d fetches after four fifths of an hour", n)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		b.want("a", "token-of-K")
		if n := b.fetches("K"); n != 32 {
			t.Errorf("there were %d fetches in 24 h and 48 min", n)
		}
	})
}

// A token service that returns the token that it has returned before is not called more and more often.
func TestTokenThatIsNotRenewedIsFetchedAgainBeforeItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		end := time.Now().Add(time.Hour)
		b := newBench(t, clouded("a", "K"))
		b.serve(func(_ context.Context, key string) (cloud.Token, error) {
			mu.Lock()
			defer mu.Unlock()
			if time.Until(end) < time.Minute {
				end = time.Now().Add(time.Hour)
			}
			return cloud.Token{Bearer: vault.NewSecret(end.String()), Expires: end}, nil
		})
		b.start()
		for range 120 {
			if _, err := b.Token(b.deployment("a")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if n := b.fetches("K"); n > 12 {
			t.Errorf("there were %d fetches in two hours", n)
		}
	})
}

func TestTokenWithoutAnEndIsFetchedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K"))
		b.serve(func(context.Context, string) (cloud.Token, error) {
			return cloud.Token{Bearer: vault.NewSecret("fixed")}, nil
		})
		b.start()
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		b.want("a", "fixed")
		if n := b.fetches("K"); n != 1 {
			t.Errorf("there were %d fetches", n)
		}
	})
}

func TestFailedRenewalKeepsTheTokenUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const canary = "secret-of-K"
		b := newBench(t, clouded("a", "K"))
		var fails atomic.Bool
		b.serve(func(ctx context.Context, key string) (cloud.Token, error) {
			if fails.Load() {
				return cloud.Token{}, fmt.Errorf("status 500: %s and\nmore", canary)
			}
			return hourly(ctx, key)
		})
		b.start()
		fails.Store(true)
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		b.want("a", "token-of-K")
		if len(b.problems()) != 0 || strings.Count(b.logged(), "\n") != 1 || !strings.Contains(b.logged(), "level=WARN") {
			t.Errorf("while the token is valid, the problems are %v and the log is %s", b.problems(), b.logged())
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		b.want("a", "")
		if p := b.problems(); len(p) != 1 || p[0] != "credential at aws of model-a: status 500: [redacted] and more" {
			t.Errorf("the problems are %v", p)
		}
		if log := b.logged(); strings.Count(log, "\n") != 2 || !strings.Contains(log, "level=ERROR") {
			t.Errorf("the log is %s", log)
		}
		fails.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.want("a", "token-of-K")
		if log := b.logged(); len(b.problems()) != 0 || strings.Count(log, "\n") != 3 || strings.Contains(log, canary) {
			t.Errorf("after the failure, the problems are %v and the log is %s", b.problems(), log)
		}
	})
}

func TestFailuresBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K"))
		b.serve(func(context.Context, string) (cloud.Token, error) { return cloud.Token{}, errors.New("no") })
		b.start()
		at := []int{b.fetches("K")}
		for _, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			time.Sleep(d)
			synctest.Wait()
			at = append(at, b.fetches("K"))
		}
		if fmt.Sprint(at) != "[1 2 3 4 5]" {
			t.Errorf("the fetches after 0, 1, 3, 7 and 15 s are %v", at)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := b.fetches("K"); n < 60 || n > 66 {
			t.Errorf("there were %d fetches in an hour", n)
		}
		if log := b.logged(); strings.Count(log, "\n") != 1 {
			t.Errorf("the log has more than one line: %s", log)
		}
	})
}

func TestSilentServiceIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K"))
		b.serve(silent)
		b.start()
		time.Sleep(15*time.Second + time.Millisecond)
		synctest.Wait()
		if p := b.problems(); len(p) != 1 || !strings.Contains(p[0], "did not respond within 15s") {
			t.Errorf("the problems are %v", p)
		}
	})
}

func silent(ctx context.Context, _ string) (cloud.Token, error) {
	<-ctx.Done()
	return cloud.Token{}, ctx.Err()
}

func TestExpiredTokenIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K"))
		b.serve(func(_ context.Context, key string) (cloud.Token, error) { return lasting(key, -time.Second), nil })
		b.start()
		b.want("a", "")
		if p := b.problems(); len(p) != 1 || !strings.Contains(p[0], "expired") {
			t.Errorf("the problems are %v", p)
		}
	})
}

func TestRotatedCredentialDropsItsToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "old"))
		b.serve(hourly)
		b.start()
		before := b.deployment("a")
		b.serve(func(ctx context.Context, key string) (cloud.Token, error) {
			time.Sleep(time.Second) // slow, so that the time without a token is seen
			return hourly(ctx, key)
		})
		b.change(clouded("a", "new"))
		synctest.Wait()
		if got, err := b.Token(before); err == nil {
			t.Errorf("the old credential still has the token %s", got.Bearer.Reveal())
		}
		b.want("a", "")
		time.Sleep(time.Second)
		synctest.Wait()
		b.want("a", "token-of-new")
	})
}

func TestDeletedDeploymentEndsItsSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("a", "K1"), clouded("b", "K2"), clouded("c", "K2"))
		b.serve(silent)
		b.start()
		if b.running() != 2 {
			t.Errorf("%d fetches are under way", b.running())
		}
		b.change(clouded("c", "K2"))
		synctest.Wait()
		if b.running() != 1 {
			t.Errorf("%d fetches are under way after a credential is gone", b.running())
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if p := b.problems(); len(p) != 1 || !strings.HasPrefix(p[0], "credential at aws of model-c: ") {
			t.Errorf("the problems are %v", p)
		}
		b.change()
		synctest.Wait()
		if p := b.problems(); b.running() != 0 || len(p) != 0 {
			t.Errorf("without deployments, %d fetches are under way, and the problems are %v", b.running(), p)
		}
	})
}

// The start never waits for token services, and the first requests wait for a second at most.
func TestSlowServices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all []catalog.DeploymentSpec
		for i := range 200 {
			all = append(all, clouded(fmt.Sprintf("d%d", i), fmt.Sprintf("K%d", i%20)))
		}
		b := newBench(t, all...)
		b.serve(silent)
		begun := time.Now()
		b.start()
		if b.running() != 20 || time.Since(begun) != 0 {
			t.Errorf("%d fetches are under way, and the start took %s", b.running(), time.Since(begun))
		}
		time.Sleep(3 * time.Second)
		waited := func() time.Duration {
			begun := time.Now()
			b.Await(t.Context(), []*catalog.Deployment{b.deployment("d1"), b.deployment("d2")})
			return time.Since(begun)
		}
		if d := waited(); d != time.Second {
			t.Errorf("the first request waited for %s", d)
		}
		if d := waited(); d != 0 {
			t.Errorf("the second request waited for %s", d)
		}
	})
}

func TestAwaitEndsWithTheFirstToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, clouded("slow", "slow"), clouded("quick", "quick"), clouded("broken", "broken"))
		b.serve(func(ctx context.Context, key string) (cloud.Token, error) {
			switch key {
			case "slow":
				return silent(ctx, key)
			case "broken":
				return cloud.Token{}, errors.New("no")
			}
			time.Sleep(300 * time.Millisecond)
			return hourly(ctx, key)
		})
		b.start()
		begun := time.Now()
		b.Await(t.Context(), []*catalog.Deployment{b.deployment("slow"), b.deployment("quick"), b.deployment("broken")})
		if d := time.Since(begun); d != 300*time.Millisecond {
			t.Errorf("the request waited for %s", d)
		}
		b.Await(t.Context(), []*catalog.Deployment{b.deployment("broken")})
		if d := time.Since(begun); d != 300*time.Millisecond {
			t.Errorf("a request waited for a credential whose first fetch has failed")
		}
	})
}

// A request may have a newer View than the manager has seen.
func TestAwaitOfADeploymentThatIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.serve(hourly)
		b.start()
		d, _ := catalogOf(t, clouded("a", "K")).Deployment("a")
		if _, err := b.Token(d); err == nil {
			t.Error("a deployment has a token before its credential is known")
		}
		b.change(clouded("a", "K"))
		begun := time.Now()
		b.Await(t.Context(), []*catalog.Deployment{d})
		if got, err := b.Token(d); err != nil || got.Bearer.Reveal() != "token-of-K" || time.Since(begun) != 0 {
			t.Errorf("after %s the token is %q, and the error %v", time.Since(begun), got.Bearer.Reveal(), err)
		}
	})
}
