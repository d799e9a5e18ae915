/** A client of one Penstock server, as one user. */

import type { Answer, Body, Item, Names, Path, Query, Schemas, Verb } from "./contract.js";
import { InvalidArgument, ProtocolError } from "./errors.js";
import { Log, type MemoryStore, RunningMemory } from "./log/log.js";
import type { Checkpoint } from "./log/notes.js";
import { Transport, type TransportOptions, segment } from "./transport.js";

const PAGE = 1000;
const API = "/api/v1";

export interface ClientOptions extends TransportOptions {
  /** The server's address; by default `PENSTOCK_URL`, else http://127.0.0.1:8080. */
  readonly url?: string | undefined;
  /** Your token; by default `PENSTOCK_TOKEN`. */
  readonly token?: string | undefined;
  /** Where the newest checkpoint of each server's log is kept; by default in memory. */
  readonly memory?: MemoryStore;
}

/** At most one of them says which level is released; without any it is that of your clearance. */
export interface Target {
  readonly tier?: string;
  readonly epsilon?: number;
  readonly rho?: number;
  readonly level?: number;
}

export interface Call<P extends Path, V extends Verb> {
  readonly names?: Names<P, V>;
  readonly query?: Query<P, V>;
  readonly body?: Body<P, V>;
}

/** The posts that change nothing that the same one sent again would change otherwise. */
export const REPEATABLE = /\/(preview|dummy|releases)$/;

/** The posts that the server would act on again: they have no key, and are sent once. */
export const ONCE = /\/(requests|comments|withdraw|cosignatures)$/;

export class Client {
  readonly #transport: Transport;
  readonly #log: Log;
  #name: Promise<string> | null = null;

  constructor(options: ClientOptions = {}) {
    const url = options.url ?? variable("PENSTOCK_URL") ?? "http://127.0.0.1:8080";
    this.#transport = new Transport(url, options.token ?? variable("PENSTOCK_TOKEN") ?? "", options);
    this.#log = new Log(this.#transport, options.memory ?? new RunningMemory());
  }

  get url(): string {
    return this.#transport.url;
  }

  /**
   * Call any operation of the contract, with its types. A GET is sent again if its answer is lost,
   * and so is a POST that is acted on once, by its Idempotency-Key; all others are sent once.
   */
  async call<P extends Path, V extends Verb>(
    verb: V,
    path: P,
    { names, query, body }: Call<P, V> = {},
  ): Promise<Answer<P, V>> {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      segment(String((names as Record<string, unknown> | undefined)?.[name] ?? "")),
    );
    const isPost = verb === "post";
    const isKeyed = isPost && !REPEATABLE.test(path) && !ONCE.test(path);
    const answer = await this.#transport.send({
      method: verb.toUpperCase(),
      path: filled,
      query: query as Record<string, unknown> | undefined,
      body: isPost ? (body ?? {}) : body,
      once: isPost ? ONCE.test(path) : verb !== "get",
      headers: isKeyed ? { "Idempotency-Key": await randomKey() } : {},
    });
    return answer as Answer<P, V>;
  }

  /** Yield the items of a list, page by page to its end. */
  async *items<P extends Path>(path: P, call: Call<P, "get"> = {}): AsyncGenerator<Item<P>> {
    let cursor: string | null = null;
    do {
      const query = { limit: PAGE, ...call.query, ...(cursor === null ? {} : { cursor }) };
      const page = (await this.call("get", path, {
        ...call,
        query: query as unknown as Query<P, "get">,
      })) as { items?: Item<P>[]; next_cursor?: string | null };
      if (!Array.isArray(page.items)) throw new ProtocolError("The answer is no list.");
      yield* page.items;
      if (cursor !== null && page.next_cursor === cursor) {
        throw new ProtocolError("The list names the same page again as its next one.");
      }
      cursor = page.next_cursor ?? null;
    } while (cursor !== null);
  }

  /** Return all items of a list. */
  async all<P extends Path>(path: P, call: Call<P, "get"> = {}): Promise<Item<P>[]> {
    const items: Item<P>[] = [];
    for await (const item of this.items(path, call)) items.push(item);
    return items;
  }

  me(): Promise<Schemas["Me"]> {
    return this.call("get", `${API}/me`);
  }

  tiers(): Promise<Schemas["Tier"][]> {
    return this.all(`${API}/tiers`);
  }

  users(): Promise<Schemas["User"][]> {
    return this.all(`${API}/users`);
  }

  datasets(): Promise<Schemas["Dataset"][]> {
    return this.all(`${API}/datasets`);
  }

  dataset(dataset: string): Promise<Schemas["Dataset"]> {
    return this.call("get", `${API}/datasets/{dataset}`, { names: { dataset } });
  }

  budget(dataset: string): Promise<Schemas["DatasetBudget"]> {
    return this.call("get", `${API}/datasets/{dataset}/budget`, { names: { dataset } });
  }

  queries(dataset?: string): Promise<Schemas["Query"][]> {
    return this.all(`${API}/queries`, dataset === undefined ? {} : { query: { dataset } });
  }

  query(query: string): Promise<Schemas["Query"]> {
    return this.call("get", `${API}/queries/{query}`, { names: { query } });
  }

  /** Return what a registered query (by its name) or a spec would cost; nothing is changed. */
  preview(query: string | Body<"/api/v1/queries/preview", "post">): Promise<Schemas["Preview"]> {
    const body = typeof query === "string" ? { query } : query;
    return this.call("post", `${API}/queries/preview`, {
      body: body as Body<"/api/v1/queries/preview", "post">,
    });
  }

  /** Register a query, which is charged: for admins, and analysts with an allowance. */
  register(spec: Body<"/api/v1/queries", "post">): Promise<Schemas["Query"]> {
    return this.call("post", `${API}/queries`, { body: spec });
  }

  /** Return a query's values at your clearance or at a more private level; its receipt is verified. */
  async release(query: string, target: Target = {}): Promise<Schemas["Release"]> {
    const given = Object.entries(target).filter(([, value]) => value !== undefined);
    if (given.length > 1) {
      throw new InvalidArgument(`Give one of ${given.map(([name]) => name).join(" or ")}.`);
    }
    const body = Object.fromEntries(given);
    const path = `${API}/queries/{query}/releases` as const;
    const release = await this.call("post", path, { names: { query }, body });
    return this.#verified(release, { kind: "release", query: release.query, release: release.id });
  }

  /** Return a release that you received; its receipt is verified. */
  async values(release: string): Promise<Schemas["Release"]> {
    const path = `${API}/releases/{release}/values` as const;
    const shown = await this.call("get", path, { names: { release } });
    return this.#verified(shown, { release: shown.id });
  }

  history(query?: string): Promise<Schemas["HistoryItem"][]> {
    return this.all(`${API}/releases`, query === undefined ? {} : { query: { query } });
  }

  streams(): Promise<Schemas["Stream"][]> {
    return this.all(`${API}/streams`);
  }

  /** Return a stream's running totals over a range of steps; the receipt is verified. */
  async stream(
    stream: string,
    range: { from?: number; to?: number; tier?: string } = {},
  ): Promise<Schemas["RunningTotals"]> {
    const path = `${API}/streams/{stream}/releases` as const;
    const totals = await this.call("get", path, { names: { stream }, query: range });
    const ends = { first: totals.items[0]?.t, last: totals.items[totals.items.length - 1]?.t };
    return this.#verified(totals, { kind: "stream", query: totals.stream, ...ends });
  }

  /** Return what these users could learn together, about one dataset or all. */
  async exposure(users: readonly string[], dataset?: string): Promise<Schemas["Exposure"]> {
    if (users.length === 0 || users.some((name) => name === "" || name.includes(","))) {
      throw new InvalidArgument("Name at least one user; a name contains no comma.");
    }
    const query = { users: [...users], ...(dataset === undefined ? {} : { dataset }) };
    return this.call("get", `${API}/audit/exposure`, { query });
  }

  async allowances(dataset: string): Promise<Schemas["Allowance"][]> {
    const path = `${API}/datasets/{dataset}/allowances` as const;
    return (await this.call("get", path, { names: { dataset } })).items;
  }

  requests(): Promise<Schemas["Request"][]> {
    return this.all(`${API}/requests`);
  }

  /** Return the newest checkpoint of the log, after verifying that it continues the last one. */
  verify(): Promise<Checkpoint> {
    return this.#log.follow();
  }

  async #verified<
    Shown extends {
      dataset: string;
      level: { parameter: string; value: number };
      receipt: Schemas["Receipt"];
    },
  >(shown: Shown, expected: Record<string, unknown>): Promise<Shown> {
    this.#name ??= this.me().then(({ name }) => name);
    let user: string;
    try {
      user = await this.#name;
    } catch (error) {
      this.#name = null;
      throw error;
    }
    const { parameter, value } = shown.level;
    const level = { parameter, value };
    await this.#log.verify(shown.receipt, { ...expected, user, dataset: shown.dataset, level });
    return shown;
  }
}

function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name]?.trim() || undefined;
}

async function randomKey(): Promise<string> {
  if (globalThis.crypto !== undefined) return globalThis.crypto.randomUUID();
  const module: string = "node:crypto";
  return ((await import(module)) as { randomUUID: () => string }).randomUUID();
}
