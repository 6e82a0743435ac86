/**
 * Which of several replicas leads: what a candidate may do with the Lease that all of them see.
 *
 * The rules are those of Kubernetes' own components (client-go, tools/leaderelection): who holds the Lease renews it every 2 s and gives
 * up when that failed for 10 s; the others wait until it was left unchanged for the 15 s that it names. Each measures that by
 * its own clock, from when it saw the last change, so that no two clocks need to agree. An empty holder has let go.
 */
import { microTime } from "./instant.ts"
import { isObject } from "./json.ts"

/** Seconds for which others leave a Lease alone that isn't renewed. */
export const DURATION_S = 15
/** Milliseconds after which a leader that can't renew stops. */
export const DEADLINE_MS = 10_000
/** Milliseconds between two renewals. */
export const RETRY_MS = 2000

/** What one candidate knows of the Lease; times in milliseconds by its own steady clock. */
export interface Known {
  /** `undefined`: there is none */
  readonly revision: string | undefined
  /** empty: nobody */
  readonly holder: string
  readonly durationMs: number
  readonly acquired: string | undefined
  readonly transitions: number
  /** when this revision was seen first */
  readonly since: number
}

const partOf = (raw: unknown, name: string): { readonly [field: string]: unknown } => {
  const part = isObject(raw) ? raw[name] : undefined
  return isObject(part) ? part : {}
}

/** What a candidate knows after a look at `now`, in milliseconds by its steady clock: `raw` is the Lease as the API gave it, `undefined` where there is none. */
export const known = (before: Known | undefined, raw: unknown, now: number): Known => {
  const { resourceVersion } = partOf(raw, "metadata")
  const spec = partOf(raw, "spec")
  const revision = typeof resourceVersion === "string" ? resourceVersion : undefined
  if (before !== undefined && before.revision === revision) return before
  const { holderIdentity, leaseDurationSeconds, acquireTime, leaseTransitions } = spec
  return {
    revision,
    holder: typeof holderIdentity === "string" ? holderIdentity : "",
    durationMs: 1000 * (typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : DURATION_S),
    acquired: typeof acquireTime === "string" ? acquireTime : undefined,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    since: now
  }
}

/** Whether a candidate may write its name into the Lease. */
export const mayTake = (me: string, { holder, since, durationMs }: Known, now: number): boolean =>
  holder === "" || holder === me || now - since >= durationMs

/** The Lease to apply. It is written only over the revision that was seen, or where there is none. `clock`: milliseconds of the day's clock. */
export const taken = (
  me: string,
  at: { readonly namespace: string; readonly name: string },
  { revision, holder, acquired, transitions }: Known,
  clock: number
) => {
  const mine = holder === me
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...at, resourceVersion: revision ?? "1" },
    spec: {
      holderIdentity: me,
      leaseDurationSeconds: DURATION_S,
      acquireTime: mine && acquired !== undefined ? acquired : microTime(clock),
      renewTime: microTime(clock),
      leaseTransitions: mine || revision === undefined ? transitions : transitions + 1
    }
  }
}

/** The Lease that a leader leaves behind: the next one need not wait. */
export const released = (lease: ReturnType<typeof taken>): ReturnType<typeof taken> => ({
  ...lease,
  spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 }
})
