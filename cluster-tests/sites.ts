/** NodeUnits, NodeGroups and the nodes that they are about, as an administrator makes, edits and waits for them. */
import { pathOf, site, type SiteObject, sitePath } from "../property-tests/site-objects.ts"
import { at, type Client } from "./client.ts"
import { until } from "./deadline.ts"

type Kind = SiteObject["kind"]

/** What a node has that units and groups give, labels of the node's own aside. */
export interface Carried {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** as kubectl writes them */
  readonly taints: readonly string[]
  readonly cordoned: boolean
}

export class Sites {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  make(kind: Kind, name: string, spec: object): Promise<unknown> {
    const object = site(kind, name, spec)
    return this.#client.create(pathOf(object, false), object)
  }

  get(kind: Kind, name: string): Promise<unknown> {
    return this.#client.get(sitePath(kind, "v1alpha2", name))
  }

  find(kind: Kind, name: string): Promise<unknown> {
    return this.#client.find(sitePath(kind, "v1alpha2", name))
  }

  async names(kind: Kind): Promise<readonly string[]> {
    return (await this.#client.items(sitePath(kind, "v1alpha2"))).map((each) =>
      String(at(each, "metadata", "name"))
    )
  }

  /** Changes a unit or group by a merge patch. */
  edit(kind: Kind, name: string, patch: object): Promise<unknown> {
    return this.#client.patch(sitePath(kind, "v1alpha2", name), "merge", patch)
  }

  /** Asks for its deletion, without waiting for its end; says nothing where there is none. */
  async remove(kind: Kind, name: string): Promise<void> {
    await this.#client.ask("DELETE", sitePath(kind, "v1alpha2", name))
  }

  /** Waits until it is as it should be; gives it. */
  comes(kind: Kind, name: string, what: string, is: (object: unknown) => boolean): Promise<unknown> {
    return until({ what: `${kind} ${name}: ${what}`, seconds: 45 }, async () => {
      const object = await this.find(kind, name)
      if (object !== undefined && is(object)) return object
      throw new Error(`it is ${JSON.stringify(at(object, "status")) ?? "not there"}`)
    })
  }

  async goes(kind: Kind, name: string): Promise<void> {
    await until({ what: `the end of ${kind} ${name}`, seconds: 45 }, async () => {
      const object = await this.find(kind, name)
      if (object === undefined) return true
      throw new Error(`it is ${JSON.stringify(at(object, "status"))}`)
    })
  }

  /** Waits until its status speaks of its present generation and says that it is so; gives it. */
  told(kind: Kind, name: string, what: string, is: (object: unknown) => boolean): Promise<unknown> {
    return this.comes(
      kind,
      name,
      what,
      (object) =>
        at(object, "status", "observedGeneration") === at(object, "metadata", "generation") && is(object)
    )
  }

  async carried(node: string): Promise<Carried> {
    const found = await this.#client.get(`/api/v1/nodes/${node}`)
    return {
      labels: (at(found, "metadata", "labels") ?? {}) as Carried["labels"],
      annotations: (at(found, "metadata", "annotations") ?? {}) as Carried["annotations"],
      taints: ((at(found, "spec", "taints") ?? []) as readonly unknown[]).map(taintText),
      cordoned: at(found, "spec", "unschedulable") === true
    }
  }

  /** Waits until a node carries what it should; gives that. */
  carries(node: string, what: string, is: (carried: Carried) => boolean, seconds = 45): Promise<Carried> {
    return until({ what: `node ${node}: ${what}`, seconds }, async () => {
      const carried = await this.carried(node)
      if (is(carried)) return carried
      throw new Error(`it carries ${JSON.stringify(carried)}`)
    })
  }
}

const taintText = (taint: unknown): string => {
  const value = at(taint, "value")
  return `${String(at(taint, "key"))}${value === undefined ? "" : `=${String(value)}`}:${String(at(taint, "effect"))}`
}
