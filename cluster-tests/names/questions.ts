/** What a CoreDNS must answer about a grid's pods, told by the pods themselves: their labels, nodes and addresses, and nothing of the product. */
import { expect } from "vitest"
import { at, type Client } from "../client.ts"
import { until } from "../deadline.ts"
import type { RecordType } from "../traffic/messages.ts"
import { PLACES, type Units } from "../traffic/places.ts"
import type { Desk } from "./desks.ts"

export interface Question {
  readonly type: RecordType
  readonly name: string
  readonly answer: string
}

/** A StatefulSetGrid whose pods a headless Service in `default` publishes. */
export interface Family {
  readonly grid: string
  readonly service: string
  /** a label of its pods, as key=value */
  readonly selector: string
  /** how many pods it has in all */
  readonly pods: number
  readonly units?: Units
}

export interface Replica {
  readonly name: string
  readonly node: string
  readonly unit: string | undefined
  readonly ordinal: number
  readonly address: string
  /** ready, and not ending */
  readonly ready: boolean
}

const PODS = "/api/v1/namespaces/default/pods"

export const replicas = async (client: Client, family: Family): Promise<readonly Replica[]> => {
  const units = family.units ?? PLACES
  const found = await client.items(`${PODS}?labelSelector=${encodeURIComponent(family.selector)}`)
  return found.map((pod) => {
    const node = String(at(pod, "spec", "nodeName"))
    const conditions = (at(pod, "status", "conditions") ?? []) as readonly unknown[]
    return {
      name: String(at(pod, "metadata", "name")),
      node,
      unit: units[node],
      ordinal: Number(at(pod, "metadata", "labels", "apps.kubernetes.io/pod-index")),
      address: String(at(pod, "status", "podIP")),
      ready:
        at(pod, "metadata", "deletionTimestamp") === undefined &&
        at(pod, "status", "phase") === "Running" &&
        conditions.some((each) => at(each, "type") === "Ready" && at(each, "status") === "True")
    }
  })
}

export const podOf = (pods: readonly Replica[], name: string): Replica => {
  const found = pods.find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no pod ${name}`)
  return found
}

/** All that may be asked at a desk about a family. `published`: those of its pods; `behind`: those of all families with the same Service. */
export const questions = (
  desk: Desk,
  family: Family,
  published: readonly Replica[],
  behind = published
): readonly Question[] => {
  const units = family.units ?? PLACES
  const unit = units[desk.agent.node.name]
  const service = `${family.service}.default.svc`
  const own = published.filter((each) => unit !== undefined && each.unit === unit)
  const short = ({ ordinal }: Replica): string => `${family.grid}-${ordinal}.${service}`
  const full = ({ name }: Replica): string => `${name}.${service}`
  const records = (type: RecordType, name: string, found: readonly string[]): Question => ({
    type,
    name,
    answer: found.toSorted().join(", ")
  })
  const named = (host: string): string => `${host}.${desk.domain}`
  const pointed = (each: Replica): readonly string[] =>
    [full(each), ...(own.includes(each) && desk.form === "serving" ? [short(each)] : [])].map(named)
  return [
    ...own.map((each) => records("A", short(each), [each.address])),
    // where the unit has none of an ordinal, another's isn't given instead
    ...published
      .filter(({ ordinal }) => own.every((each) => each.ordinal !== ordinal))
      .map((each) => ({ type: "A", name: short(each), answer: "NXDOMAIN" }) as const),
    ...published.map((each) => records("A", full(each), [each.address])),
    records(
      "A",
      service,
      behind.map(({ address }) => address)
    ),
    // each pod once, by its own name
    records(
      "SRV",
      service,
      behind.map((each) => `8080 ${named(full(each))}`)
    ),
    ...published.map((each) => records("PTR", reversed(each.address), pointed(each))),
    // there is no pod of this ordinal: the name isn't there
    { type: "A", name: `${family.grid}-7.${service}`, answer: "NXDOMAIN" },
    { type: "A", name: `${family.grid}.${service}`, answer: "NXDOMAIN" },
    { type: "AAAA", name: `${family.grid}-7.${service}`, answer: "NXDOMAIN" }
  ]
}

/** That the names of pods aren't there, short ones of the desk's own unit and full ones. */
export const absent = (desk: Desk, family: Family, pods: readonly Replica[]): readonly Question[] =>
  pods
    .flatMap(({ name, unit, ordinal }) => [
      name,
      ...(unit === (family.units ?? PLACES)[desk.agent.node.name] ? [`${family.grid}-${ordinal}`] : [])
    ])
    .map((host) => ({ type: "A", name: `${host}.${family.service}.default.svc`, answer: "NXDOMAIN" }))

/** All questions about a family of whose pods these aren't published. */
export const without =
  (family: Family, pods: readonly Replica[], gone: readonly Replica[]) =>
  (desk: Desk): readonly Question[] => [
    ...questions(
      desk,
      family,
      pods.filter((each) => !gone.includes(each))
    ),
    ...absent(desk, family, gone)
  ]

/** Three times what is promised. */
const SOON = 15

/** Waits until each desk gives all answers that it must. */
export const answered = async (
  what: string,
  desks: readonly Desk[],
  asked: (desk: Desk) => Promise<readonly Question[]> | readonly Question[],
  seconds = SOON
): Promise<void> => {
  await until({ what: `the answers that are due: ${what}`, seconds }, async () => {
    const all = await Promise.all(desks.map(async (desk) => differences(desk, await asked(desk))))
    const [first] = all.flat()
    if (first !== undefined) throw new Error(first)
    return true
  })
}

/** All questions about families, from the pods as they are; fails while not all of these are ready. */
export const everything =
  (client: Client, families: readonly Family[]) =>
  async (desk: Desk): Promise<readonly Question[]> => {
    const all = await Promise.all(
      families.map(async (family) => {
        const ready = (await replicas(client, family)).filter((each) => each.ready)
        if (ready.length !== family.pods)
          throw new Error(`${ready.length} of ${family.pods} pods of ${family.grid} are ready`)
        return { family, ready }
      })
    )
    return all.flatMap(({ family, ready }) => {
      const beside = all.filter((each) => each.family.service === family.service)
      return questions(
        desk,
        family,
        ready,
        beside.flatMap((each) => each.ready)
      )
    })
  }

/** In words what a desk answers otherwise. */
const differences = async (desk: Desk, all: readonly Question[]): Promise<readonly string[]> => {
  expect(all.length, "questions").toBeGreaterThan(0)
  const found = await Promise.all(
    all.map(async ({ type, name, answer }) => {
      const is = await desk.ask(type, name)
      return is === answer ? [] : [`${desk.name}: ${type} ${name} is ${is}, not ${answer}`]
    })
  )
  return found.flat()
}

const reversed = (address: string): string => `${address.split(".").toReversed().join(".")}.in-addr.arpa.`
