/** The two that are compared: a real API server, and the model of one. Each plays a sequence in a namespace of its own. */
import { readdirSync, readFileSync } from "node:fs"
import { parse } from "yaml"
import type { Change, Cluster, Request, Watch, WatchLine } from "../../src/embedded/cluster.ts"
import { formed, formedLines } from "../../src/embedded/formed.ts"
import * as Model from "../../src/embedded/model.ts"
import { isSet, isWatch } from "../../src/embedded/verbs.ts"
import { at, type Client } from "../client.ts"
import { until } from "../deadline.ts"
import { type Answer, type Ask, type Line, Memory, target, type Watching } from "./turns.ts"

/** One side in the middle of a sequence. */
export interface Player {
  readonly ask: (ask: Ask) => Promise<Answer>
  readonly watch: (watching: Watching) => Promise<void>
  /** the lines of every watch, in the order in which they were opened, each up to the object of this name */
  readonly lines: (last: string) => Promise<readonly (readonly Line[])[]>
  readonly end: () => Promise<void>
}

export type Side = (namespace: string) => Promise<Player>

const NAMESPACES = "/api/v1/namespaces"
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/** The definitions of grids and sites. */
const definitions = (): readonly object[] => {
  const folder = new URL("../../manifests/crds/", import.meta.url)
  return readdirSync(folder)
    .map((name) => parse(readFileSync(new URL(name, folder), "utf8")) as object)
    .filter((each) => at(each, "kind") === "CustomResourceDefinition")
}

/** A real API server, with the definitions of grids and sites in it. */
export const real = async (client: Client): Promise<Side> => {
  for (const definition of definitions()) {
    await client.create(DEFINITIONS, definition)
    const [group, plural] = [at(definition, "spec", "group"), at(definition, "spec", "names", "plural")]
    const version = at(definition, "spec", "versions", 0, "name")
    const path = `/apis/${String(group)}/${String(version)}/${String(plural)}`
    await until(
      { what: `${path} served`, seconds: 20 },
      async () => (await client.ask("GET", path)).code === 200
    )
  }
  return async (namespace) => {
    const memory = new Memory(namespace)
    memory.learn(await client.create(NAMESPACES, named(namespace)))
    const opened: { readonly lines: Line[]; readonly stop: AbortController; failed?: unknown }[] = []
    return {
      ask: async (ask) => {
        const meant = memory.meant(ask)
        if (meant.query?.["resourceVersion"] !== undefined) await caughtUp(client, meant)
        const answer = await client.ask(
          meant.method,
          target(meant),
          meant.body,
          meant.contentType,
          meant.accept
        )
        memory.learn(answer.body)
        return answer
      },
      watch: async ({ watched, query, accept }) => {
        const watch: (typeof opened)[number] = { lines: [], stop: new AbortController() }
        opened.push(watch)
        const meant = memory.meant({ path: watched, query: { ...query, watch: "true" } })
        const path = target(meant)
        if (isSet(query, "sendInitialEvents")) await caughtUp(client, { method: "GET", ...meant })
        const events = client.watch(path, watch.stop.signal, accept)
        void reading(events, watch.stop.signal, watch.lines).catch((error: unknown) => {
          watch.failed = error
        })
        if (!isSet(query, "sendInitialEvents")) return
        await until({ what: `the end of the initial events of ${path}`, seconds: 10 }, () =>
          watch.lines.some(({ type }) => type === "BOOKMARK")
        )
      },
      lines: async (last) => {
        const name = memory.meant(last)
        for (const watch of opened) {
          await until({ what: `the last line of a watch (${name})`, seconds: 10 }, () => {
            if (watch.failed !== undefined) throw watch.failed
            return watch.lines.some(({ object }) => at(object, "metadata", "name") === name)
          })
          watch.stop.abort()
        }
        return opened.map(({ lines }) => lines.filter(isTold))
      },
      end: async () => {
        for (const { stop } of opened) stop.abort()
        for (const path of ["/api/v1/nodes", "/apis/networking.k8s.io/v1/servicecidrs"])
          await removeOwn(client, path, namespace)
      }
    }
  }
}

/** What a list or a watch-list of any revision may be answered from, a cache, has seen all that was written so far. */
const caughtUp = async (client: Client, { path, query }: Ask): Promise<void> => {
  if (query?.["resourceVersionMatch"] !== "Exact") await client.ask("GET", `${path}?limit=1`)
}

const reading = async (events: AsyncIterable<Line>, signal: AbortSignal, into: Line[]): Promise<void> => {
  try {
    for await (const line of events) into.push(line)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Bookmarks come when the server likes, save the one that ends the initial events. */
const isTold = ({ type, object }: Line): boolean =>
  type !== "BOOKMARK" || at(object, "metadata", "annotations", "k8s.io/initial-events-end") !== undefined

/** What is in no namespace: the next sequence must not find it. */
const removeOwn = async (client: Client, path: string, namespace: string): Promise<void> => {
  for (const object of await client.items(path)) {
    const name = String(at(object, "metadata", "name"))
    if (!name.startsWith(namespace)) continue
    await client.ask("DELETE", `${path}/${name}`)
    const freed = { metadata: { finalizers: null } }
    await client.ask("PATCH", `${path}/${name}`, freed, "application/merge-patch+json")
  }
}

const named = (name: string): object => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })

/** A sequence takes less than a second: all of it happens at one time. */
const NOW = Date.UTC(2026, 0, 1)

/** The model, with the definitions of grids and sites in it. */
export const model = (): Side => {
  const post = (cluster: Cluster, path: string, body: unknown): Model.Step => {
    const step = Model.step(cluster, { method: "POST", path, query: {}, body, at: NOW })
    if (step.response.code !== 201) throw new Error(`${path}: ${JSON.stringify(step.response.body)}`)
    return step
  }
  const prepared = definitions().reduce<Cluster>(
    (cluster, definition) => post(cluster, DEFINITIONS, definition).cluster,
    Model.start(NOW)
  )
  return async (namespace) => {
    const memory = new Memory(namespace)
    const begun = post(prepared, NAMESPACES, named(namespace))
    memory.learn(begun.response.body)
    let cluster = begun.cluster
    const opened: { readonly watch: Watch; readonly lines: Line[]; readonly shape: Shape }[] = []
    const tell = (changes: readonly Change[]): void => {
      for (const { watch, lines, shape } of opened)
        for (const change of changes) {
          const line = watch.accepts(change)
          const told = line && shape(line)
          if (told !== undefined) lines.push(told)
        }
    }
    return {
      ask: (ask) => {
        const request = requested(memory.meant(ask))
        const answer = answered(cluster, request)
        cluster = answer.cluster
        tell(answer.changes)
        const { code, body } = formed(cluster, request, answer.response, NOW)
        const plain = body === undefined ? body : (JSON.parse(JSON.stringify(body)) as unknown)
        memory.learn(plain)
        return Promise.resolve({ code, body: plain })
      },
      watch: ({ watched, query, accept }) => {
        const path = memory.meant(watched)
        const own = { method: "GET", path, query: memory.meant({ ...query, watch: "true" }) } as const
        const asked = requested(accept === undefined ? own : { ...own, accept })
        const answer = Model.watch(cluster, asked)
        if (answer._tag === "Refused")
          return Promise.reject(new Error(`the model refuses a watch: ${JSON.stringify(answer.response)}`))
        const lines = formedLines(asked, answer.watch)
        const shape: Shape = (line) => lines(line, NOW)
        const initial = answer.watch.initial.flatMap((line) => shape(line) ?? [])
        opened.push({ watch: answer.watch, lines: initial, shape })
        return Promise.resolve()
      },
      lines: () => Promise.resolve(opened.map(({ lines }) => JSON.parse(JSON.stringify(lines)) as Line[])),
      end: () => Promise.resolve()
    }
  }
}

type Shape = (line: WatchLine) => WatchLine | undefined

const requested = ({ method, path, query, contentType, body, accept }: Ask): Request => ({
  method,
  path,
  query: query ?? {},
  contentType: contentType ?? (body === undefined ? undefined : "application/json"),
  body,
  accept,
  at: NOW
})

const answered = (cluster: Cluster, request: Request): Model.Step => {
  if (request.method !== "GET" || !isWatch(request.query)) return Model.step(cluster, request)
  const watch = Model.watch(cluster, request)
  const response = watch._tag === "Refused" ? watch.response : { code: 200, body: watch.watch.initial }
  return { cluster, response, changes: [] }
}
