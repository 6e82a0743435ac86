/**
 * How often stories run: as often as they say, or a share of it (SERVICEGROUP_RUNS=0.02). They begin at a fixed seed, so that a
 * build says the same twice; SERVICEGROUP_SEED=7 tells other ones, SERVICEGROUP_SEED=random new ones each time.
 */

const share = Number(process.env["SERVICEGROUP_RUNS"] ?? "1")
const seed = process.env["SERVICEGROUP_SEED"] ?? "1"

/** `turn` keeps files apart that run the same property. */
export const runs = (most: number, turn = 0): { readonly numRuns: number; readonly seed?: number } => ({
  numRuns: Math.max(1, Math.round(most * share)),
  ...(seed !== "random" && { seed: Number(seed) + turn })
})
