# Proofs of a log's Merkle tree, by the algorithms of RFC 9162, section 2.1.

leaf_hash <- function(content) sha256(c(as.raw(0), content))

node_hash <- function(left, right) sha256(c(as.raw(1), left, right))

# openssl marks hashes with a class, which identical() would compare.
sha256 <- function(content) as.raw(as.integer(unclass(openssl::sha256(content))))

# Places are doubles: bit operations have 31 bits only.
half <- function(place) floor(place / 2)
is_odd <- function(place) place %% 2 == 1

# Return TRUE if the leaf with this hash is number `index` (from 0) of `size` leaves.
is_included <- function(leaf, index, size, hashes, root) {
  if (index < 0 || index >= size) return(FALSE)
  at <- index
  last <- size - 1
  node <- leaf
  for (hash in hashes) {
    if (last == 0) return(FALSE)
    if (is_odd(at) || at == last) {
      node <- node_hash(hash, node)
      while (!is_odd(at) && at > 0) {
        at <- half(at)
        last <- half(last)
      }
    } else {
      node <- node_hash(node, hash)
    }
    at <- half(at)
    last <- half(last)
  }
  last == 0 && identical(node, root)
}

# Return TRUE if the tree of `new_size` leaves begins with the `old_size` leaves of another root.
is_continued <- function(old_size, new_size, old_root, new_root, hashes) {
  if (old_size <= 0 || old_size > new_size) return(FALSE)
  if (old_size == new_size) return(length(hashes) == 0 && identical(old_root, new_root))
  path <- if (log2(old_size) %% 1 == 0) c(list(old_root), hashes) else hashes
  if (length(path) == 0) return(FALSE)
  at <- old_size - 1
  last <- new_size - 1
  while (is_odd(at)) {
    at <- half(at)
    last <- half(last)
  }
  before <- after <- path[[1]]
  for (node in path[-1]) {
    if (last == 0) return(FALSE)
    if (is_odd(at) || at == last) {
      before <- node_hash(node, before)
      after <- node_hash(node, after)
      while (!is_odd(at) && at > 0) {
        at <- half(at)
        last <- half(last)
      }
    } else {
      after <- node_hash(after, node)
    }
    at <- half(at)
    last <- half(last)
  }
  last == 0 && identical(before, old_root) && identical(after, new_root)
}
