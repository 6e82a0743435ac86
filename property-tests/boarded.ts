/**
 * A board that is told what upstream says, upstream as the test itself knows it, and clients that believe what they are sent.
 *
 * The truth is a list of worlds, over two namespaces with Services and slices of equal names: what is to be seen at which revision.
 */
import { expect } from "vitest"
import { Board } from "../src/core/board.ts"
import { type Feed, type ItemOf, NEEDED, READERS } from "../src/core/feed.ts"
import type { Sink } from "../src/core/bytes.ts"
import { subject, type Thing } from "../src/core/cut.ts"
import type { Event } from "../src/core/journal.ts"
import { sent } from "../src/core/query.ts"
import { parts, restore } from "../src/core/snapshot.ts"
import type { Input } from "../src/core/store.ts"
import { same } from "./given.ts"
import { type Obj, visible, type World } from "./naive.ts"
import { asIs, bytesOf, objectOf } from "./sliced.ts"

export const OWN = "n1"
export const V1 = "discovery.k8s.io/v1"

/** What upstream holds, by key. */
interface Upstream {
  services: Map<string, Obj>
  slices: Map<string, Obj>
  nodes: Map<string, Obj>
  apiServer: Obj | undefined
}

export type Act =
  | { readonly _tag: "Service" | "Slice"; readonly key: string; readonly object: Obj | undefined }
  | { readonly _tag: "Node"; readonly name: string; readonly labels: Obj | undefined }
  | { readonly _tag: "ApiServer"; readonly annotations: Obj | undefined }
  /** upstream's watch of a feed broke: what happened meanwhile is told by a list */
  | { readonly _tag: "Relist"; readonly during: readonly Act[] }
  | { readonly _tag: "Read"; readonly who: number; readonly most: number }
  | { readonly _tag: "Restart" }

/** The board, upstream as the test knows it, and all worlds so far. */
export class Story {
  board = new Board(OWN, "1000", { count: 1000, bytes: 1_000_000 })
  readonly upstream: Upstream = {
    services: new Map(),
    slices: new Map(),
    nodes: new Map([[OWN, { zone: "a" }]]),
    apiServer: undefined
  }
  /** what was said of it so far, feed by feed */
  readonly said: Upstream = { services: new Map(), slices: new Map(), nodes: new Map(), apiServer: undefined }
  /** what is to be seen, by the revision at which it was so */
  truth: { readonly at: bigint; readonly seen: ReadonlyMap<string, Obj> }[] = []
  #revision = 0

  begin(): void {
    for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    this.note()
  }

  /** A new process that was given what the last one kept; upstream is there again. */
  restart(during: readonly Act[]): void {
    const kept = (parts(this.board) ?? []).map(({ kind, objects }) => ({ kind, objects: [...objects] }))
    this.board = new Board(OWN, String(9_000_000 + this.#revision * 1000), { count: 1000, bytes: 1_000_000 })
    expect(restore(this.board, kept, asIs)).toHaveLength(5)
    this.truth = []
    this.note()
    for (const act of during) this.#learn(act)
    for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    this.note()
  }

  act(act: Act): void {
    if (act._tag === "Relist") {
      for (const each of act.during) this.#learn(each)
      for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    } else {
      const feed = FEED_OF[act._tag]
      if (feed === undefined) return
      const before = this.#objects(feed)
      this.#learn(act)
      const after = this.#objects(feed)
      this.#revision += 1
      for (const [key, object] of after)
        if (before.get(key) !== object) this.#take(feed, { _tag: "Changed", item: this.#item(feed, object) })
      for (const key of before.keys())
        if (!after.has(key)) this.#take(feed, { _tag: "Deleted", key, revision: String(this.#revision) })
      this.#say(feed)
      if (feed === "Node") this.#ownNode()
    }
    this.note()
  }

  list(feed: Feed): void {
    this.#revision += 1
    const items = [...this.#objects(feed).values()].map((object) => this.#item(feed, object))
    this.#take(feed, { _tag: "Listed", revision: String(this.#revision), items, unread: [] })
    this.#say(feed)
    if (this.truth.length > 0) this.note()
  }

  #say(feed: Feed): void {
    const { said, upstream } = this
    if (feed === "Service") said.services = new Map(upstream.services)
    if (feed === "EndpointSlice") said.slices = new Map(upstream.slices)
    if (feed === "ApiServer") said.apiServer = upstream.apiServer
    const own = (feed === "OwnNode" ? upstream : said).nodes.get(OWN)
    if (feed === "Node" || feed === "OwnNode") {
      const others = [...(feed === "Node" ? upstream : said).nodes].filter(([name]) => name !== OWN)
      said.nodes = new Map(own === undefined ? others : [...others, [OWN, own]])
    }
  }

  /** What a client must see from now on. */
  note(): void {
    this.truth.push({ at: BigInt(this.board.journal("EndpointSlice").head), seen: this.seen() })
  }

  /** From scratch, over parsed objects. */
  seen(): ReadonlyMap<string, Obj> {
    const { services, slices, nodes, apiServer } = this.said
    const world: World = { own: OWN, ownLabels: nodes.get(OWN), services, nodes, apiServer }
    const all = [...slices.values()]
    return new Map([...slices].map(([key, object]) => [key, plain(visible(world, object, all))]))
  }

  #ownNode(): void {
    const labels = this.upstream.nodes.get(OWN)
    this.#revision += 1
    this.#say("OwnNode")
    if (labels !== undefined)
      this.#take("OwnNode", { _tag: "Changed", item: this.#item("OwnNode", nodeObject(OWN, labels)) })
  }

  #objects(feed: Feed): ReadonlyMap<string, Obj> {
    const { services, slices, nodes, apiServer } = this.upstream
    switch (feed) {
      case "Endpoints":
      case "Namespace":
      case "ServiceCIDR":
      case "StatefulSetGrid":
      case "StatefulSet":
        return new Map()
      case "Service":
        return new Map(services)
      case "EndpointSlice":
        return new Map(slices)
      case "Node":
        return new Map([...nodes].map(([name, labels]) => [`/${name}`, nodeOf(name, labels)]))
      case "OwnNode": {
        const labels = nodes.get(OWN)
        return new Map(labels === undefined ? [] : [[`/${OWN}`, nodeOf(OWN, labels)]])
      }
      case "ApiServer":
        return new Map(apiServer === undefined ? [] : [["default/kubernetes", endpointsObject(apiServer)]])
    }
  }

  #learn(act: Act): void {
    const { services, slices, nodes } = this.upstream
    const keep = (map: Map<string, Obj>, key: string, value: Obj | undefined) =>
      value === undefined ? map.delete(key) : map.set(key, value)
    if (act._tag === "Service") keep(services, act.key, act.object)
    if (act._tag === "Slice") keep(slices, act.key, act.object)
    // This node's last labels stand when it is deleted.
    if (act._tag === "Node" && !(act.name === OWN && act.labels === undefined))
      keep(nodes, act.name, act.labels)
    if (act._tag === "ApiServer") this.upstream.apiServer = act.annotations
  }

  #item(feed: Feed, object: Obj): ItemOf<Feed> {
    const read = READERS[feed](bytesOf(stamped(object, String(this.#revision))), asIs)
    if ("_tag" in read) return expect.fail(read.message)
    return read
  }

  #take(feed: Feed, input: Input<ItemOf<Feed>>): void {
    this.board.take(feed, [input] as never)
  }
}

const FEED_OF: { readonly [tag in Act["_tag"]]?: Feed } = {
  Service: "Service",
  Slice: "EndpointSlice",
  Node: "Node",
  ApiServer: "ApiServer"
}

/** One object a label set: so that an unchanged node is the same object. */
const nodeObjects = new WeakMap<Obj, Map<string, Obj>>()
const nodeOf = (name: string, labels: Obj): Obj => {
  const made = nodeObjects.get(labels) ?? new Map<string, Obj>()
  nodeObjects.set(labels, made)
  const found = made.get(name) ?? nodeObject(name, labels)
  made.set(name, found)
  return found
}
export const nodeObject = (name: string, labels: Obj): Obj => ({
  metadata: { name, uid: `node-${name}`, labels }
})
const endpointsObject = (annotations: Obj): Obj => ({
  metadata: { name: "kubernetes", namespace: "default", uid: "endpoints", annotations }
})

export const stamped = (object: Obj, resourceVersion: string): Obj => ({
  ...object,
  metadata: { ...(object["metadata"] as Obj), resourceVersion }
})

/** What is compared of a slice: all but its revision, and managedFields, which nobody is shown. */
const plain = (object: Obj): Obj => {
  const { resourceVersion: _, managedFields: __, ...metadata } = object["metadata"] as Obj
  return JSON.parse(JSON.stringify({ ...object, kind: "EndpointSlice", apiVersion: V1, metadata })) as Obj
}

/** What a watcher of some slices believes, from what it was sent alone. */
export class Client {
  readonly table = new Map<string, Obj>()
  cursor: string
  readonly #story: Story
  readonly #selects: (thing: Thing) => boolean

  constructor(story: Story, selects: (thing: Thing) => boolean) {
    this.#story = story
    this.#selects = selects
    const { revision, objects } = story.board.journal("EndpointSlice").list()
    this.cursor = revision
    for (const told of objects) if (selects(told.value)) this.#put(told.value, told.revision)
    this.holds()
  }

  read(most: number): void {
    const read = this.#story.board.journal("EndpointSlice").since(this.cursor, most)
    if (read._tag === "Expired") return expect.fail("a journal of a thousand events doesn't expire here")
    for (const event of read.events) this.#event(event)
    this.cursor = read.cursor
    this.holds()
  }

  /** What it believes is what is to be seen at its revision; between two worlds, each slice is as in the one or the other. */
  holds(): void {
    const at = BigInt(this.cursor)
    const { truth } = this.#story
    const next = truth.findIndex((world) => world.at >= at)
    const after = truth.findLast((world) => world.at === at)?.seen
    const mine = (seen: ReadonlyMap<string, Obj> | undefined): Map<string, Obj> =>
      new Map([...(seen ?? [])].filter(([, object]) => this.#selects(subjectOf(object))))
    if (after !== undefined) return same(this.table, mine(after))
    const [before, then] = [mine(truth[next - 1]?.seen), mine(truth[next]?.seen)]
    for (const [key, object] of this.table) expect([before.get(key), then.get(key)]).toContainEqual(object)
  }

  #event(event: Event<Thing>): void {
    const told = sent(event, this.#selects)
    if (told === undefined) return
    same([told.type, this.table.has(event.key)], [told.type, told.type !== "ADDED"])
    if (told.type === "DELETED") this.table.delete(event.key)
    else this.#put(told.value, told.revision)
  }

  #put(thing: Thing, revision: string): void {
    const text: string[] = []
    const sink: Sink = {
      bytes: (from, start, end) => void text.push(new TextDecoder().decode(from.subarray(start, end))),
      text: (put) => void text.push(put)
    }
    this.#story.board.render("EndpointSlice", thing, revision, V1, sink)
    const object = objectOf(bytesOf(text.join("")))
    same((object["metadata"] as Obj)["resourceVersion"], revision)
    this.table.set(subject(thing).key, plain(object))
  }
}

/** A thing as a selector judges it, of an object of the truth. */
const subjectOf = (object: Obj): Thing => {
  const read = READERS.EndpointSlice(bytesOf(object), asIs)
  if ("_tag" in read) return expect.fail(read.message)
  return read
}

export const SELECTORS: readonly ((thing: Thing) => boolean)[] = [
  () => true,
  (thing) => !Object.hasOwn(subject(thing).labels, "service.kubernetes.io/headless"),
  (thing) => subject(thing).namespace === "other"
]
