/** A view that is told what happens, the truth as the test itself knows it, and a client that was told everything. */
import { expect } from "vitest"
import { render, type Shown } from "../src/core/cut.ts"
import { local } from "../src/core/local.ts"
import type { SliceKind } from "../src/core/slice.ts"
import { known } from "../src/core/topology.ts"
import { type SyncedKind, type Told, View, type ViewChange } from "../src/core/view.ts"
import { same } from "./given.ts"
import { type Obj, visible, type World } from "./naive.ts"
import { endpointsOf, objectOf, sliceOf } from "./sliced.ts"

export const own = "n1"
const stamp = { revision: "1", kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1" }

/** A slice as a client sees it, the revision aside. */
export const seen = (shown: Shown): Obj => {
  const { metadata, ...rest } = objectOf(render(shown, stamp))
  return { ...rest, metadata: { ...(metadata as Obj), resourceVersion: undefined } }
}

// ---- what happens

export type Act =
  | { readonly _tag: "Service"; readonly key: string; readonly service: Obj | undefined }
  | {
      readonly _tag: "Slice"
      readonly kind: SliceKind
      readonly key: string
      readonly object: Obj | undefined
    }
  | { readonly _tag: "Node"; readonly name: string; readonly labels: Obj | undefined }
  | { readonly _tag: "ApiServer"; readonly annotations: Obj | undefined }
  | { readonly _tag: "Synced"; readonly kind: SyncedKind }

export const changeOf = (act: Act): ViewChange => {
  switch (act._tag) {
    case "Service": {
      const { key, service } = act
      const annotations = (service?.["metadata"] as Obj | undefined)?.["annotations"]
      const clusterIP = (service?.["spec"] as Obj | undefined)?.["clusterIP"]
      return {
        _tag: "Service",
        key,
        service: service && { ...known(annotations, clusterIP), local: local(annotations) }
      }
    }
    case "Slice": {
      const { kind, key, object } = act
      const index = kind === "Endpoints" ? endpointsOf : sliceOf
      return { _tag: "Slice", kind, key, slice: object && index(object) }
    }
    case "Node":
      return act as ViewChange
    case "ApiServer":
      return act as ViewChange
    case "Synced":
      return act
  }
}

/** The truth so far, and what a client that was told everything has. */
export class Story {
  readonly view = new View(own)
  readonly services = new Map<string, Obj>()
  readonly nodes = new Map<string, Obj>()
  readonly objects = { EndpointSlice: new Map<string, Obj>(), Endpoints: new Map<string, Obj>() }
  readonly synced = new Set<SyncedKind>()
  readonly client = { EndpointSlice: new Map<string, Obj>(), Endpoints: new Map<string, Obj>() }
  ownLabels: Obj | undefined
  apiServer: Obj | undefined

  act(acts: readonly Act[]): readonly Told[] {
    for (const act of acts) this.#learn(act)
    const told = this.view.take(acts.map(changeOf))
    for (const each of told) {
      const shown = each._tag === "Shown" ? each.after : each.before
      const table = this.client[shown.slice.kind]
      const before = table.get(each.key)
      same(before, each.before && seen(each.before))
      if (each._tag === "Removed") table.delete(each.key)
      else {
        expect(seen(each.after)).not.toEqual(before)
        table.set(each.key, seen(each.after))
      }
    }
    return told
  }

  ready(kind: SliceKind): boolean {
    return (
      this.ownLabels !== undefined &&
      ["Service", "Node", "ApiServer", kind].every((each) => this.synced.has(each as SyncedKind))
    )
  }

  world(): World {
    const { services, nodes, ownLabels, apiServer } = this
    return { own, ownLabels, services, nodes, apiServer }
  }

  /** What a client must see, from scratch. */
  wanted(kind: SliceKind): ReadonlyMap<string, Obj> {
    if (!this.ready(kind)) return new Map()
    const all = [...this.objects[kind].values()]
    return new Map(
      [...this.objects[kind]].map(([key, object]) => {
        const left = visible(this.world(), object, all)
        const { metadata, ...rest } = left
        const typed = { kind: stamp.kind, apiVersion: stamp.apiVersion, ...rest }
        return [key, { ...typed, metadata: { ...(metadata as Obj), resourceVersion: undefined } }]
      })
    )
  }

  #learn(act: Act): void {
    const keep = (map: Map<string, Obj>, key: string, value: Obj | undefined) =>
      value === undefined ? map.delete(key) : map.set(key, value)
    if (act._tag === "Service") keep(this.services, act.key, act.service)
    if (act._tag === "Slice") keep(this.objects[act.kind], act.key, act.object)
    if (act._tag === "Node" && act.name === own) this.ownLabels = act.labels ?? this.ownLabels
    if (act._tag === "Node" && act.name !== own) keep(this.nodes, act.name, act.labels)
    if (act._tag === "ApiServer") this.apiServer = act.annotations
    if (act._tag === "Synced") this.synced.add(act.kind)
  }
}
