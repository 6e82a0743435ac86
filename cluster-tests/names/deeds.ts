/** What stories do to pods, Services and slices, and what is measured. */
import { at, type Client } from "../client.ts"
import { until } from "../deadline.ts"
import { now, type RecordType } from "../traffic/messages.ts"
import type { Desk } from "./desks.ts"
import { type Family, type Replica, replicas } from "./questions.ts"

const CORE = "/api/v1/namespaces/default"
const GRIDS = "/apis/superedge.io/v1/namespaces/default"
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

/** Keeps a pod there when it is deleted, until this is undone. */
export const hold = async (client: Client, pod: Replica): Promise<() => Promise<void>> => {
  const path = `${CORE}/pods/${pod.name}`
  await client.patch(path, "merge", { metadata: { finalizers: ["servicegroup.test/held"] } })
  return async () => void (await client.patch(path, "merge", { metadata: { finalizers: null } }))
}

export const end = (client: Client, pod: Replica): Promise<unknown> =>
  client.remove(`${CORE}/pods/${pod.name}`)

export const ready = (client: Client, pod: Replica, status: "True" | "False"): Promise<unknown> =>
  told(client, pod, { conditions: [{ type: "Ready", status }] })

export const failed = (client: Client, pod: Replica): Promise<unknown> =>
  told(client, pod, { phase: "Failed" })

const told = (client: Client, pod: Replica, status: unknown): Promise<unknown> =>
  client.patch(`${CORE}/pods/${pod.name}/status`, "strategic-merge", { status })

export const cordon = (client: Client, node: string, unschedulable: true | null): Promise<unknown> =>
  client.patch(`/api/v1/nodes/${node}`, "merge", { spec: { unschedulable } })

export const edit = (
  client: Client,
  kind: "statefulsetgrids" | "servicegrids",
  name: string,
  patch: unknown
): Promise<unknown> => client.patch(`${GRIDS}/${kind}/${name}`, "merge", patch)

export const removeGrid = (client: Client, name: string): Promise<unknown> =>
  client.remove(`${GRIDS}/statefulsetgrids/${name}`)

export const removeService = (client: Client, name: string): Promise<unknown> =>
  client.remove(`${CORE}/services/${name}`)

/** A slice of IPv6 addresses beside those of the cluster's own controller, whose pods have IPv4 ones alone. */
export class SixSlice {
  readonly #client: Client
  readonly #family: Family
  readonly #name: string

  constructor(client: Client, family: Family) {
    this.#client = client
    this.#family = family
    this.#name = `${family.service}-six`
  }

  /** `addresses`: from the name of a pod to its address. */
  async make(addresses: Readonly<Record<string, string>>): Promise<void> {
    const labels = {
      "kubernetes.io/service-name": this.#family.service,
      "service.kubernetes.io/headless": "",
      "endpointslice.kubernetes.io/managed-by": "servicegroup-test"
    }
    await this.#client.create(SLICES, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: this.#name, labels },
      addressType: "IPv6",
      endpoints: await this.#endpoints(addresses),
      ports: [{ name: "http", port: 8080, protocol: "TCP" }]
    })
  }

  /** Gives all of its endpoints another address. */
  async change(address: string, endpoints: number): Promise<void> {
    const patch = Array.from({ length: endpoints }, (_, i) => ({
      op: "replace",
      path: `/endpoints/${i}/addresses`,
      value: [address]
    }))
    await this.#client.patch(`${SLICES}/${this.#name}`, "json", patch)
  }

  async remove(): Promise<void> {
    await this.#client.remove(`${SLICES}/${this.#name}`)
  }

  async #endpoints(addresses: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
    const pods = await replicas(this.#client, this.#family)
    return Object.entries(addresses).map(([hostname, address]) => ({
      hostname,
      addresses: [address],
      nodeName: pods.find(({ name }) => name === hostname)?.node,
      conditions: { ready: true }
    }))
  }
}

/** The endpoints of a Service as someone who lists slices sees them, sorted: address, host name and port. */
export const listed = (list: unknown): readonly string[] =>
  ((at(list, "items") ?? []) as readonly unknown[])
    .flatMap((slice) =>
      ((at(slice, "endpoints") ?? []) as readonly unknown[]).map(
        (each) =>
          `${String(at(each, "addresses", 0))} ${String(at(each, "hostname"))} ${String(at(slice, "ports", 0, "port"))}`
      )
    )
    .toSorted()

/** Milliseconds from a change until each of the desks answers so. */
export const lag = async (
  desks: readonly Desk[],
  asked: { readonly type: RecordType; readonly name: string; readonly answer: string },
  change: () => Promise<unknown>
): Promise<readonly number[]> => {
  const begun = now()
  await change()
  return Promise.all(
    desks.map(async (desk) => {
      const seen = async (): Promise<number | undefined> => {
        // without the pause that would be measured with it
        for (let looks = 0; looks < 300; looks++) {
          const { answer, at: moment } = await desk.timed(asked.type, asked.name)
          if (answer === asked.answer) return moment
        }
        return undefined
      }
      return (await until({ what: `${asked.answer} of ${desk.name}`, seconds: 30 }, seen)) - begun
    })
  )
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
