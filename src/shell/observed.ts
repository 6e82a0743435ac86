/**
 * What the controller has seen: one store for each kind, and which grids a change makes due.
 *
 * Guarantees: a grid is due at once when its object, its units or one of its children changed, and soon when only a
 * status did; a node that joins a unit which has others makes none due.
 * Assumes that it is told by one caller at a time.
 */
import * as Census from "../core/census.ts"
import type { Child } from "../core/child.ts"
import { childKind } from "../core/desired.ts"
import type { ChildKind } from "../core/schema.ts"
import { type Grid, gridKey, mayWant } from "../core/grid.ts"
import { stableJson } from "../core/json.ts"
import type { Rival } from "../core/rivals.ts"
import { standing } from "../core/status.ts"
import * as Store from "../core/store.ts"
import type { SeenGrid, SeenNode } from "./seen.ts"

/** Which grids to look at: at once, or when a burst of statuses is over. Names as `gridRef` gives them. */
export interface Due {
  readonly now: ReadonlySet<string>
  readonly soon: ReadonlySet<string>
}

/** `kind/namespace/name` */
export const gridRef = (kind: Grid["kind"], key: string): string => `${kind}/${key}`

const gridKinds = ["DeploymentGrid", "StatefulSetGrid", "ServiceGrid"] as const
const gridKindOf = {
  Deployment: "DeploymentGrid",
  StatefulSet: "StatefulSetGrid",
  Service: "ServiceGrid"
} as const

const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/") + 1)

/** Whether a grid changed otherwise than in its status. */
export const edited = (before: SeenGrid, after: SeenGrid): boolean => {
  const own = ({ grid: { metadata } }: SeenGrid): string =>
    stableJson([metadata.generation, metadata.labels, metadata.annotations, metadata.deletionTimestamp])
  return before.uid !== after.uid || own(before) !== own(after)
}

const reshaped = (before: Child, after: Child): boolean =>
  before.uid !== after.uid ||
  before.owned !== after.owned ||
  before.deleting !== after.deleting ||
  before.owner?.uid !== after.owner?.uid ||
  before.aloneOnReplicas !== after.aloneOnReplicas ||
  before.legacy !== after.legacy ||
  before.gridSelector !== after.gridSelector

export class Observed {
  private nodes: Store.Store<SeenNode> = Store.empty()
  private census = Census.empty
  private readonly grids = new Map<Grid["kind"], Store.Store<SeenGrid>>(
    gridKinds.map((kind) => [kind, Store.empty()])
  )
  private readonly children = new Map<ChildKind, Store.Store<Child>>()
  /** StatefulSets that are no grid's */
  private others: Store.Store<Rival> = Store.empty()
  /** uid of a controller owner -> keys of what it owns */
  private readonly owned = new Map<string, Set<string>>()

  private gridStore(kind: Grid["kind"]): Store.Store<SeenGrid> {
    return this.grids.get(kind) ?? Store.empty()
  }
  private childStore(kind: ChildKind): Store.Store<Child> {
    return this.children.get(kind) ?? Store.empty()
  }

  /** Whether every store that a plan for this kind of grid reads has finished its first list. */
  synced(kind: Grid["kind"]): boolean {
    const children =
      kind === "DeploymentGrid" ? "Deployment" : kind === "StatefulSetGrid" ? "StatefulSet" : "Service"
    return (
      this.gridStore(kind).synced &&
      this.childStore(children).synced &&
      (kind === "ServiceGrid" || this.nodes.synced)
    )
  }

  knownNode(key: string): SeenNode | undefined {
    return Store.get(this.nodes, key)
  }
  grid(kind: Grid["kind"], key: string): SeenGrid | undefined {
    return Store.get(this.gridStore(kind), key)
  }
  child(kind: ChildKind, key: string): Child | undefined {
    return Store.get(this.childStore(kind), key)
  }

  other(key: string): Rival | undefined {
    return Store.get(this.others, key)
  }

  /** The StatefulSet that is called as a grid is, if any. */
  rival({ kind, metadata }: Grid): Rival | "Unknown" | undefined {
    if (kind !== "StatefulSetGrid") return undefined
    const key = `${metadata.namespace ?? ""}/${metadata.name}`
    const known = this.child("StatefulSet", key) ?? this.other(key)
    return known === undefined && !this.others.synced ? "Unknown" : known
  }

  /** The units of a grid's key, sorted; the same array as long as they are the same. None for a ServiceGrid. */
  units(grid: Grid): readonly string[] {
    const key = gridKey(grid)
    if (grid.kind === "ServiceGrid" || typeof key !== "string") return none
    this.census = Census.counting(this.census, key, Store.items(this.nodes))
    return this.census.units.get(key) ?? none
  }

  /** The children that a plan for the grid looks at, by name: those that it owns and those that bear a wanted name. */
  childrenOf(grid: Grid, names: Iterable<string>): Map<string, Child> {
    const kind = childKind(grid)
    const found = new Map<string, Child>()
    const look = (key: string): void => {
      const child = this.child(kind, key)
      if (child !== undefined) found.set(child.name, child)
    }
    const namespace = `${grid.metadata.namespace ?? ""}/`
    for (const key of this.owned.get(grid.metadata.uid ?? "") ?? []) if (key.startsWith(namespace)) look(key)
    for (const name of names) if (!found.has(name)) look(namespace + name)
    return found
  }

  readNodes(inputs: readonly Store.Input<SeenNode>[]): Due {
    const first = !this.nodes.synced
    const { store, changes } = Store.steps(this.nodes, inputs)
    this.nodes = store
    const keys = new Set<string>()
    for (const change of changes) {
      const told = Census.moved(this.census, change.before, change._tag === "Put" ? change.after : undefined)
      this.census = told.census
      for (const key of told.keys) keys.add(key)
    }
    const due = first && store.synced ? () => true : (seen: SeenGrid) => keys.has(String(gridKey(seen.grid)))
    const now = new Set<string>()
    if (keys.size > 0 || first)
      for (const kind of ["DeploymentGrid", "StatefulSetGrid"] as const) this.addWhere(now, kind, due)
    return { now, soon: nobody }
  }

  readGrids(kind: Grid["kind"], inputs: readonly Store.Input<SeenGrid>[]): Due {
    const { store, changes } = Store.steps(this.gridStore(kind), inputs)
    const first = store.synced && !this.gridStore(kind).synced
    this.grids.set(kind, store)
    const now = new Set<string>()
    const soon = new Set<string>()
    for (const change of changes) {
      const quiet =
        change._tag === "Put" && change.before !== undefined && !edited(change.before, change.after)
      ;(quiet ? soon : now).add(gridRef(kind, change.key))
    }
    if (first) this.addWhere(now, kind, () => true)
    if (changes.some(({ _tag }) => _tag === "Removed")) this.forgetKeys()
    return { now, soon }
  }

  readChildren(kind: ChildKind, inputs: readonly Store.Input<Child>[]): Due {
    const gridKind = gridKindOf[kind]
    const first = !this.childStore(kind).synced
    const { store, changes } = Store.steps(this.childStore(kind), inputs)
    this.children.set(kind, store)
    const now = new Set<string>()
    const soon = new Set<string>()
    for (const change of changes) {
      const { key, before } = change
      const after = change._tag === "Put" ? change.after : undefined
      this.move(key, before, after)
      const quiet = before !== undefined && after !== undefined && !reshaped(before, after)
      for (const each of [before, after])
        if (each?.owner !== undefined)
          (quiet ? soon : now).add(gridRef(gridKind, namespaceOf(key) + each.owner.name))
      if (kind === "StatefulSet" && !quiet) this.addNamesake(soon, key)
      // A name that became free, or a child that nobody owns, concerns each grid that may want the name.
      const namespace = namespaceOf(key)
      if (!quiet && after?.owner === undefined)
        this.addWhere(
          now,
          gridKind,
          ({ key: of, grid }) =>
            of.startsWith(namespace) && mayWant(grid.metadata.name, key.slice(namespace.length))
        )
    }
    if (first && store.synced) this.addWhere(now, gridKind, () => true)
    return { now, soon }
  }

  readOthers(inputs: readonly Store.Input<Rival>[]): Due {
    const first = !this.others.synced
    const { store, changes } = Store.steps(this.others, inputs)
    this.others = store
    const soon = new Set<string>()
    for (const change of changes) {
      const after = change._tag === "Put" ? change.after : undefined
      if (change.before?.serviceName !== after?.serviceName) this.addNamesake(soon, change.key)
    }
    // What the status of a former run says may be over.
    if (first && store.synced)
      this.addWhere(soon, "StatefulSetGrid", ({ grid }) => standing(grid, "ShortNames") !== undefined)
    return { now: nobody, soon }
  }

  private addNamesake(due: Set<string>, key: string): void {
    if (this.grid("StatefulSetGrid", key) !== undefined) due.add(gridRef("StatefulSetGrid", key))
  }

  private addWhere(due: Set<string>, kind: Grid["kind"], holds: (seen: SeenGrid) => boolean): void {
    for (const seen of Store.items(this.gridStore(kind))) if (holds(seen)) due.add(gridRef(kind, seen.key))
  }

  private move(key: string, before: Child | undefined, after: Child | undefined): void {
    const from = before?.owner?.uid
    const to = after?.owner?.uid
    if (from === to) return
    if (from !== undefined) {
      const left = this.owned.get(from)
      left?.delete(key)
      if (left?.size === 0) this.owned.delete(from)
    }
    if (to !== undefined) {
      const keys = this.owned.get(to) ?? new Set<string>()
      keys.add(key)
      this.owned.set(to, keys)
    }
  }

  private forgetKeys(): void {
    const used = new Set<string>()
    for (const store of this.grids.values())
      for (const { grid } of Store.items(store)) used.add(String(gridKey(grid)))
    this.census = Census.forgetting(this.census, used)
  }
}

const none: readonly string[] = []
const nobody: ReadonlySet<string> = new Set()
