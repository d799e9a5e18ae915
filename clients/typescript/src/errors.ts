/**
 * All errors that this package throws. No error contains the token.
 *
 *     PenstockError
 *     ├── InvalidArgument         an argument cannot be used, nothing was sent
 *     ├── Proposed                nothing was done yet, another admin must approve it
 *     ├── NotReachable            no answer came
 *     ├── ProtocolError           the answer is not what the contract says
 *     ├── LogRefused              the server's log does not continue the one seen before
 *     └── ApiError                the server refused the request
 *         ├── InvalidInput        the request is not valid (400, 413, 415, 422)
 *         ├── NotAuthenticated    no valid token (401)
 *         ├── Forbidden           the caller's roles do not allow it (403)
 *         │   └── ClearanceTooLow the level is more accurate than the clearance allows
 *         ├── NotFound            it does not exist, or the caller may not see it (404)
 *         ├── Conflict            the present state does not allow it (409)
 *         │   └── BudgetExhausted the budget does not allow it
 *         ├── TooManyRequests     the caller sends requests too fast (429)
 *         └── Unavailable         the server cannot answer now (502, 503, 504)
 */

import type { components } from "./schema.js";

export type Problem = components["schemas"]["Problem"];

export class PenstockError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

export class InvalidArgument extends PenstockError {}

export class NotReachable extends PenstockError {}

export class ProtocolError extends PenstockError {}

export class LogRefused extends PenstockError {}

/** Under the two-person rule another admin must approve the proposal with this id. */
export class Proposed extends PenstockError {
  constructor(readonly proposal: string) {
    super(
      "Nothing was done yet: under the two-person rule another admin must approve proposal" +
        ` ${proposal}.`,
    );
  }
}

/** A refusal, as the server's problem document (RFC 9457) states it. */
export class ApiError extends PenstockError {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly { pointer: string; detail: string }[] = [],
    readonly requestId: string | null = null,
    /** Members that only one kind of problem has, such as how much budget was needed. */
    readonly data: Readonly<Record<string, unknown>> = {},
    /** Seconds to wait before the request is sent again, if the server said so. */
    readonly retryAfter: number | null = null,
  ) {
    super(`${title}: ${detail} (${code}${requestId === null ? "" : `, request ${requestId}`})`);
  }
}

export class InvalidInput extends ApiError {}
export class NotAuthenticated extends ApiError {}
export class Forbidden extends ApiError {}
export class ClearanceTooLow extends Forbidden {}
export class NotFound extends ApiError {}
export class Conflict extends ApiError {}
export class BudgetExhausted extends Conflict {}
export class TooManyRequests extends ApiError {}
export class Unavailable extends ApiError {}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidInput,
  401: NotAuthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  413: InvalidInput,
  415: InvalidInput,
  422: InvalidInput,
  429: TooManyRequests,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};
const BY_CODE: Readonly<Record<string, typeof ApiError>> = {
  CLEARANCE_TOO_LOW: ClearanceTooLow,
  BUDGET_EXHAUSTED: BudgetExhausted,
};
const FROM_GATEWAYS: readonly number[] = [429, 502, 503, 504];

/** Return the error for an answer with a status of 400 or above; `problem` is its parsed body. */
export function refusal(
  status: number,
  problem: unknown,
  retryAfter: number | null,
): ApiError | ProtocolError {
  if (!isProblem(problem)) {
    if (!FROM_GATEWAYS.includes(status)) {
      return new ProtocolError(
        `The answer has status ${status}, and is not how a Penstock server refuses; check the URL.`,
      );
    }
    const kind = BY_STATUS[status] ?? ApiError;
    const detail = "A gateway before the server answered in its place.";
    return new kind(status, "GATEWAY", `HTTP status ${status}`, detail, [], null, {}, retryAfter);
  }
  const { type: _, title, status: __, detail, code, errors, request_id, ...data } = problem;
  const kind = BY_CODE[code] ?? BY_STATUS[status] ?? ApiError;
  return new kind(status, code, title, detail, errors, request_id, data, retryAfter);
}

function isProblem(value: unknown): value is Problem & Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { code, title, detail } = value as Partial<Problem>;
  return [code, title, detail].every((text) => typeof text === "string");
}
