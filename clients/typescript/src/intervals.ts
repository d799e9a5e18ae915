/** Compute the interval of each value of a release, at the confidence that the server stated. */

import type { Schemas } from "./contract.js";

export interface Row {
  readonly key: string | number | readonly (string | number)[];
  readonly value: number;
  readonly lower: number;
  readonly upper: number;
}

/** Return the values of a release as rows; each interval holds by itself. */
export function rows(release: Schemas["Release"]): Row[] {
  const { keys, values, mean, errors, error } = release;
  return values.map((value, place) => {
    const width = errors?.half_widths[place] ?? error.half_width;
    return {
      key: keys[place] ?? place,
      value,
      lower: mean?.lower[place] ?? value - width,
      upper: mean?.upper[place] ?? value + width,
    };
  });
}
