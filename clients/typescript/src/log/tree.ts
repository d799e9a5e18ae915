/** Verify proofs of a log's Merkle tree by the algorithms of RFC 9162, section 2.1. */

import { equal, joined, sha256 } from "./bytes.js";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** Return `SHA256(0x00 | leaf)`. */
export function leafHash(content: Uint8Array): Promise<Uint8Array> {
  return sha256(joined(LEAF, content));
}

/** Return `SHA256(0x01 | left | right)`. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Promise<Uint8Array> {
  return sha256(joined(NODE, left, right));
}

// Places in a tree of up to 2^53 leaves: bit operations of JavaScript have 32 bits only.
const half = (place: number): number => Math.floor(place / 2);
const isOdd = (place: number): boolean => place % 2 === 1;

/** Return whether the leaf with this hash is number `index` (from 0) of `size` leaves. */
export async function isIncluded(
  leaf: Uint8Array,
  index: number,
  size: number,
  hashes: readonly Uint8Array[],
  root: Uint8Array,
): Promise<boolean> {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  let [at, last, node] = [index, size - 1, leaf];
  for (const hash of hashes) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      node = await nodeHash(hash, node);
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)];
    } else {
      node = await nodeHash(node, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equal(node, root);
}

/** Return whether the tree of `newSize` leaves begins with the `oldSize` leaves of another root. */
export async function isContinued(
  oldSize: number,
  newSize: number,
  oldRoot: Uint8Array,
  newRoot: Uint8Array,
  hashes: readonly Uint8Array[],
): Promise<boolean> {
  if (oldSize <= 0 || oldSize > newSize) return false;
  if (oldSize === newSize) return hashes.length === 0 && equal(oldRoot, newRoot);
  const path = isPowerOfTwo(oldSize) ? [oldRoot, ...hashes] : [...hashes];
  const first = path.shift();
  if (first === undefined) return false;
  let [at, last] = [oldSize - 1, newSize - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  let [before, after] = [first, first];
  for (const node of path) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      [before, after] = [await nodeHash(node, before), await nodeHash(node, after)];
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)];
    } else {
      after = await nodeHash(after, node);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equal(before, oldRoot) && equal(after, newRoot);
}

function isPowerOfTwo(size: number): boolean {
  let rest = size;
  while (rest > 1 && !isOdd(rest)) rest = half(rest);
  return rest === 1;
}
