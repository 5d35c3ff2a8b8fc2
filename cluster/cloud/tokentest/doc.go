// Package tokentest tests fetchers of tokens in virtual time, within a bubble of testing/synctest: a Network that is in memory
// has the token services, which verify what they get, and a Node has the manager of a gateway's tokens, with the real
// libraries of the clouds. Nothing of it leaves the process, and no test waits.
package tokentest
