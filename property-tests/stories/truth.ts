/**
 * What every write of a controller is held against, at the moment at which it arrives: what was so, and since when.
 *
 * Nothing of the product is asked. A write that was right by an older view may be wrong now; how old a view may be
 * is known, because the story knows when it hid something.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import * as Model from "../../src/embedded/model.ts"
import type { Server, Wrote } from "./server.ts"
import { GRIDS_OF, KEYS, SLOTS } from "./words.ts"
import { CHILDREN, ownerOf, POISON, unitOf, type World } from "./world.ts"

/** How one unit of one grid has fared; times in milliseconds since the story began. */
interface Fate {
  wanted: boolean
  since: number
  /** when it stopped to be wanted the last time */
  ended: number | undefined
}

/** So long after all was in sight again may a controller act on what it saw before. */
const SIGHT_MS = 45_000

export class Truth {
  readonly violations: string[] = []
  /** how often each child was created and deleted by controllers, by namespace/name of kind */
  readonly created = new Map<string, number>()
  readonly deleted = new Map<string, number>()
  /** the last time at which a view was older than it had to be */
  blind = Number.NEGATIVE_INFINITY
  readonly #fates = new Map<string, Fate>()
  readonly #graces = new Map<string, number>()
  /** by uid of a grid: its key, and since when it has it */
  readonly #keys = new Map<string, { readonly key: string; readonly since: number }>()
  /** uids of all grids that there were, and of those that there are */
  readonly #uids = new Set<string>()
  readonly #alive = new Set<string>()
  readonly #values = new Set<string>()
  readonly #listed = new Map<number, Set<string>>()
  /** by controller and plural: until when it may not know what a lost event, or a first list of today, would have told it */
  readonly #misled = new Map<string, number>()
  readonly #now: () => number
  readonly #grace: number

  constructor(now: () => number, graceMs: number) {
    this.#now = now
    this.#grace = graceMs
  }

  /** Looks at the world after it changed: nodes and grids alone matter. */
  look(world: World): void {
    const now = this.#now()
    const wanted = new Set<string>()
    this.#alive.clear()
    for (const key of [...KEYS, ...GROUP_KEYS])
      for (const value of unitsOf(world.server, key)) this.#values.add(value)
    for (const [index, words] of world.grids) {
      const slot = SLOTS[index]
      const uid = slot && world.stored(slot)?.metadata.uid
      if (slot === undefined || typeof uid !== "string") continue
      this.#uids.add(uid)
      this.#alive.add(uid)
      this.#graces.set(
        uid,
        Math.min(this.#graces.get(uid) ?? this.#grace, GRACES[words.grace ?? ""] ?? this.#grace)
      )
      const before = this.#keys.get(uid)
      if (before?.key !== words.key)
        this.#keys.set(uid, { key: words.key, since: before === undefined ? Number.NEGATIVE_INFINITY : now })
      // A grid that is refused as a whole keeps what it has.
      const refused = !/^[a-z./]+$/.test(words.key)
      for (const id of this.#fates.keys()) if (refused && id.startsWith(`${uid}|`)) wanted.add(id)
      if (slot.kind === "ServiceGrid") wanted.add(`${uid}|`)
      else if (!refused) for (const unit of unitsOf(world.server, words.key)) wanted.add(`${uid}|${unit}`)
    }
    for (const id of wanted) {
      const fate = this.#fates.get(id)
      if (fate === undefined) this.#fates.set(id, { wanted: true, since: now, ended: undefined })
      else if (!fate.wanted) Object.assign(fate, { wanted: true, since: now })
    }
    for (const [id, fate] of this.#fates)
      if (fate.wanted && !wanted.has(id)) {
        // A spell so short that no controller need have seen it leaves the grace as it was.
        const brief = fate.ended !== undefined && now - fate.since < SIGHT_MS
        Object.assign(fate, { wanted: false, ended: brief ? fate.ended : now })
      }
  }

  listed(session: number, plural: string): void {
    const all = this.#listed.get(session) ?? new Set()
    this.#listed.set(session, all.add(plural))
    if (this.#misled.has(`${session} ${plural}`))
      this.#misled.set(`${session} ${plural}`, this.#now() + SIGHT_MS)
  }

  /** A list was older than it could be: who has seen none before can't know. */
  stale(session: number, plural: string): void {
    this.blind = this.#now()
    if (this.#listed.get(session)?.has(plural) !== true)
      this.#misled.set(`${session} ${plural}`, this.#now() + SIGHT_MS)
  }

  /** An event did not reach a controller: only the next list tells what it said. */
  lost(session: number, plural: string): void {
    this.blind = this.#now()
    this.#misled.set(`${session} ${plural}`, Number.POSITIVE_INFINITY)
  }

  /** Judges a write; what is wrong with it is kept among the violations. */
  wrote(write: Wrote, world: World): void {
    if (write.resource === "/events" || write.name.startsWith(POISON)) return
    this.#checkSynced(write)
    if (write.code >= 300) return
    if (CHILDREN.includes(write.resource)) {
      this.#checkForeign(write, world)
      if (write.verb === "remove") this.#checkDelete(write)
      else this.#checkApply(write)
    } else if (write.subresource === "status") this.#checkStatus(write)
  }

  #wrong(id: string, write: Wrote, why: string): void {
    this.violations.push(
      `${id}: ${write.verb} ${write.resource} ${write.namespace}/${write.name} at ${write.at}: ${why}`
    )
  }

  #checkSynced(write: Wrote): void {
    const plural = write.resource.slice(write.resource.indexOf("/") + 1)
    const grids = GRIDS_OF[plural] ?? plural
    const listed = this.#listed.get(write.session) ?? new Set()
    const needed = SITES.includes(plural)
      ? SITES
      : [...(grids === "servicegrids" ? [] : ["nodes"]), grids, CHILDREN_OF[grids] ?? ""]
    for (const each of needed)
      if (!listed.has(each)) this.#wrong("P5", write, `${each} were not listed completely before`)
  }

  #checkForeign(write: Wrote, world: World): void {
    if (write.before === undefined) return
    if (world.foreign.has(write.before.metadata.uid ?? ""))
      this.#wrong("P3", write, "it belongs to someone else")
  }

  #checkApply(write: Wrote): void {
    const { before, after, body } = write
    const claims = ownerOf(body as KubeObject)
    if (before === undefined) {
      count(this.created, write)
      if (claims === undefined) this.#wrong("P3", write, "made without an owner")
      // By an older view of the grid and a newer one of the nodes, any unit that was ever seen may be wanted.
      const unit = unitOf(body as KubeObject)
      if (unit !== "" && !this.#values.has(unit)) this.#wrong("P2", write, "there never was such a unit")
      return
    }
    const owner = ownerOf(before)
    if (owner !== undefined && !this.#uids.has(owner)) this.#wrong("P3", write, "its owner is no grid")
    // A grid that is gone already may have been served by an older view; then its successor has the child.
    if (claims !== undefined && owner !== undefined && owner !== claims && this.#alive.has(owner))
      this.#wrong("P3", write, `it belongs to ${owner}, not to ${claims}`)
    for (const part of ["labels", "annotations"] as const)
      if (before.metadata[part]?.["mine"] !== undefined && after?.metadata[part]?.["mine"] === undefined)
        this.#wrong("P3", write, `took away someone else's ${part}`)
  }

  #checkDelete(write: Wrote): void {
    const { before, at } = write
    if (before === undefined) return
    count(this.deleted, write)
    const owner = ownerOf(before)
    const fate = this.#fates.get(`${owner ?? ""}|${unitOf(before)}`)
    if (owner === undefined || !this.#uids.has(owner)) return this.#wrong("P3", write, "it is not a grid's")
    if (fate === undefined || this.#isMisled(write)) return
    if (fate.ended === undefined) {
      // By an older view of the grid and a newer one of the nodes, another key's units were wanted.
      const since = this.#keys.get(owner)?.since ?? Number.NEGATIVE_INFINITY
      return at - since < SIGHT_MS ? undefined : this.#wrong("P2", write, "it was wanted all the time")
    }
    const grace = this.#graces.get(owner) ?? 0
    if (at - fate.ended < grace) this.#wrong("P2", write, `its grace began ${at - fate.ended} ms ago`)
    const known = at - Math.max(fate.since, this.blind)
    if (fate.wanted && known > SIGHT_MS) this.#wrong("P2", write, `it has been wanted again for ${known} ms`)
  }

  /** Whether the writer may not know which units there are: what it heard of nodes or grids was incomplete or old. */
  #isMisled({ session, at, resource }: Wrote): boolean {
    const grids = GRIDS_OF[resource.slice(resource.indexOf("/") + 1)] ?? ""
    return ["nodes", grids].some((plural) => at < (this.#misled.get(`${session} ${plural}`) ?? 0))
  }

  #checkStatus(write: Wrote): void {
    const { uid } = (write.body as KubeObject).metadata
    if (uid !== write.before?.metadata.uid) this.#wrong("P3", write, "the status is another grid's")
  }
}

export const unitsOf = (server: Server, key: string): readonly string[] => {
  const units = new Set<string>()
  for (const { metadata } of Model.list(server.cluster, "/nodes")) {
    const value: unknown = (metadata.labels as Record<string, unknown> | null | undefined)?.[key]
    if (typeof value === "string" && value !== "") units.add(value)
  }
  return [...units].sort()
}

/** Groups, whose names are keys. */
const GROUP_KEYS = ["g", "h"]

const GRACES: Readonly<Record<string, number>> = { "0s": 0, "5s": 5000, "1m": 60_000 }

/** What nodes, units and groups are written for is read from all of them. */
const SITES = ["nodes", "nodeunits", "nodegroups"]

const CHILDREN_OF: Readonly<Record<string, string>> = {
  deploymentgrids: "deployments",
  statefulsetgrids: "statefulsets",
  servicegrids: "services"
}

const count = (counts: Map<string, number>, { resource, namespace, name }: Wrote): void => {
  const id = `${resource} ${namespace}/${name}`
  counts.set(id, (counts.get(id) ?? 0) + 1)
}
