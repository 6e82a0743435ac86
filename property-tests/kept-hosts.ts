/**
 * The whole DNS daemon in this process, before the embedded cluster with its controllers, with a relay between them that does what a network
 * does. Its own clock runs twenty times as fast as the machine's.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { always } from "../cluster-tests/relay-script.ts"
import { relay, type Relay } from "../cluster-tests/relay.ts"
import type { StatefulSetGrid } from "../src/core/grid.ts"
import type { Node } from "../src/core/kube.ts"
import { workloads } from "../src/core/workloads.ts"
import { type Embedded, embedded } from "../src/embedded/server.ts"
import * as Api from "../src/shell/api.ts"
import { dns } from "../src/shell/dns.ts"
import { Readiness, type ReadinessService } from "../src/shell/health.ts"
import { until } from "./effect.ts"
import { hurried, kubeconfig } from "./wrapped.ts"

/** A cluster with nodes, and a folder for what is kept of it. */
export class Place {
  readonly #api: Embedded
  readonly #relay: Relay
  readonly folder: string
  /** in a folder of its own */
  readonly file: string

  constructor(api: Embedded, between: Relay, folder: string) {
    this.#api = api
    this.#relay = between
    this.folder = folder
    this.file = join(folder, "dns", "hosts")
    mkdirSync(join(folder, "dns"))
  }

  get url(): string {
    return this.#relay.server
  }

  /** Sends a request, and lets the controllers do what comes of it. */
  ask(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object, query = {}): unknown {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const answer = this.#api.request({ method, path, query, body, contentType })
    if (answer.code >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    this.#api.settle()
    return answer.body
  }

  /** Installs the definition of StatefulSetGrids. */
  install(): void {
    const crd = readFileSync(join(import.meta.dirname, "../manifests/crds/statefulsetgrids.yaml"), "utf8")
    this.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", parse(crd) as object)
  }

  node(name: string, labels: { readonly [key: string]: string }): void {
    this.ask("POST", NODES, { apiVersion: "v1", kind: "Node", metadata: { name, labels } })
  }

  /** A headless Service of what carries the label `app`, or what else its spec says. */
  service(name: string, app: string, spec: object = {}): void {
    const ports = [{ port: 80 }]
    this.ask("POST", SERVICES, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { clusterIP: "None", selector: { app }, ports, ...spec }
    })
  }

  /** A StatefulSetGrid with the sets of its units, as the controller makes them. */
  grid(name: string, o: { readonly key: string; readonly service: string; readonly app: string }): void {
    const labels = { app: o.app }
    const template = {
      serviceName: o.service,
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "web:1" }] } }
    }
    const grid = this.ask("POST", SSGS, {
      apiVersion: "superedge.io/v1",
      kind: "StatefulSetGrid",
      metadata: { name },
      spec: { gridUniqKey: o.key, template }
    }) as StatefulSetGrid
    const { items } = this.ask("GET", NODES) as { readonly items: readonly Node[] }
    for (const each of workloads(grid, items).wanted) this.ask("POST", SETS, each)
  }

  /** The address of a pod, which is there. */
  address(pod: string): string {
    const { status } = this.ask("GET", `${PODS}/${pod}`) as { readonly status: { readonly podIP: string } }
    return status.podIP
  }

  /** how many requests the daemon has made */
  get asked(): number {
    return this.#relay.passed.length
  }

  away(): void {
    this.#relay.play([always({ verb: "request" }, { _tag: "Reset", moment: "before" })])
    this.#relay.cut()
  }

  back(): void {
    this.#relay.calm()
  }

  /** What is in the file; undefined where there is none. */
  get text(): string | undefined {
    try {
      return readFileSync(this.file, "utf8")
    } catch {
      return undefined
    }
  }

  /** The names in the file with their addresses, sorted; the part of a name that all have is left out. */
  named(domain = "default.svc.cluster.local"): { readonly [name: string]: string } {
    const found: [string, string][] = (this.text ?? "")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .flatMap((line) => {
        const [address = "", ...all] = line.split(" ")
        return all.map((name): [string, string] => [name.replace(`.${domain}`, ""), address])
      })
    const names = Map.groupBy(found, ([name]) => name)
    return Object.fromEntries([...names].map(([name, all]) => [name, all.map(([, to]) => to).join(" ")]))
  }
}

export const NODES = "/api/v1/nodes"
export const PODS = "/api/v1/namespaces/default/pods"
export const SERVICES = "/api/v1/namespaces/default/services"
export const SETS = "/apis/apps/v1/namespaces/default/statefulsets"
export const SSGS = "/apis/superedge.io/v1/namespaces/default/statefulsetgrids"
export const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

/** A cluster that knows no grids. */
export const bare: Effect.Effect<Place, never, Scope.Scope> = Effect.gen(function* () {
  const api = yield* Effect.orDie(embedded({ port: 0 }))
  const between = yield* Effect.acquireRelease(
    Effect.promise(() => relay({ to: api.url, tls: undefined, kill: () => undefined })),
    ({ stop }) => Effect.promise(stop)
  )
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kept-hosts-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  return new Place(api, between, folder)
})

/** A cluster that knows StatefulSetGrids. */
export const place: Effect.Effect<Place, never, Scope.Scope> = Effect.tap(bare, (at) =>
  Effect.sync(() => at.install())
)

/** A daemon that runs. */
export interface Daemon {
  readonly readiness: ReadinessService
  /** what it logged of warnings and news */
  readonly lines: readonly string[]
  readonly stop: Effect.Effect<void>
}

export interface Told {
  readonly node: string
  readonly clusterDomain?: string
}

/** A daemon that keeps the place's file; stopped with the scope, where it wasn't before. */
export const daemon = (at: Place, told: Told): Effect.Effect<Daemon, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lines: string[] = []
    const catching = Logger.make(({ message }) => void lines.push([message].flat().map(String).join(" ")))
    const readiness = Effect.runSync(Effect.provide(Readiness, Readiness.layer))
    const settings = {
      hostsFile: at.file,
      clusterDomain: "cluster.local",
      relistInterval: 86_400,
      ...told
    }
    const access = { kubeconfig: kubeconfig({ url: at.url, folder: at.folder }), context: "" }
    const running = dns(settings).pipe(
      Effect.provide(Api.layer(access)),
      Effect.provideService(Readiness, readiness),
      Effect.withClock(hurried(20)),
      Effect.provide(Logger.replace(Logger.defaultLogger, catching)),
      Effect.tapErrorCause((cause) => Effect.sync(() => lines.push(String(cause))))
    )
    const fiber = yield* Effect.acquireRelease(
      Effect.forkDaemon(Effect.interruptible(running)),
      Fiber.interrupt
    )
    return { readiness, lines, stop: Effect.asVoid(Fiber.interrupt(fiber)) }
  })

/** Waits until the file names exactly this. */
export const names = (at: Place, all: { readonly [name: string]: string }, domain?: string) =>
  Effect.suspend(() => {
    const text = (of: { readonly [name: string]: string }): string =>
      JSON.stringify(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const wanted = text(all)
    return until(`${wanted} (it is ${text(at.named(domain))} now)`, () => text(at.named(domain)) === wanted)
  })
