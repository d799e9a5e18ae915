/** Take the types of requests and answers from the contract, by verb and path. */

import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Path = keyof paths;
export type Verb = "get" | "post" | "put" | "patch" | "delete";

type Operation<P extends Path, V extends Verb> = V extends keyof paths[P] ? paths[P][V] : never;

type Json<R> = R extends { content: { "application/json": infer A } } ? A : never;

/** The answer that says that the act was done; 202, which only proposes it, throws `Proposed`. */
export type Answer<P extends Path, V extends Verb> =
  Operation<P, V> extends { responses: infer R }
    ? Json<R extends { 200: infer Done } ? Done : R extends { 201: infer Made } ? Made : never>
    : never;

/** The body of a request; undefined if it has none. */
export type Body<P extends Path, V extends Verb> =
  Operation<P, V> extends { requestBody?: infer B } ? Json<NonNullable<B>> : undefined;

type Parameters<P extends Path, V extends Verb> =
  Operation<P, V> extends { parameters: infer All } ? All : never;

/** The parameters behind the question mark. */
export type Query<P extends Path, V extends Verb> =
  Parameters<P, V> extends { query?: infer Q } ? NonNullable<Q> : Record<string, never>;

/** The parts of a path that are names. */
export type Names<P extends Path, V extends Verb> =
  Parameters<P, V> extends { path: infer N } ? N : Record<string, never>;

/** One item of a list that is answered in pages. */
export type Item<P extends Path> =
  Answer<P, "get"> extends { items: (infer I)[] } ? I : never;
