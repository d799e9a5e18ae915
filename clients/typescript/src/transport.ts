/** Send a request and parse the answer, or throw an error of this package. */

import {
  InvalidArgument,
  NotReachable,
  PenstockError,
  Proposed,
  ProtocolError,
  Unavailable,
  refusal,
} from "./errors.js";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  /** Whether the server acts on it again if it is sent again; such a request is sent once. */
  readonly once?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TransportOptions {
  /** Milliseconds to wait for each answer. */
  readonly timeout?: number;
  /** Allow plain http to other machines. */
  readonly insecure?: boolean;
  /** Milliseconds to wait after each lost answer before the request is sent again. */
  readonly pauses?: readonly number[];
  readonly fetch?: typeof fetch;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const PROBLEM = "application/problem+json";
const JSON_TYPE = "application/json";

export class Transport {
  readonly url: string;
  readonly #token: string;
  readonly #timeout: number;
  readonly #pauses: readonly number[];
  readonly #fetch: typeof fetch;

  constructor(url: string, token: string, options: TransportOptions = {}) {
    this.url = checkedUrl(url, options.insecure ?? false);
    if (!/^[!-~]+$/.test(token)) {
      throw new InvalidArgument("The token is missing, or has characters that no token has.");
    }
    this.#token = token;
    this.#timeout = options.timeout ?? 60_000;
    this.#pauses = options.pauses ?? [250, 500, 1000];
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Return the parsed answer, after sending again what may be sent again if answers are lost. */
  async send(request: Request): Promise<unknown> {
    for (const pause of request.once ? [] : this.#pauses) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        if (!(error instanceof NotReachable || error instanceof Unavailable)) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    return this.#sendOnce(request);
  }

  async #sendOnce(request: Request): Promise<unknown> {
    const { status, type, text, retryAfter } = await this.#answer(request);
    if (status < 200 || (status >= 300 && status < 400)) {
      throw new ProtocolError(
        `The answer is a redirection (status ${status}), which is not followed, because the` +
          " token would be sent along. Set the URL to the server's own address.",
      );
    }
    if (status >= 400) {
      throw refusal(status, type === PROBLEM ? parsed(text) : null, retryAfter);
    }
    if (type !== JSON_TYPE) {
      throw new ProtocolError(`The answer is ${type || "without a media type"}, not JSON.`);
    }
    const answer = parsed(text);
    if (status === 202) throw new Proposed(String((answer as { id?: unknown }).id));
    return answer;
  }

  async #answer(request: Request) {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    try {
      const response = await this.#fetch(this.#address(request), {
        method: request.method,
        headers: {
          Accept: JSON_TYPE,
          Authorization: `Bearer ${this.#token}`,
          ...(body === undefined ? {} : { "Content-Type": JSON_TYPE }),
          ...request.headers,
        },
        redirect: "manual",
        signal: AbortSignal.timeout(this.#timeout),
        ...(body === undefined ? {} : { body }),
      });
      const seconds = response.headers.get("retry-after") ?? "";
      return {
        status: response.status,
        type: (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase(),
        text: await response.text(),
        retryAfter: /^\d{1,9}$/.test(seconds) ? Number(seconds) : null,
      };
    } catch (error) {
      if (error instanceof PenstockError) throw error;
      const reason = error instanceof Error ? causeOf(error) : String(error);
      throw new NotReachable(`${this.url} cannot be reached: ${reason}.`);
    }
  }

  #address({ path, query }: Request): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
      if (text !== "") parameters.set(name, text);
    }
    const text = parameters.toString();
    return `${this.url}${path}${text && `?${text}`}`;
  }
}

/** Return a name as one part of a path. */
export function segment(name: string): string {
  if (name === "" || name === "." || name === "..") {
    throw new InvalidArgument("A name has at least one character, and is neither . nor ..");
  }
  return encodeURIComponent(name);
}

/**
 * Return the JSON value in a text. Integers beyond 2^53, which only keys are, come as texts of
 * their digits, so that none is rounded to another key.
 */
export function parsed(text: string): unknown {
  const exact = text.replace(/"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  try {
    return JSON.parse(exact);
  } catch {
    throw new ProtocolError("The answer is declared as JSON but cannot be parsed.");
  }
}

function checkedUrl(text: string, insecure: boolean): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidArgument("The server's URL must look like https://penstock.example.org.");
  }
  if (!["http:", "https:"].includes(url.protocol) || url.search || url.hash) {
    throw new InvalidArgument("The server's URL is http or https, without ? and #.");
  }
  if (url.username || url.password) {
    throw new InvalidArgument("The server's URL contains a user name or password; pass the token.");
  }
  if (url.protocol === "http:" && !insecure && !LOOPBACK.test(url.hostname)) {
    throw new InvalidArgument(
      `Plain http to ${url.hostname} would let others on the network read the token. Use https,` +
        " or allow it with insecure: true.",
    );
  }
  return url.href.replace(/\/+$/, "");
}

function causeOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
