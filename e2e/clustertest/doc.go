// Package clustertest is a small network of real machines, as far as processes
// can tell, for tests that break it.
//
// A Lab has hosts: Linux network namespaces, each with an interface and an
// address of its own, and the test's own process as one more. What a host sends
// to another is read by the lab and written to the other's interface, so the
// kernel's TCP and UDP are real, and whatever happens between two hosts is this
// package's doing: nothing, a partition, a delay, loss, duplicates, reordering,
// a slow line. The kernels that tests run on often have no sch_netem, and a
// proxy in user space could not lose a packet; this does both jobs.
//
// It guarantees:
//
//   - Without rules no packet is lost, delayed on purpose, or reordered.
//   - A rule holds for each packet that is sent after the call that set it
//     returned. A cut also takes the packets that are under way.
//   - The n-th packet of a link has the same fate with the same seed and rules.
//     Which packet is the n-th is the kernels' doing, so whole tests do not
//     repeat to the byte.
//   - No process, namespace or interface is left: processes that were started
//     on a host end with the lab, and, if the test's process is killed, with it;
//     the kernel takes the namespaces and interfaces away with their last file.
//
// It needs Linux, /dev/net/tun and the right to make network namespaces: being
// root, or user namespaces that anybody may create and a device that they may
// open. A test makes them by running itself again:
//
//	func TestPartition(t *testing.T) {
//		if !clustertest.Inside() {
//			clustertest.Rerun(t)
//			return
//		}
//		lab := clustertest.Start(t, clustertest.Config{Hosts: 3})
//		…
//	}
package clustertest
