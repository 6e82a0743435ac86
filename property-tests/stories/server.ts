/**
 * The API server of a story: the pure model, with everything between it and the controllers in the hands of the story.
 *
 * A request leaves, arrives, and is answered in three steps; a watch has its lines waiting. Which of all that is
 * possible happens next is asked from outside (`moves`), so any order can come. Everything that was written is kept.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Failure } from "../../src/core/retry.ts"
import type { Change, Cluster, KubeObject, Request, Response, Watch } from "../../src/embedded/cluster.ts"
import * as Model from "../../src/embedded/model.ts"
import type { ApiError, Kind, WatchLine } from "../../src/shell/api.ts"
import { isMalformed, page, refusal } from "../../src/shell/wire.ts"
import { type Asked, fail, isWrite, type Verb } from "./client.ts"
import { Faults, forgotten, unreachable } from "./faults.ts"

/** A write that arrived, and what came of it. */
export interface Wrote {
  readonly session: number
  /** milliseconds since the story began */
  readonly at: number
  readonly verb: Verb
  /** group and plural, `apps/deployments` */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string | undefined
  readonly body: unknown
  readonly code: number
  /** the object before and after it, where there was one */
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

type Answer =
  { readonly _tag: "Value"; readonly value: unknown } | { readonly _tag: "No"; readonly failure: Failure }

interface Flight {
  readonly asked: Asked
  readonly answered: (answer: Answer) => void
  /** undefined: still on its way to the server */
  answer: Answer | undefined
}

interface Line {
  readonly revision: number
  readonly line: WatchLine
}

class Open {
  readonly session: number
  readonly asked: Asked
  readonly watch: Watch
  readonly lines: Line[] = []
  /** what was told, for repetitions */
  readonly told: WatchLine[] = []
  waiting: ((chunk: Effect.Effect<Chunk.Chunk<WatchLine>, Option.Option<ApiError>>) => void) | undefined
  over: ApiError | "ended" | undefined

  constructor(asked: Asked, watch: Watch) {
    this.session = asked.session
    this.asked = asked
    this.watch = watch
  }
}

/** Something that may happen next. */
export type Move = () => void

export interface Told {
  /** after each write of a controller that arrived */
  readonly wrote: (wrote: Wrote) => void
  /** after each change of any object */
  readonly changed: (change: Change) => void
  /** a controller dies */
  readonly killed: (session: number) => void
  /** a complete list reached a controller */
  readonly listed: (session: number, plural: string) => void
  /** a view is older than it could be, or isn't there */
  readonly blind: () => void
  /** a controller is given a list that is older than it could be */
  readonly stale: (session: number, plural: string) => void
  /** an event does not reach a controller */
  readonly lost: (session: number, plural: string) => void
}

const resourceOf = ({ group, plural }: Kind): string => `${group}/${plural}`

export class Server {
  cluster: Cluster
  readonly faults = new Faults()
  /** requests that left, by verb */
  readonly sent = new Map<Verb, number>()
  readonly wrote: Wrote[] = []
  /** told of each write that fails by a fault */
  onFail: () => void = () => {}
  /** writes under way at once, at most */
  crowd = 0
  #flights: Flight[] = []
  #watches: Open[] = []
  readonly #told: Told
  readonly #now: () => number
  readonly #epoch: number

  constructor(
    cluster: Cluster,
    o: { readonly now: () => number; readonly epoch: number; readonly told: Told }
  ) {
    this.cluster = cluster
    this.#told = o.told
    this.#now = o.now
    this.#epoch = o.epoch
  }

  // ---- the world's own hand

  /** A request of someone else, carried out at once. */
  ask(request: Omit<Request, "at">): Response {
    const { cluster, response, changes } = Model.step(this.cluster, {
      ...request,
      at: this.#epoch + this.#now()
    })
    this.commit(cluster, changes)
    return response
  }

  /** What somebody did to the cluster, told to whoever watches. */
  commit(cluster: Cluster, changes: readonly Change[]): void {
    this.cluster = cluster
    for (const change of changes) {
      for (const open of this.#watches) this.#tell(open, change)
      this.#told.changed(change)
    }
  }

  // ---- what may happen next

  /** Everything that could happen next between the server and its clients. */
  moves(): Move[] {
    const moves: Move[] = []
    for (const flight of this.#flights) {
      if (flight.answer === undefined) moves.push(() => this.#arrive(flight))
      else if (this.faults.answers === "pass") moves.push(() => this.#land(flight))
    }
    for (const open of this.#watches)
      if (open.waiting !== undefined && (open.over !== undefined || this.#ready(open) > 0))
        moves.push(() => this.#speak(open))
    return moves
  }

  /** All that a controller had under way is gone with it. */
  drop(session: number): void {
    this.#flights = this.#flights.filter(({ asked }) => asked.session !== session)
    this.#watches = this.#watches.filter((open) => open.session !== session)
  }

  /** Every watch of a kind (of all kinds, where none is given) ends, as watches do. */
  cut(plural?: string): void {
    for (const open of this.#watches)
      if (plural === undefined || open.asked.kind.plural === plural) open.over ??= "ended"
  }

  /** The server is gone and back: what was under way may or may not have been done, and nobody is told. */
  restart(coin: () => number): void {
    for (const flight of this.#flights) {
      if (flight.answer === undefined && coin() < 0.5) this.#carryOut(flight.asked)
      flight.answer = { _tag: "No", failure: unreachable }
    }
    for (const open of this.#watches) open.over ??= fail(open.asked, unreachable)
  }

  /** History is forgotten: who resumes a watch or a list from before hears 410; open watches of the kind at once. */
  expire(plural?: string): void {
    this.cluster = Model.compact(this.cluster, this.cluster.revision)
    this.faults.lag.clear()
    const failure = refusal(410, forgotten, undefined)
    for (const open of this.#watches)
      if (plural === undefined || open.asked.kind.plural === plural) open.over ??= fail(open.asked, failure)
  }

  /** A line that was told before is told again. */
  repeat(plural: string, back: number): void {
    for (const open of this.#watches) {
      const line = open.told[open.told.length - 1 - back]
      if (open.asked.kind.plural === plural && line !== undefined)
        open.lines.push({ revision: this.cluster.revision, line })
    }
  }

  /** A line that the server never meant. */
  slip(plural: string, line: WatchLine): void {
    for (const open of this.#watches)
      if (open.asked.kind.plural === plural) open.lines.push({ revision: this.cluster.revision, line })
  }

  bookmarks(): void {
    for (const open of this.#watches)
      if (!this.faults.lag.has(open.asked.kind.plural)) {
        const { revision } = this.cluster
        open.lines.push({ revision, line: open.watch.bookmark(revision) as WatchLine })
      }
  }

  // ---- requests

  #arrive(flight: Flight): void {
    const { asked } = flight
    const write = isWrite(asked.verb)
    const moment = write ? this.faults.dies() : undefined
    if (moment === "before") return this.#told.killed(asked.session)
    const trouble = this.faults.trouble(write, asked.name)
    if (trouble !== undefined && write) this.onFail()
    else if (trouble !== undefined) this.#told.blind()
    if (trouble?._tag === "Refused") {
      flight.answer = { _tag: "No", failure: refusal(trouble.code, trouble.body, trouble.retryAfter) }
      return
    }
    const answer: Answer =
      trouble?._tag === "Reset" ? { _tag: "No", failure: unreachable } : this.#carryOut(asked)
    flight.answer = trouble?._tag === "Unanswered" ? { _tag: "No", failure: unreachable } : answer
    if (moment === "between") return this.#told.killed(asked.session)
    if (moment === "after") {
      this.#land(flight)
      this.#told.killed(asked.session)
    }
  }

  #land(flight: Flight): void {
    this.#flights.splice(this.#flights.indexOf(flight), 1)
    const { answer, asked } = flight
    if (answer === undefined) return
    if (asked.verb === "list" && answer._tag === "Value" && isLastPage(answer.value))
      this.#told.listed(asked.session, viewOf(asked))
    flight.answered(answer)
  }

  #carryOut(asked: Asked): Answer {
    if (asked.verb === "list") return this.#list(asked)
    if (asked.verb === "watch") return this.#open(asked)
    const resource = resourceOf(asked.kind)
    const read = (): KubeObject | undefined =>
      Model.get(this.cluster, resource, asked.kind.namespaced ? asked.namespace : undefined, asked.name)
    const before = read()
    const response = this.#stripped(asked, this.ask(asked.request))
    if (isWrite(asked.verb)) {
      const { session, verb, namespace, name, subresource, request } = asked
      const after = read()
      const wrote = {
        session,
        verb,
        resource,
        namespace,
        name,
        subresource,
        before,
        after,
        code: response.code
      }
      const told = { ...wrote, body: request.body, at: this.#now() }
      this.wrote.push(told)
      this.#told.wrote(told)
    }
    return answerOf(response)
  }

  /** What a webhook makes of a write, where there is one. */
  #stripped({ verb, kind: { plural }, request: { path } }: Asked, response: Response): Response {
    const child = ["deployments", "statefulsets", "services"].includes(plural)
    if (!this.faults.strips || response.code >= 300 || !child || verb === "get" || verb === "remove")
      return response
    return this.ask({
      method: "PATCH",
      path,
      query: { fieldManager: "webhook" },
      contentType: "application/merge-patch+json",
      body: { metadata: { ownerReferences: null } }
    })
  }

  #list(asked: Asked): Answer {
    const { plural } = asked.kind
    if (this.faults.forbidden.has(plural)) return this.#forbid(asked)
    const limit = Math.min(
      Number(asked.request.query["limit"]) || Number.POSITIVE_INFINITY,
      this.faults.pageSize
    )
    const query = {
      ...asked.request.query,
      ...(Number.isFinite(limit) && { limit: String(limit) }),
      ...(asked.request.query["continue"] === undefined && this.#old(asked))
    }
    const response = Model.step(this.cluster, { ...asked.request, query, at: this.#epoch }).response
    return answerOf(response)
  }

  #old(asked: Asked): Readonly<Record<string, string>> {
    const at = this.faults.lag.get(asked.kind.plural)
    if (at === undefined || at <= this.cluster.compacted) return {}
    this.#told.stale(asked.session, viewOf(asked))
    return { resourceVersion: String(at), resourceVersionMatch: "Exact" }
  }

  #forbid({ kind }: Asked): Answer {
    this.#told.blind()
    const message = `${kind.plural} is forbidden: User "x" cannot list resource "${kind.plural}" at the cluster scope`
    const body = { kind: "Status", status: "Failure", reason: "Forbidden", message, code: 403 }
    return { _tag: "No", failure: refusal(403, body, undefined) }
  }

  // ---- watches

  #open(asked: Asked): Answer {
    if (this.faults.forbidden.has(asked.kind.plural)) return this.#forbid(asked)
    const begun = Model.watch(this.cluster, { ...asked.request, at: this.#epoch })
    if (begun._tag === "Refused") return answerOf(begun.response)
    const open = new Open(asked, begun.watch)
    for (const line of begun.watch.initial) this.#push(open, this.cluster.revision, line)
    this.#watches.push(open)
    return { _tag: "Value", value: open }
  }

  #tell(open: Open, change: Change): void {
    const line = open.watch.accepts(change)
    if (line !== undefined) this.#push(open, change.revision, line)
  }

  #push(open: Open, revision: number, line: Watch["initial"][number]): void {
    const { plural } = open.asked.kind
    const lost = this.faults.lose.get(plural) ?? 0
    if (line.type === "ERROR") open.over ??= fail(open.asked, refusal(410, line.object, undefined))
    else if (lost > 0) {
      this.faults.lose.set(plural, lost - 1)
      this.#told.lost(open.session, viewOf(open.asked))
    } else open.lines.push({ revision, line: { type: line.type, object: line.object } })
  }

  /** How many lines may be told: what is newer than a lagging server has seen waits. */
  #ready(open: Open): number {
    const at = this.faults.lag.get(open.asked.kind.plural)
    if (at === undefined) return open.lines.length
    const first = open.lines.findIndex(({ revision }) => revision > at)
    if (first !== -1) this.#told.blind()
    return first === -1 ? open.lines.length : first
  }

  #speak(open: Open): void {
    const { waiting } = open
    open.waiting = undefined
    const lines = open.lines.splice(0, this.#ready(open)).map(({ line }) => line)
    if (lines.length > 0) {
      open.told.push(...lines)
      waiting?.(Effect.succeed(Chunk.unsafeFromArray(lines)))
    } else if (open.over === "ended") waiting?.(Effect.fail(Option.none()))
    else if (open.over !== undefined) waiting?.(Effect.fail(Option.some(open.over)))
  }

  // ---- the service

  send(asked: Asked): Effect.Effect<unknown, ApiError> {
    return Effect.async<unknown, ApiError>((resume) => {
      this.sent.set(asked.verb, (this.sent.get(asked.verb) ?? 0) + 1)
      const flight: Flight = {
        asked,
        answer: undefined,
        answered: (answer) =>
          resume(
            answer._tag === "Value" ? Effect.succeed(answer.value) : Effect.fail(fail(asked, answer.failure))
          )
      }
      this.#flights.push(flight)
      const writes = this.#flights.filter((each) => isWrite(each.asked.verb)).length
      if (writes > this.crowd) this.crowd = writes
      return Effect.sync(() => {
        this.#flights = this.#flights.filter((each) => each !== flight)
      })
    })
  }

  lines(asked: Asked): Stream.Stream<WatchLine, ApiError> {
    const close = (open: Open) =>
      Effect.sync(() => {
        this.#watches = this.#watches.filter((each) => each !== open)
      })
    const opened = Effect.tap(this.send(asked) as Effect.Effect<Open, ApiError>, (open) =>
      Effect.addFinalizer(() => close(open))
    )
    return Stream.unwrapScoped(
      Effect.map(opened, (open) =>
        Stream.repeatEffectChunkOption(
          Effect.async<Chunk.Chunk<WatchLine>, Option.Option<ApiError>>((resume) => {
            open.waiting = resume
            return Effect.sync(() => {
              open.waiting = undefined
            })
          })
        )
      )
    )
  }
}

/** What of a kind is looked at: all of it, or what bears no label. */
const viewOf = ({ kind: { plural }, request: { query } }: Asked): string =>
  query["labelSelector"]?.startsWith("!") === true ? `other ${plural}` : plural

const answerOf = ({ code, body, headers }: Response): Answer => {
  if (code < 300) return { _tag: "Value", value: body }
  const after = Number(headers?.["retry-after"])
  return { _tag: "No", failure: refusal(code, body, Number.isFinite(after) ? after : undefined) }
}

const isLastPage = (body: unknown): boolean => {
  const read = page(body)
  return !isMalformed(read) && read.continue === undefined
}
