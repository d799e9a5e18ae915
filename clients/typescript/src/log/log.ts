/**
 * Verify a server's log against what this client remembers of it.
 *
 * The log's key is taken from its first answer and pinned from then on. A log that is shorter, or
 * that does not begin with the leaves of the remembered checkpoint, is refused, even if its
 * signature is valid.
 */

import { LogRefused } from "../errors.js";
import type { components } from "../schema.js";
import type { Transport } from "../transport.js";
import { fromHex, hex, utf8 } from "./bytes.js";
import { requireLeaf } from "./leaves.js";
import { type Checkpoint, opened } from "./notes.js";
import { isContinued, isIncluded, leafHash } from "./tree.js";

const API = "/api/v1/audit";

export type Receipt = components["schemas"]["Release"]["receipt"];

/** What is remembered of one server's log: the key in hexadecimal, and the newest checkpoint. */
export interface Memory {
  readonly key: string;
  readonly checkpoint: Checkpoint;
}

/** Keep what is remembered of each server's log, by the server's address. */
export interface MemoryStore {
  load(url: string): Promise<Memory | null>;
  save(url: string, memory: Memory): Promise<void>;
}

/** Remember logs as long as this program runs. */
export class RunningMemory implements MemoryStore {
  readonly #kept = new Map<string, Memory>();

  async load(url: string): Promise<Memory | null> {
    return this.#kept.get(url) ?? null;
  }

  async save(url: string, memory: Memory): Promise<void> {
    this.#kept.set(url, memory);
  }
}

export class Log {
  readonly #transport: Transport;
  readonly #store: MemoryStore;
  #last: Promise<unknown> = Promise.resolve();

  constructor(transport: Transport, store: MemoryStore) {
    this.#transport = transport;
    this.#store = store;
  }

  /** Return the newest checkpoint, after verifying that it continues the remembered one. */
  follow(): Promise<Checkpoint> {
    return this.#alone(async () => (await this.#followed()).checkpoint);
  }

  /** Verify that a receipt's leaf states these fields and is in the log. */
  verify(receipt: Receipt, expected: Readonly<Record<string, unknown>>): Promise<Checkpoint> {
    return this.#alone(() => this.#verified(receipt, expected));
  }

  async #verified(
    { index, checkpoint: note, leaf, leaf_hash }: Receipt,
    expected: Readonly<Record<string, unknown>>,
  ): Promise<Checkpoint> {
    if (typeof index !== "number" || typeof note !== "string" || typeof leaf !== "string") {
      throw new LogRefused("The receipt has no index in the log, no leaf or no checkpoint.");
    }
    if (hex(await leafHash(utf8(leaf))) !== leaf_hash) {
      throw new LogRefused("The receipt's leaf does not have the hash that the receipt states.");
    }
    requireLeaf(leaf, expected);
    let known = (await this.#store.load(this.#transport.url)) ?? (await this.#followed());
    const signed = await opened(note, bytes(known.key));
    if (known.checkpoint.size < signed.size) known = await this.#followed();
    const newest = known.checkpoint;
    if (index >= signed.size || newest.size < signed.size) {
      throw new LogRefused(
        `The receipt's checkpoint is of ${signed.size} leaves, its leaf is number ${index}, and` +
          ` the log has ${newest.size}.`,
      );
    }
    await this.#requireContinued(signed, newest);
    const proof = await this.#hashes("inclusion", { index, size: newest.size });
    if (!(await isIncluded(bytes(leaf_hash), index, newest.size, proof, bytes(newest.root)))) {
      throw new LogRefused(`The log does not contain leaf ${index}, which the receipt names.`);
    }
    return newest;
  }

  /** Do one thing after the other: two at once would each replace what the other remembers. */
  #alone<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act, act);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #followed(): Promise<Memory> {
    const before = await this.#store.load(this.#transport.url);
    const answer = (await this.#transport.send({
      method: "GET",
      path: `${API}/checkpoint`,
    })) as components["schemas"]["Checkpoint"];
    const checkpoint = await opened(String(answer.note), bytes(answer.key));
    if (answer.size !== checkpoint.size || answer.root_hash !== checkpoint.root) {
      throw new LogRefused("The checkpoint's size or root differs from its signed note.");
    }
    if (before !== null) {
      if (before.key !== answer.key) {
        throw new LogRefused(
          "The log is signed by another key than before. Ask the server's operator whether the" +
            " key was changed on purpose; only then forget what is remembered of this server.",
        );
      }
      await this.#requireContinued(before.checkpoint, checkpoint);
    }
    const known = { key: answer.key, checkpoint };
    await this.#store.save(this.#transport.url, known);
    return known;
  }

  async #requireContinued(before: Checkpoint, after: Checkpoint): Promise<void> {
    if (after.size < before.size) {
      throw new LogRefused(
        `The log has ${after.size} leaves, and had ${before.size}: it was truncated, or the` +
          " server's database was restored from an older state.",
      );
    }
    const proof =
      after.size === before.size
        ? []
        : await this.#hashes("consistency", { from: before.size, to: after.size });
    const [old, root] = [bytes(before.root), bytes(after.root)];
    if (!(await isContinued(before.size, after.size, old, root, proof))) {
      throw new LogRefused(
        `The log of ${after.size} leaves does not begin with the ${before.size} leaves that were` +
          " seen before: its history was changed, or the server shows others another log.",
      );
    }
  }

  async #hashes(kind: string, query: Readonly<Record<string, number>>): Promise<Uint8Array[]> {
    const path = `${API}/proof/${kind}`;
    const answer = (await this.#transport.send({ method: "GET", path, query })) as {
      hashes?: unknown;
    };
    return (Array.isArray(answer.hashes) ? answer.hashes : []).map(bytes);
  }
}

function bytes(text: unknown): Uint8Array {
  const content = fromHex(text);
  if (content === null) {
    throw new LogRefused("The log states a hash or a key that is not 32 bytes in hexadecimal.");
  }
  return content;
}
