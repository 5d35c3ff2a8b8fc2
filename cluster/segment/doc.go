// Package segment keeps the files of sealed segments: records that are older than what the replicated state holds.
//
// Guarantees:
//
//   - A file is named by the SHA-256 of its content. It appears whole and synced, or not at all, and is never changed.
//   - Whatever another node or the bucket gives is compared with its sum and size before it is used.
//   - A file that is damaged on this node is replaced by an intact copy of another node or of the bucket, if there is
//     one. What happened is among the node's problems.
//   - Files that are in the bucket are only a cache on this node, and limited. Other files stay until no state
//     names them any more.
//
// Which segments there are is in the replicated state: see package block.
package segment
