/**
 * What people who look after a node are told of its view: log lines, metrics, readiness.
 *
 * *Guarantees*: each is said once, when it begins and when it is over. *Does not*: send events: five thousand nodes would each send one.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Board } from "../core/board.ts"
import type { Feeds } from "./feeds.ts"
import type { ReadinessService } from "./health.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const missing = gauge("servicegroup_own_node_missing", "1 while this node was never seen: nothing is shown")
const deleted = gauge(
  "servicegroup_own_node_deleted",
  "1 while this node's Node is deleted: its last labels stand"
)
const closed = gauge(
  "servicegroup_closed_services",
  "Services whose annotation topologyKeys can't be read: of theirs, only this node's own endpoints are shown"
)
const objects = gauge("servicegroup_shown_objects", "objects that clients are shown, by kind")
const kept = gauge("servicegroup_journal_bytes", "bytes that are kept for watches that come back, by kind")

const age = gauge(
  "servicegroup_feed_age_seconds",
  "seconds since upstream said something of a kind, bookmarks included; -1 while only what was kept of an earlier process is known"
)

const NAME = "this node"
const EVERY_MS = 1000

/** Looks once a second, for ever. */
export const lookout = (
  board: Board,
  feeds: Pick<Feeds, "begun" | "heard">,
  readiness: ReadinessService
): Effect.Effect<never> => {
  const own = board.view.own
  let seen = false
  let gone = false
  const shut = new Map<string, string>()

  const node = Effect.gen(function* () {
    const { ownSeen, ownDeleted } = board.view
    yield* Metric.set(missing, ownSeen ? 0 : 1)
    yield* Metric.set(deleted, ownDeleted ? 1 : 0)
    if (ownSeen && !seen) yield* readiness.ready(NAME)
    if (!ownSeen && board.source("OwnNode").listed) yield* unknown(readiness, own)
    if (ownDeleted && !gone)
      yield* Effect.logWarning(
        `Node ${own} was deleted: what it is shown goes on by the labels that it had last`
      )
    if (!ownDeleted && gone) yield* Effect.logInfo(`Node ${own} is there again`)
    seen = ownSeen
    gone = ownDeleted
  })
  const services = Effect.gen(function* () {
    const now = new Map([...board.view.closed()].map(({ key, message }) => [key, message]))
    yield* Metric.set(closed, now.size)
    for (const [key, message] of now)
      if (shut.get(key) !== message)
        yield* Effect.logWarning(`Service ${key} is closed: ${message}`).pipe(
          Effect.annotateLogs("service", key)
        )
    for (const key of shut.keys())
      if (!now.has(key)) yield* Effect.logInfo(`Service ${key} is no longer closed`)
    shut.clear()
    for (const [key, message] of now) shut.set(key, message)
  })
  const journals = Effect.sync(() => {
    for (const [kind, journal] of board.journals()) {
      Effect.runSync(Metric.set(Metric.tagged(objects, "kind", kind), journal.size))
      Effect.runSync(Metric.set(Metric.tagged(kept, "kind", kind), journal.kept.bytes))
    }
  })
  const ages = Effect.sync(() => {
    const now = performance.now()
    for (const feed of feeds.begun()) {
      const heard = feeds.heard(feed)
      const seconds = heard === undefined ? -1 : Math.round((now - heard) / 100) / 10
      Effect.runSync(Metric.set(Metric.tagged(age, "feed", feed), seconds))
    }
  })
  return readiness
    .waiting(NAME, `Node ${own} was not seen yet`)
    .pipe(
      Effect.zipRight(
        Effect.forever(
          Effect.zipRight(
            Effect.all([node, services, journals, ages], { discard: true }),
            Effect.sleep(EVERY_MS)
          )
        )
      )
    )
}

const unknown = (readiness: ReadinessService, own: string): Effect.Effect<void> =>
  readiness.waiting(
    NAME,
    `there is no Node named ${own}: --node-name (SERVICEGROUP_NODE_NAME) has to be the name of this machine's Node`
  )
