/**
 * An API server for measurements of the wrapper, in a process of its own: nodes, Services and EndpointSlices as texts, list in pages, and watch.
 * It does as little as it can, so that what is measured is the wrapper. Obeys the parent's messages.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Size {
  readonly nodes: number
  readonly units: number
  readonly services: number
  readonly slices: number
  readonly endpoints: number
}

export type Order =
  | { readonly _tag: "Fill"; readonly size: Size }
  /** so many StatefulSetGrids, each with a headless Service and a set of `pods` pods in each unit; as many nodes as units */
  | {
      readonly _tag: "Name"
      readonly grids: number
      readonly units: number
      readonly pods: number
    }
  /** so many updates of random slices, a second */
  | { readonly _tag: "Update"; readonly rate: number; readonly count: number }
  /** so many nodes of other units get the unit of the first */
  | { readonly _tag: "Relabel"; readonly nodes: number }
  | { readonly _tag: "OwnUnit"; readonly unit: number }

interface Stored {
  readonly text: string
  readonly revision: number
}

interface Event {
  readonly revision: number
  readonly line: string
}

class Table {
  readonly objects = new Map<string, Stored>()
  readonly events: Event[] = []
  readonly watchers = new Set<ServerResponse>()
  readonly quiet = new Set<ServerResponse>()
}

let revision = 1000
const tables = {
  nodes: new Table(),
  services: new Table(),
  endpointslices: new Table(),
  endpoints: new Table(),
  statefulsetgrids: new Table(),
  statefulsets: new Table()
}
type Name = keyof typeof tables
let size: Size = { nodes: 0, units: 1, services: 1, slices: 0, endpoints: 0 }

/** Pseudo-random numbers, the same in every run. */
let seed = 42
const random = (below: number): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
  return (seed >>> 8) % below
}

const put = (name: Name, key: string, make: (revision: string) => string): void => {
  revision += 1
  const table = tables[name]
  const type = table.objects.has(key) ? "MODIFIED" : "ADDED"
  const text = make(String(revision))
  table.objects.set(key, { text, revision })
  const line = `{"type":"${type}","object":${text}}\n`
  table.events.push({ revision, line })
  if (table.events.length > 50_000) table.events.splice(0, 25_000)
  for (const watcher of table.watchers) watcher.write(line)
}

const node = (i: number, unit: number): void =>
  put(
    "nodes",
    `n${i}`,
    (rv) =>
      `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n${i}","uid":"node-${i}","resourceVersion":"${rv}","labels":{"zone":"u${unit}","kubernetes.io/hostname":"n${i}","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","node.kubernetes.io/instance-type":"edge","beta.kubernetes.io/os":"linux","beta.kubernetes.io/arch":"amd64"}},"spec":{"podCIDR":"10.1.0.0/24"},"status":{"addresses":[{"type":"InternalIP","address":"172.16.${i >> 8}.${i & 255}"}]}}`
  )

const service = (i: number): void =>
  put(
    "services",
    `default/s${i}`,
    (rv) =>
      `{"kind":"Service","apiVersion":"v1","metadata":{"name":"s${i}","namespace":"default","uid":"service-${i}","resourceVersion":"${rv}","annotations":{"topologyKeys":"[\\"zone\\"]"},"labels":{"app":"a${i}"}},"spec":{"type":"ClusterIP","clusterIP":"10.96.${i >> 8}.${i & 255}","ports":[{"name":"http","port":80,"targetPort":8080,"protocol":"TCP"}],"selector":{"app":"a${i}"}}}`
  )

const MANAGED =
  '"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"discovery.k8s.io/v1","time":"2026-11-30T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:addressType":{},"f:endpoints":{},"f:metadata":{"f:annotations":{".":{},"f:endpoints.kubernetes.io/last-change-trigger-time":{}},"f:generateName":{},"f:labels":{".":{},"f:endpointslice.kubernetes.io/managed-by":{},"f:kubernetes.io/service-name":{}},"f:ownerReferences":{".":{},"k:{\\"uid\\":\\"u\\"}":{}}},"f:ports":{}}}]'

const endpoint = (slice: number, i: number): string => {
  const on = random(size.nodes)
  return `{"addresses":["10.${slice >> 8}.${slice & 255}.${i}"],"conditions":{"ready":true,"serving":true,"terminating":false},"nodeName":"n${on}","targetRef":{"kind":"Pod","namespace":"default","name":"s-${slice}-${i}"},"zone":"u"}`
}

const slice = (i: number): void =>
  put("endpointslices", `default/s${i % size.services}-${i}`, (rv) => {
    const name = `s${i % size.services}`
    const endpoints = Array.from({ length: size.endpoints }, (_, n) => endpoint(i, n)).join(",")
    const at = process.hrtime.bigint()
    return `{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{"name":"${name}-${i}","generateName":"${name}-","namespace":"default","uid":"slice-${i}","resourceVersion":"${rv}","generation":${rv},"labels":{"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io","kubernetes.io/service-name":"${name}"},"annotations":{"sent":"${at}"},${MANAGED}},"addressType":"IPv4","endpoints":[${endpoints}],"ports":[{"name":"http","protocol":"TCP","port":8080}]}`
  })

const TEMPLATE = `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"registry.example/team/store:1.2.3","env":[${Array.from(
  { length: 20 },
  (_, i) => `{"name":"SETTING_${i}","value":"a value of some length ${i}"}`
).join(",")}]}]}}`

/** A grid over the units of `zone`, its sets, its headless Service, and slices of a hundred endpoints. */
const named = (g: number, { units, pods }: { readonly units: number; readonly pods: number }): void => {
  const grid = `g${g}`
  put("statefulsetgrids", `default/${grid}`, (rv) => {
    const metadata = `{"name":"${grid}","namespace":"default","uid":"${grid}","resourceVersion":"${rv}"}`
    return `{"kind":"StatefulSetGrid","apiVersion":"superedge.io/v1","metadata":${metadata},"spec":{"gridUniqKey":"zone","template":{${TEMPLATE}}}}`
  })
  put("services", `default/${grid}-svc`, (rv) => {
    const metadata = `{"name":"${grid}-svc","namespace":"default","uid":"${grid}-svc","resourceVersion":"${rv}"}`
    return `{"kind":"Service","apiVersion":"v1","metadata":${metadata},"spec":{"clusterIP":"None"}}`
  })
  const endpoints: string[] = []
  for (let u = 0; u < units; u++) {
    const set = `${grid}-u${u}`
    put("statefulsets", `default/${set}`, (rv) => {
      const owner = `{"apiVersion":"superedge.io/v1","kind":"StatefulSetGrid","name":"${grid}","uid":"${grid}","controller":true}`
      const metadata = `{"name":"${set}","namespace":"default","uid":"${set}","resourceVersion":"${rv}","labels":{"superedge.io/grid-selector":"${grid}"},"annotations":{"superedge.io/grid-key":"zone","superedge.io/unit":"u${u}"},"ownerReferences":[${owner}]}`
      return `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":${metadata},"spec":{"serviceName":"${grid}-svc",${TEMPLATE}}}`
    })
    for (let n = 0; n < pods; n++) {
      const pod = `${set}-${n}`
      endpoints.push(
        `{"addresses":["10.${100 + g}.${u >> 7}.${((u & 127) << 1) | n}"],"conditions":{"ready":true},"hostname":"${pod}","nodeName":"n${u}","targetRef":{"kind":"Pod","namespace":"default","name":"${pod}"}}`
      )
    }
  }
  for (let i = 0; i * 100 < endpoints.length; i++)
    put("endpointslices", `default/${grid}-svc-${i}`, (rv) => {
      const labels = `{"kubernetes.io/service-name":"${grid}-svc","service.kubernetes.io/headless":""}`
      const metadata = `{"name":"${grid}-svc-${i}","namespace":"default","uid":"${grid}-svc-${i}","resourceVersion":"${rv}","labels":${labels},${MANAGED}}`
      const own = endpoints.slice(100 * i, 100 * (i + 1)).join(",")
      return `{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":${metadata},"addressType":"IPv4","endpoints":[${own}],"ports":[{"name":"http","protocol":"TCP","port":80}]}`
    })
}

const list = (name: Name, kind: string, query: URLSearchParams, response: ServerResponse): void => {
  const all = selected(name, query)
  const [at = "0", from = "0"] = (query.get("continue") ?? "").split("-").reverse()
  const start = Number(query.has("continue") ? at : from)
  const limit = Number(query.get("limit") ?? "0") || all.length
  const page = all.slice(start, start + limit)
  const more = start + limit < all.length ? `,"continue":"${revision}-${start + limit}"` : ""
  response.setHeader("content-type", "application/json")
  response.end(
    `{"kind":"${kind}List","apiVersion":"v1","metadata":{"resourceVersion":"${revision}"${more}},"items":[${page.join(",")}]}`
  )
}

const selected = (name: Name, query: URLSearchParams): readonly string[] => {
  const field = /^metadata\.name=(.*)$/.exec(query.get("fieldSelector") ?? "")?.[1]
  const { objects } = tables[name]
  if (field === undefined) return Array.from(objects.values(), ({ text }) => text)
  const found = objects.get(field) ?? objects.get(`default/${field}`)
  return found === undefined ? [] : [found.text]
}

const watch = (name: Name, query: URLSearchParams, response: ServerResponse): void => {
  const table = tables[name]
  response.writeHead(200, { "content-type": "application/json" })
  response.flushHeaders()
  // One object's watch: nothing of it changes here.
  if (query.has("fieldSelector")) return void table.quiet.add(response)
  const after = Number(query.get("resourceVersion") ?? "0")
  for (const event of table.events) if (event.revision > after) response.write(event.line)
  table.watchers.add(response)
  response.once("close", () => table.watchers.delete(response))
}

const KINDS = {
  nodes: "Node",
  services: "Service",
  endpointslices: "EndpointSlice",
  endpoints: "Endpoints",
  statefulsetgrids: "StatefulSetGrid",
  statefulsets: "StatefulSet"
} as const

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? "/", "http://upstream")
  const name = url.pathname.split("/").at(-1) as Name
  if (!Object.hasOwn(tables, name)) {
    response.statusCode = 404
    response.end("{}")
  } else if (url.searchParams.get("watch") === "true") watch(name, url.searchParams, response)
  else list(name, metadataOnly(request) ? "PartialObjectMetadata" : KINDS[name], url.searchParams, response)
}

/** The bench's nodes say that they are Nodes in either form: their texts are made once. */
const metadataOnly = (request: IncomingMessage): boolean =>
  (request.headers.accept ?? "").includes("PartialObjectMetadata")

const obey = async (order: Order): Promise<unknown> => {
  switch (order._tag) {
    case "Fill":
      size = order.size
      for (let i = 0; i < size.nodes; i++) node(i, i % size.units)
      for (let i = 0; i < size.services; i++) service(i)
      for (let i = 0; i < size.slices; i++) slice(i)
      return Array.from(tables.endpointslices.objects.values()).reduce(
        (sum, { text }) => sum + text.length,
        0
      )
    case "Name":
      for (let i = 0; i < order.units; i++) node(i, i)
      for (let i = 0; i < order.grids; i++) named(i, order)
      return "done"
    case "Update": {
      // In steps of 10 ms, by the clock: a late step makes up for it.
      const began = performance.now()
      for (let sent = 0; sent < order.count;) {
        const due = Math.min(order.count, Math.floor(((performance.now() - began) / 1000) * order.rate))
        for (; sent < due; sent++) slice(random(size.slices))
        await new Promise((go) => setTimeout(go, 2))
      }
      return order.count
    }
    case "Relabel": {
      const at = process.hrtime.bigint()
      for (let i = 0; i < order.nodes; i++) node(i * size.units + 7, 0)
      return String(at)
    }
    case "OwnUnit":
      node(0, order.unit)
      return "done"
  }
}

// As the API server does: a watch that says nothing for three minutes is opened again.
setInterval(() => {
  for (const [name, table] of Object.entries(tables)) {
    const object = `{"kind":"${KINDS[name as Name]}","apiVersion":"v1","metadata":{"resourceVersion":"${revision}"}}`
    for (const watcher of [...table.watchers, ...table.quiet])
      watcher.write(`{"type":"BOOKMARK","object":${object}}\n`)
  }
}, 60_000)

const server = createServer({ keepAliveTimeout: 75_000, noDelay: true }, answer)
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
process.on("message", (order: Order) => void obey(order).then((told) => process.send?.(told)))
process.on("disconnect", () => process.exit())
