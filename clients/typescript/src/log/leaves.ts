/** Read the leaves of a log, which are JSON that every reader understands in the same way. */

import { LogRefused } from "../errors.js";

type Stated = Readonly<Record<string, unknown>>;

/** Throw `LogRefused` unless a leaf states the expected fields, each of them once. */
export function requireLeaf(leaf: string, expected: Stated): void {
  const stated = read(leaf);
  for (const [name, value] of Object.entries(expected)) {
    let theirs = stated[name];
    // Behind a comma, which no chosen name has, is the number of the tier of its maker.
    if (name === "query" && typeof theirs === "string") theirs = theirs.split(",")[0];
    if (!states(theirs, value)) {
      throw new LogRefused(`The receipt's leaf does not match the answer: ${name} differs.`);
    }
  }
}

function states(theirs: unknown, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return theirs === value;
  if (typeof theirs !== "object" || theirs === null) return false;
  // A newer server may state more.
  return Object.entries(value).every(([name, part]) => states((theirs as Stated)[name], part));
}

function read(leaf: string): Stated {
  let value: unknown;
  try {
    value = JSON.parse(leaf);
  } catch {
    throw new LogRefused("The receipt's leaf is not JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || repeats(leaf)) {
    throw new LogRefused("The receipt's leaf is no object, or states a field twice.");
  }
  return value as Stated;
}

/** Return whether an object in a JSON text has a name twice, of which readers take different ones. */
function repeats(text: string): boolean {
  const open: Set<unknown>[] = [];
  for (const [token, colon] of text.matchAll(/"(?:\\.|[^"\\])*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const name: unknown = JSON.parse(token.slice(0, token.length - colon.length));
      const names = open[open.length - 1];
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
