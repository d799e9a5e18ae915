/** Read a log's checkpoints, which are signed notes of text (C2SP signed-note). */

import { equal, fromBase64, hex, isSigned, joined, sha256, utf8 } from "./bytes.js";
import { LogRefused } from "../errors.js";

const ED25519 = Uint8Array.of(1);

/** The size and the root of a log, as its server signed them. */
export interface Checkpoint {
  readonly size: number;
  /** The Merkle root, 32 bytes in hexadecimal. */
  readonly root: string;
  /** The signed note itself. */
  readonly note: string;
}

/** Return the checkpoint in a note. Throws `LogRefused` unless the key signed it. */
export async function opened(note: string, key: Uint8Array): Promise<Checkpoint> {
  const name = `penstock/${hex(await sha256(key)).slice(0, 16)}`;
  const parts = note.split("\n\n");
  const [text, signatures] = parts;
  const lines = text?.split("\n") ?? [];
  const match = new RegExp(`^\u2014 ${name} ([A-Za-z0-9+/=]+)\n$`).exec(signatures ?? "");
  if (parts.length !== 2 || lines.length < 3 || lines[0] !== name || match === null) {
    throw new LogRefused("The log's checkpoint is not a note of the log with this key.");
  }
  const signature = fromBase64(match[1] ?? "");
  const tag = (await sha256(joined(utf8(`${name}\n`), ED25519, key))).slice(0, 4);
  const isGenuine =
    signature !== null &&
    signature.length === 68 &&
    equal(signature.slice(0, 4), tag) &&
    (await isSigned(key, utf8(`${text}\n`), signature.slice(4)));
  if (!isGenuine) throw new LogRefused("The checkpoint's signature is not by the log's key.");
  const root = fromBase64(lines[2] ?? "");
  const size = /^[1-9]\d{0,15}$/.test(lines[1] ?? "") ? Number(lines[1]) : 0;
  if (root?.length !== 32 || size < 1 || !Number.isSafeInteger(size)) {
    throw new LogRefused("The log's checkpoint has no size or no root.");
  }
  return { size, root: hex(root), note };
}
