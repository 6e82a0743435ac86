/**
 * The status and the events of units and groups.
 *
 * Guarantees: none is written where nothing changes; as `Pace` has it otherwise. A status is written under the revision that was read. One
 * that can't be written is tried again and delays no other.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import { MANAGER } from "../core/child.ts"
import { earliest } from "../core/instant.ts"
import {
  bySite,
  type NodeGroupStatus,
  type NodeUnitStatus,
  type Site,
  SITE_API,
  siteKey,
  type SiteRefusal
} from "../core/site.ts"
import { dated, outlineOf, siteStatusDigest } from "../core/site-status.ts"
import type { Sites } from "../core/sites.ts"
import { Api } from "./api.ts"
import { each } from "./each.ts"
import type { Gate } from "./gate.ts"
import { SITES } from "./kinds.ts"
import type { ObservedSites } from "./observed-sites.ts"
import { EVERY_MS, Pace } from "./pace.ts"
import { report, type Told } from "./report.ts"
import { type SeenSite, seenSite } from "./seen.ts"
import { steady } from "./steady.ts"
import { identity, isMalformed } from "./wire.ts"

type Seen = { readonly [K in Site["kind"]]: readonly SeenSite[] }
type Status = NodeUnitStatus | NodeGroupStatus

interface Memory {
  readonly pace: Pace
  readonly told: Told
  /** that of units and groups when the status was right the last time */
  edition: number | undefined
}

/** One unit or group, and what is to be told of it. */
interface Telling {
  readonly seen: SeenSite
  readonly status: Status
  /** of that status */
  readonly digest: string
  readonly memory: Memory
  readonly troubles: readonly SiteRefusal[]
  readonly edition: number
}

/** Between two writes of a status while nothing but the readiness of nodes changes. */
const CALM_MS = 10_000
/** So many are told at a time; the gate bounds the writes. */
const AT_ONCE = 16

const troubled = Metric.gauge("servicegroup_site_troubles", {
  description: "What is refused of units and groups"
})

export class SiteTeller {
  /** by uid */
  #memories = new Map<string, Memory>()
  readonly #observed: ObservedSites
  readonly #writing: Gate
  readonly #api: Api["Type"]

  constructor(observed: ObservedSites, writing: Gate, api: Api["Type"]) {
    this.#observed = observed
    this.#writing = writing
    this.#api = api
  }

  /** When a status wants to be looked at next, if ever. */
  get next(): number | undefined {
    return earliest([...this.#memories.values()].map(({ pace }) => pace.next))
  }

  /** Tells all that changed. `seen`: those that `sites` was made from, in the same order; `edition`: theirs. */
  tell(seen: Seen, sites: Sites, edition: number): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      yield* Metric.set(troubled, sites.refused.length)
      const troubles = bySite(sites.refused)
      const all = [...paired(seen.NodeUnit, sites.units), ...paired(seen.NodeGroup, sites.groups)]
      this.#memories = new Map(all.map(([{ uid }]) => [uid, this.#memories.get(uid) ?? fresh()]))
      const now = yield* steady
      const due = all.flatMap(([seen, status]): readonly Telling[] => {
        const memory = this.#memories.get(seen.uid) ?? fresh()
        const telling = {
          seen,
          status,
          digest: siteStatusDigest(status),
          memory,
          troubles: troubles.get(siteKey(seen.site)) ?? NONE,
          edition
        }
        return isDue(telling, now) ? [telling] : []
      })
      yield* each(due, Math.min(AT_ONCE, due.length), (telling) => this.#one(telling))
    })
  }

  #one({ seen, status, digest, memory, troubles, edition }: Telling): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const { pace, told } = memory
      yield* Effect.provideService(report(aboutOf(seen.site), told, troubles), Api, this.#api)
      if (!pace.wants(digest, seen.statusDigest, yield* steady)) return
      if (yield* this.#write(seen, status, digest, pace)) memory.edition = edition
    })
  }

  #write(
    { site, uid, revision, conditions }: SeenSite,
    status: Status,
    digest: string,
    pace: Pace
  ): Effect.Effect<boolean> {
    return Effect.gen(this, function* () {
      const { kind, name } = site
      const shown = {
        ...status,
        conditions: dated(status.conditions ?? [], conditions, yield* Clock.currentTimeMillis)
      }
      const object = {
        apiVersion: SITE_API,
        kind,
        metadata: { name, uid, resourceVersion: revision },
        status: shown
      }
      const answer = yield* Effect.either(
        this.#writing(
          this.#api.apply(SITES[kind], object, { manager: MANAGER, force: true, subresource: "status" })
        )
      )
      const now = yield* steady
      if (answer._tag === "Left") {
        pace.failed(answer.left, now, yield* Random.next)
        const about = { [kind]: name, error: answer.left.message }
        yield* Effect.logWarning("the status was not written").pipe(Effect.annotateLogs(about))
        return false
      }
      pace.wrote(digest, now)
      const who = identity(answer.right)
      if (!isMalformed(who))
        this.#observed.takeIn(kind, { _tag: "Written", item: seenSite(kind)(answer.right, who) })
      return true
    })
  }
}

/** Whether there is anything to tell now; makes it due later where it is too early. */
const isDue = ({ seen, status, digest, memory, troubles, edition }: Telling, now: number): boolean => {
  if (digest !== seen.statusDigest) {
    const calm = memory.edition === edition && outlineOf(status) === seen.outline
    return memory.pace.isDue(now, calm ? CALM_MS : EVERY_MS)
  }
  memory.pace.rest()
  memory.edition = edition
  return troubles.length > 0 || memory.told.size > 0
}

const NONE: readonly SiteRefusal[] = []

const fresh = (): Memory => ({ pace: new Pace(), told: new Map(), edition: undefined })

const paired = <A>(seen: readonly SeenSite[], shown: readonly A[]): readonly (readonly [SeenSite, A])[] =>
  seen.flatMap((each, i) => {
    const status = shown[i]
    return status === undefined ? [] : [[each, status] as const]
  })

const aboutOf = ({ kind, name, uid }: Site) => ({ apiVersion: SITE_API, kind, metadata: { name, uid } })
