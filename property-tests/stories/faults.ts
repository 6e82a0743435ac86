/**
 * What goes wrong between the controller and the API server, and for how long: the state of all faults that are on.
 */
import type { Failure } from "../../src/core/retry.ts"

/** Where the controller dies: before a write leaves, after it is done but before its answer comes, or with the answer. */
export type Moment = "before" | "between" | "after"

/** How a request fails: with an answer, without being carried out, or carried out without an answer. */
export type Trouble =
  | { readonly _tag: "Refused"; readonly code: number; readonly body: unknown; readonly retryAfter?: number }
  | { readonly _tag: "Reset" }
  | { readonly _tag: "Unanswered" }

/** What a watch is told whose events are no longer known. */
export const forgotten = {
  kind: "Status",
  status: "Failure",
  reason: "Expired",
  message: "too old resource version",
  code: 410
}

export const unreachable: Failure = { reason: "Unavailable", code: 0, message: "read ECONNRESET" }

const status = (
  code: number,
  reason: string,
  message: string,
  details?: object
): Extract<Trouble, { _tag: "Refused" }> => ({
  _tag: "Refused",
  code,
  body: {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    message,
    code,
    ...(details && { details })
  }
})

/** What a server that is in trouble says, by the name that commands call it. */
export const TROUBLES = {
  Quota: status(403, "Forbidden", 'deployments.apps "x" is forbidden: exceeded quota: q'),
  Webhook: status(400, "BadRequest", 'admission webhook "v.example.com" denied the request: not now'),
  Conflict: status(409, "Conflict", "Operation cannot be fulfilled: the object has been modified"),
  Missing: status(404, "NotFound", 'namespaces "default" not found'),
  Invalid: status(422, "Invalid", "is invalid: spec: Invalid value", {
    causes: [{ reason: "FieldValueInvalid", field: "spec.template", message: "Invalid value" }]
  }),
  Untyped: {
    _tag: "Refused",
    code: 500,
    body: {
      kind: "Status",
      status: "Failure",
      message:
        "failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.x: field not declared in schema",
      code: 500
    }
  },
  Internal: { _tag: "Refused", code: 500, body: "internal error" },
  Unavailable: { _tag: "Refused", code: 503, body: "apiserver is shutting down" },
  Slow: { ...status(429, "TooManyRequests", "too many requests, please try again later"), retryAfter: 7 },
  Reset: { _tag: "Reset" },
  Unanswered: { _tag: "Unanswered" }
} as const satisfies Record<string, Trouble>

export type TroubleName = keyof typeof TROUBLES

/** Every fault that is on at the moment. */
export class Faults {
  /** the write at which a controller dies: counted down */
  kill: { left: number; readonly moment: Moment } | undefined
  /** those after it, each counted from the death before it */
  kills: { left: number; readonly moment: Moment }[] = []
  /** writes that fail, counted down */
  fails: { left: number; readonly trouble: Trouble }[] = []
  /** every write of the object of this name fails */
  always: { readonly name: string; readonly trouble: Trouble } | undefined
  /** so many requests of any kind fail */
  storm: { left: number; readonly trouble: Trouble } | undefined
  /** by plural: what is shown of a kind stands still at this revision */
  readonly lag = new Map<string, number>()
  /** plurals that may be neither listed nor watched */
  readonly forbidden = new Set<string>()
  /** answers to requests that were carried out are on their way, or wait */
  answers: "pass" | "wait" = "pass"
  /** by plural: so many lines of a watch are lost */
  readonly lose = new Map<string, number>()
  /** an admission webhook takes the owner from every child that is written */
  strips = false
  /** items a page at most, as if there were thousands */
  pageSize = Number.POSITIVE_INFINITY

  /** No fault is left. */
  calm(): void {
    this.kill = undefined
    this.kills = []
    this.fails = []
    this.storm = undefined
    this.always = undefined
    this.strips = false
    this.lag.clear()
    this.forbidden.clear()
    this.lose.clear()
  }

  /** The trouble that a request meets, if any. */
  trouble(isWrite: boolean, name: string): Trouble | undefined {
    if (this.storm !== undefined && this.storm.left > 0) {
      this.storm.left--
      return this.storm.trouble
    }
    if (!isWrite) return undefined
    if (this.always?.name === name) return this.always.trouble
    const due = this.fails.find((fail) => --fail.left <= 0)
    if (due === undefined) return undefined
    this.fails.splice(this.fails.indexOf(due), 1)
    return due.trouble
  }

  /** Whether a controller dies at this write. */
  dies(): Moment | undefined {
    if (this.kill === undefined || --this.kill.left > 0) return undefined
    const { moment } = this.kill
    this.kill = this.kills.shift()
    return moment
  }
}
