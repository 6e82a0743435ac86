/**
 * How often properties run: as often as they say, or a share of it (SERVICEGROUP_RUNS=0.02), from a given seed
 * (SERVICEGROUP_SEED) where a failure, or a planted bug, is looked for.
 */

const share = Number(process.env["SERVICEGROUP_RUNS"] ?? "1")
const seed = process.env["SERVICEGROUP_SEED"]

export const runs = (most: number): { readonly numRuns: number; readonly seed?: number } => ({
  numRuns: Math.max(1, Math.round(most * share)),
  ...(seed !== undefined && { seed: Number(seed) })
})
