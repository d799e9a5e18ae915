/**
 * Query a Penstock server from TypeScript and JavaScript.
 *
 * - `client`: `Client`, with the usual operations by name and all others by `call`
 * - `contract`: the types of requests and answers, from `schema`, which is generated
 * - `intervals`: the interval of each value
 * - `errors`: all errors that this package throws
 * - `transport`: sends requests, again if answers are lost
 * - `log`: verifies the server's audit log: `log` receipts and checkpoints, `notes` signatures,
 *   `tree` proofs, `leaves` what a leaf states, `bytes` hashes
 */

export { Client, ONCE, REPEATABLE, type Call, type ClientOptions, type Target } from "./client.js";
export type { Answer, Body, Item, Names, Path, Query, Schemas, Verb } from "./contract.js";
export * from "./errors.js";
export { type Row, rows } from "./intervals.js";
export { type Memory, type MemoryStore, RunningMemory } from "./log/log.js";
export type { Checkpoint } from "./log/notes.js";
