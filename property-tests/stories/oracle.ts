/**
 * What a cluster must look like when all is calm: computed naively, from the users' words and the nodes, by nothing of
 * the product. The first thing that is otherwise is said as a sentence.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import * as Model from "../../src/embedded/model.ts"
import { unitsOf } from "./truth.ts"
import { type GridWords, portsOf, type Slot, SLOTS, type Words } from "./words.ts"
import { CHILD, ownerOf, type Thing, unitOf, type World } from "./world.ts"

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const texts = (map: object): readonly string[] =>
  Object.entries(map)
    .map((entry) => entry.join("="))
    .sort()

/** The template that a unit uses; undefined where there is none. */
const templateOf = (grid: GridWords, unit: string): Words | undefined => {
  const name = grid.templates.get(unit) ?? grid.fallback ?? ""
  return name === "" || name === "default" ? grid.template : grid.pool.get(name)
}

const isLegalKey = (key: string): boolean => /^[a-z./]+$/.test(key)

/** `<grid>-<unit>` where that is a name at all. */
const nameOf = ({ kind, name }: Slot, unit: string): string | undefined => {
  if (kind === "ServiceGrid") return `${name}-svc`
  return /^[-a-z]+$/.test(unit) ? `${name}-${unit}` : undefined
}

type Verdict =
  | { readonly _tag: "Served"; readonly child: Thing }
  /** nothing may be asked of its child, but that it says so */
  | { readonly _tag: "Refused" }
  | { readonly _tag: "Wrong"; readonly why: string }

interface Spec {
  readonly replicas?: number
  readonly minReadySeconds?: number
  readonly strategy?: { readonly type?: string }
  readonly updateStrategy?: { readonly type?: string }
  readonly type?: string
  readonly selector?: { readonly matchLabels?: { readonly app?: string } }
  readonly ports?: readonly { readonly name: string; readonly port: number }[]
  readonly template: {
    readonly spec: {
      readonly nodeSelector: unknown
      readonly containers: readonly {
        readonly name: string
        readonly image: string
        readonly env?: readonly { readonly name: string }[]
      }[]
    }
  }
}

const workloadWrong = (spec: Spec, words: Words, nodeSelector: object): string | undefined => {
  const [container, ...more] = spec.template.spec.containers
  if (container === undefined || more.length > 0) return "it has other containers"
  if (container.image !== `nginx:${words.image}`) return `its image is ${container.image}`
  const env = (container.env ?? []).map(({ name }) => name).sort()
  if (
    !same(
      env,
      Array.from({ length: words.env }, (_, i) => `E${i}`)
    )
  )
    return `its env is ${env.join()}`
  if (words.replicas !== undefined && spec.replicas !== words.replicas)
    return `it has ${spec.replicas} replicas`
  const chosen = spec.template.spec.nodeSelector as Record<string, string>
  if (!same(texts(chosen), texts(nodeSelector))) return `its node selector is ${JSON.stringify(chosen)}`
  if ((spec.minReadySeconds ?? 0) !== (words.minReady ?? 0))
    return `its minReadySeconds is ${spec.minReadySeconds}`
  const type = (spec.strategy ?? spec.updateStrategy)?.type
  const wanted = words.recreate ? (spec.strategy === undefined ? "OnDelete" : "Recreate") : "RollingUpdate"
  return type === wanted ? undefined : `its strategy is ${type}, not ${wanted}`
}

const serviceWrong = (service: Thing, words: Words, key: string): string | undefined => {
  const spec = service.spec as Spec
  // A port that someone else added stays.
  const ports = (spec.ports ?? [])
    .filter(({ name }) => name !== "old")
    .map(({ name, port }) => ({ name, port }))
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
    a.name < b.name ? -1 : 1
  if (!same(ports.sort(byName), [...portsOf(words)].sort(byName)))
    return `its ports are ${JSON.stringify(ports)}`
  if (!same(spec.selector, { app: "web" })) return `its selector is ${JSON.stringify(spec.selector)}`
  if (spec.type !== (words.recreate ? "NodePort" : "ClusterIP")) return `its type is ${spec.type}`
  const keys = service.metadata.annotations?.["topologyKeys"]
  return keys === JSON.stringify([key]) ? undefined : `its topology keys are ${keys}`
}

const judge = (world: World, slot: Slot, grid: GridWords, stored: KubeObject, unit: string): Verdict => {
  const words = slot.kind === "ServiceGrid" ? grid.template : templateOf(grid, unit)
  const all: readonly Thing[] = Model.list(world.server.cluster, CHILD[slot.kind], slot.namespace)
  const name = nameOf(slot, unit)
  const mine = all.filter((each) => ownerOf(each) === stored.metadata.uid && unitOf(each) === unit)
  const there = name === undefined ? mine[0] : all.find(({ metadata }) => metadata.name === name)
  if (words === undefined || (words.flaw !== undefined && words.flaw !== "otherSelector"))
    return { _tag: "Refused" }
  const about = `${slot.kind} ${slot.namespace}/${slot.name}, unit ${unit}: the child ${name ?? ""}`
  const wrong = (why: string): Verdict => ({ _tag: "Wrong", why: `${about} ${why}` })
  if (there === undefined) return wrong("is missing")
  if (ownerOf(there) !== stored.metadata.uid) {
    const free =
      ownerOf(there) === undefined && there.metadata.labels?.["superedge.io/grid-selector"] === slot.name
    return free ? wrong("was not adopted") : { _tag: "Refused" }
  }
  if (mine.length !== 1) return wrong(`is there ${mine.length} times`)
  if (typeof there.metadata.deletionTimestamp === "string") return wrong("is being deleted")
  if (slot.kind === "ServiceGrid") {
    const why = serviceWrong(there, words, grid.key)
    return why === undefined ? { _tag: "Served", child: there } : wrong(why)
  }
  const spec = there.spec as Spec
  const app = words.flaw === "otherSelector" ? "other" : "web"
  if (spec.selector?.matchLabels?.app !== app) return { _tag: "Refused" }
  const why = workloadWrong(spec, words, { disk: "ssd", [grid.key]: unit })
  if (why !== undefined) return wrong(why)
  const { labels } = there.metadata
  if (labels?.["team"] !== grid.team) return wrong(`has the team ${labels?.["team"]}`)
  if (
    labels?.["old"] !== undefined &&
    there.metadata.managedFields?.every(({ manager }) => manager === "servicegroup")
  )
    return wrong("still has a label of the old manager")
  return { _tag: "Served", child: there }
}

interface Shown {
  readonly observedGeneration?: number
  readonly units?: number
  readonly readyUnits?: number
  readonly states?: object
  readonly service?: string
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
}

/** What is wrong with a status, where all children that are served are ready. */
const statusWrong = (slot: Slot, stored: Thing, units: readonly string[], verdicts: readonly Verdict[]) => {
  const shown = (stored.status ?? {}) as Shown
  const condition = (type: string): string =>
    (shown.conditions ?? []).find((each) => each.type === type)?.status ?? "absent"
  if (shown.observedGeneration !== stored.metadata.generation)
    return `observed is ${shown.observedGeneration}`
  const served = verdicts.filter(({ _tag }) => _tag === "Served").length
  const refused = verdicts.length - served
  const ready = refused === 0 && verdicts.length > 0 ? "True" : "False"
  if (condition("Ready") !== ready) return `Ready is ${condition("Ready")}`
  if (condition("Degraded") !== (refused > 0 ? "True" : "False"))
    return `Degraded is ${condition("Degraded")}`
  if (slot.kind === "ServiceGrid") {
    const ip = shown.loadBalancer?.ingress?.[0]?.ip
    return served === 0 || ip === "5.6.7.8" ? undefined : `the load balancer is ${ip}`
  }
  if (shown.units !== units.length) return `units is ${shown.units}`
  if (shown.readyUnits !== served) return `readyUnits is ${shown.readyUnits}, not ${served}`
  const missing = verdicts.some(
    (each, i) => each._tag === "Served" && !Object.hasOwn(shown.states ?? {}, units[i] ?? "")
  )
  return missing ? `states are ${Object.keys(shown.states ?? {}).join()}` : undefined
}

const isLabelled = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.labels ?? {}, "superedge.io/grid-selector")

/** SuperEdge's children bear no unit, but its name. */
const isWanted = (slot: Slot, units: readonly string[], child: KubeObject): boolean =>
  units.includes(unitOf(child)) || units.some((unit) => nameOf(slot, unit) === child.metadata.name)

const gridWrong = (world: World, slot: Slot, grid: GridWords): string | undefined => {
  const stored = world.stored(slot)
  if (stored === undefined) return `${slot.name} is gone`
  const about = `${slot.kind} ${slot.namespace}/${slot.name}`
  if (!isLegalKey(grid.key)) {
    const shown = (stored as Thing).status as Shown | undefined
    const ready = shown?.conditions?.find(({ type }) => type === "Ready")
    return ready?.status === "False" ? undefined : `${about}: Ready is ${ready?.status} in spite of its key`
  }
  const units = slot.kind === "ServiceGrid" ? [""] : unitsOf(world.server, grid.key)
  const verdicts = units.map((unit) => judge(world, slot, grid, stored, unit))
  for (const each of verdicts) if (each._tag === "Wrong") return each.why
  for (const child of Model.list(world.server.cluster, CHILD[slot.kind], slot.namespace))
    // What lost our label is out of the controller's sight.
    if (ownerOf(child) === stored.metadata.uid && isLabelled(child) && !isWanted(slot, units, child))
      return `${about}: ${child.metadata.name} is still there`
  const shown = statusWrong(slot, stored, units, verdicts)
  return shown === undefined ? undefined : `${about}: ${shown}`
}

const left = ({ spec, metadata: { labels, annotations, ownerReferences, finalizers } }: Thing): unknown => [
  spec,
  labels,
  annotations,
  ownerReferences,
  finalizers
]

/** What is wrong with the cluster; undefined where all is as the users' words and the nodes want it. */
export const wrongWith = (world: World): string | undefined => {
  for (const [index, grid] of world.grids) {
    const slot = SLOTS[index]
    const wrong = slot && gridWrong(world, slot, grid)
    if (wrong !== undefined) return wrong
  }
  for (const [uid, planted] of world.foreign) {
    const now = world.children().find(({ object }) => object.metadata.uid === uid)?.object
    if (now === undefined || !same(left(planted), left(now)))
      return `P3: ${planted.metadata.name} is not as it was left`
  }
  return undefined
}
