/**
 * How long the faults last: 12 plans a story and a fifth of each period, or with SERVICEGROUP_PLANS=40 (or more) as many plans and the whole
 * periods. Plans begin at a fixed seed; SERVICEGROUP_SEED=7 draws other ones, SERVICEGROUP_SEED=random new ones each time. The seed stands in
 * each plan's name: the same seed (and at least as many plans) draws it again.
 */

export const PLANS = Number(process.env["SERVICEGROUP_PLANS"] ?? "12")

const isWhole = PLANS >= 40

/** A period, or a number, of which a fifth is enough in CI. */
export const share = (whole: number): number => (isWhole ? whole : whole / 5)

const seed = process.env["SERVICEGROUP_SEED"] ?? "1"

export const SEED = seed === "random" ? Math.floor(Math.random() * 1_000_000) : Number(seed)
