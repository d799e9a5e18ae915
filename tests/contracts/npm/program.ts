// A small client over the types that openapi-typescript makes of clients/openapi.json.
// Wherever @ts-expect-error stands, a compiler that finds nothing wrong fails the test.
import type { components, operations, paths } from "./schema";

type Schemas = components["schemas"];
type Release = Schemas["Release"];
type Problem = Schemas["Problem"];
type Wish = operations["request_release"]["requestBody"]["content"]["application/json"];
type Form = NonNullable<operations["show_values"]["parameters"]["query"]>["format"];
type Keyed = NonNullable<operations["create_tier"]["parameters"]["header"]>;

class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(`${problem.code}: ${problem.detail}`);
  }
}

class Client {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  async release(query: string, wish: Wish = {}): Promise<Release> {
    return this.post(`/api/v1/queries/${encodeURIComponent(query)}/releases`, wish);
  }

  async tier(spec: Schemas["TierSpec"], keyed: Keyed): Promise<Schemas["Tier"]> {
    return this.post("/api/v1/tiers", spec, { "Idempotency-Key": keyed["Idempotency-Key"] ?? "" });
  }

  async *history(): AsyncGenerator<Schemas["HistoryItem"]> {
    type Query = NonNullable<paths["/api/v1/releases"]["get"]["parameters"]["query"]>;
    const query: Query = { limit: 1000 };
    do {
      const asked = new URLSearchParams({ limit: String(query.limit) });
      if (query.cursor !== undefined) asked.set("cursor", query.cursor);
      const answer = await fetch(`${this.url}/api/v1/releases?${asked}`, this.signed());
      const page = (await answer.json()) as Schemas["HistoryItemPage"];
      yield* page.items;
      if (page.next_cursor === null) return;
      query.cursor = page.next_cursor;
    } while (true);
  }

  private signed(): { headers: Record<string, string> } {
    return { headers: { Authorization: `Bearer ${this.token}` } };
  }

  private async post<Answer>(
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(this.url + path, {
      method: "POST",
      headers: { ...this.signed().headers, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Refused((await answer.json()) as Problem);
    return (await answer.json()) as Answer;
  }
}

export async function shown(client: Client): Promise<string[]> {
  const wishes: Wish[] = [{}, { tier: "public" }, { epsilon: 0.1 }];
  const lines: string[] = [];
  for (const wish of wishes) {
    const release = await client.release("visits", wish);
    const width: number = release.error.half_width;
    const epsilon: number | null = release.guarantee.epsilon;
    release.values.forEach((value, place) => {
      const key = release.keys[place];
      const name = Array.isArray(key) ? key.join(", ") : String(key);
      lines.push(`${name}: ${value} ± ${width}, epsilon ${epsilon ?? "unbounded"}`);
    });
  }
  for await (const item of client.history()) {
    // @ts-expect-error The history has no values.
    lines.push(`${item.released_at} ${item.level.value} ${item.values}`);
  }
  return lines;
}

export async function tiers(client: Client): Promise<number> {
  const made = await client.tier({ name: "partner", above: "public" }, { "Idempotency-Key": "k" });
  // @ts-expect-error A tier has a name.
  await client.tier({ rank: 3 }, {});
  // @ts-expect-error A rank is a number.
  await client.tier({ name: "partner", rank: "high" }, {});
  return made.rank;
}

export const forms: Form[] = ["json", "csv", "arrow", "parquet"];
// @ts-expect-error There is no such form.
export const form: Form = "xml";
// @ts-expect-error There is no such address.
export type Nothing = paths["/api/v1/nothing"];
// @ts-expect-error A wish is one of four, and this is none.
export const wish: Wish = { mu: 1 };
