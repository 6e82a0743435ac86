/**
 * The nodes' side: a wrapper for each node as a process of its own, and one relay between all of them and the cluster.
 *
 * What a wrapper shows is asked as kube-proxy asks: over HTTP, for the EndpointSlices of a Service.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Failed, reasonOf } from "./kubectl.ts"
import { lastWords, type Program, program } from "./program.ts"
import type { Relay } from "./relay.ts"
import { answersOf } from "./resolve.ts"
import { endpointsOf, type EndpointSlice, sameEndpoints, type View, type Resolved } from "./scene.ts"

export interface EdgeOptions {
  readonly nodes: readonly string[]
  /** the Service that is asked for */
  readonly service: string
  /** the headless Service that is asked for, and the nodes where it is: those whose wrappers serve CoreDNS too */
  readonly names: { readonly service: string; readonly nodes: readonly string[] }
  readonly relay: Relay
  /** leads through the relay */
  readonly kubeconfig: string
  /** where snapshots go */
  readonly folder: string
}

/** Starts a wrapper for each node; they end with the scope. */
export const edge = (o: EdgeOptions): Effect.Effect<Edge, Failed, Scope.Scope> =>
  Effect.gen(function* () {
    const started = new Edge(o, yield* Effect.scope, yield* Deferred.make<never, Failed>())
    yield* Effect.forEach(o.nodes, (node) => started.start(node), { discard: true })
    return started
  })

export class Edge {
  readonly relay: Relay
  readonly #o: EdgeOptions
  readonly #scope: Scope.Scope
  readonly #fallen: Deferred.Deferred<never, Failed>
  readonly #wrappers = new Map<string, Program>()
  /** by what it is for, and the node */
  readonly #ports = new Map<string, number>()

  constructor(o: EdgeOptions, scope: Scope.Scope, fallen: Deferred.Deferred<never, Failed>) {
    this.relay = o.relay
    this.#o = o
    this.#scope = scope
    this.#fallen = fallen
  }

  /** Fails when a wrapper ends by itself. */
  get ended(): Effect.Effect<never, Failed> {
    return Deferred.await(this.#fallen)
  }

  pid(node: string): number {
    return this.#wrappers.get(node)?.pid ?? 0
  }

  /** The address of a wrapper that listens, for kube-proxy or for CoreDNS. */
  url(node: string, client: Client = "kube-proxy"): string | undefined {
    const line = this.words(node).find(
      (each) => each.includes(SERVING) && each.includes(FOR_DNS) === (client === "CoreDNS")
    )
    const port = /\bport=(\d+)/.exec(line ?? "")?.[1]
    if (port === undefined) return undefined
    // The next one on this node listens where this one did, as its clients expect.
    this.#ports.set(`${client} ${node}`, Number(port))
    return `http://127.0.0.1:${port}`
  }

  /** The wrapper of a node that has none. */
  start(node: string): Effect.Effect<void, Failed> {
    const { kubeconfig, folder } = this.#o
    return Effect.gen(this, function* () {
      const started = yield* program({
        name: `the wrapper of ${node}`,
        file: new URL("./wrapper.mjs", import.meta.url),
        args: [
          `--node-name=${node}`,
          `--kubeconfig=${kubeconfig}`,
          `--listen=${this.#address(node, "kube-proxy")}`,
          ...(this.#o.names.nodes.includes(node) ? [`--dns-listen=${this.#address(node, "CoreDNS")}`] : []),
          `--snapshot=${join(folder, node)}`,
          "--snapshot-interval=1s",
          "--health-address=off",
          "--log-format=text"
        ]
      })
      this.#wrappers.set(node, started)
      yield* Effect.forkScoped(
        Effect.catchAll(started.ended, (failed) =>
          this.#wrappers.get(node) === started ? Deferred.fail(this.#fallen, failed) : Effect.void
        )
      )
    }).pipe(Scope.extend(this.#scope))
  }

  /** Ends the wrapper of a node with SIGKILL: it can't write down anything any more. */
  kill(node: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const running = this.#wrappers.get(node)
      this.#wrappers.delete(node)
      return running?.kill ?? Effect.void
    })
  }

  /** Waits until the snapshot of a node holds these slices of the Services that are asked for as they are. */
  kept(node: string, slices: readonly EndpointSlice[]): Effect.Effect<void, Failed> {
    const { folder, service, names } = this.#o
    const services = [service, names.service]
    const wanted = services.map((each) => endpointsOf(slices, each))
    const holds = Effect.promise(() => readFile(join(folder, node, "snapshot"), "utf8").catch(() => "")).pipe(
      Effect.map((text) => {
        const found = text.split("\n").flatMap(slice)
        return services.every((each, i) => sameEndpoints(endpointsOf(found, each), wanted[i] ?? []))
      })
    )
    return Effect.gen(this, function* () {
      const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(PATIENCE)
      while (!(yield* holds)) {
        if ((yield* Clock.currentTimeMillis) > deadline) {
          const message = `the wrapper of ${node} has not kept what it was told last`
          return yield* new Failed({ message: lastWords(message, this.words(node)) })
        }
        yield* Effect.sleep(GLANCE)
      }
    })
  }

  /** What every node is shown now. */
  look(): Effect.Effect<readonly View[]> {
    const { nodes, service } = this.#o
    return Effect.forEach(
      nodes,
      (node) => this.#ask(node, "kube-proxy", service, (slices) => endpointsOf(slices, service)),
      { concurrency: "unbounded" }
    )
  }

  /** What names lead to now, where they are asked for. */
  resolve(): Effect.Effect<readonly Resolved[]> {
    const { nodes, service } = this.#o.names
    return Effect.forEach(
      nodes,
      (node) => this.#ask(node, "CoreDNS", service, (slices) => answersOf(slices, service)),
      { concurrency: "unbounded" }
    )
  }

  /** What the wrapper of a node wrote last. */
  words(node: string): readonly string[] {
    return this.#wrappers.get(node)?.words() ?? []
  }

  #address(node: string, client: Client): string {
    return `127.0.0.1:${this.#ports.get(`${client} ${node}`) ?? 0}`
  }

  #ask<A>(
    node: string,
    client: Client,
    service: string,
    read: (slices: readonly EndpointSlice[]) => A
  ): Effect.Effect<{ readonly node: string; readonly got: A | string }> {
    return Effect.suspend(() => {
      const url = this.url(node, client)
      return url === undefined
        ? Effect.succeed({ node, got: "its wrapper is starting" })
        : Effect.merge(answer(url + pathOf(service), client)).pipe(
            Effect.map((got) => ({ node, got: typeof got === "string" ? got : read(got) }))
          )
    })
  }
}

/** Who asks a wrapper. */
type Client = "kube-proxy" | "CoreDNS"

const pathOf = (service: string): string =>
  `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${service}`)}`

/** The slices at an address, or why they aren't told. */
const answer = (url: string, client: Client): Effect.Effect<readonly EndpointSlice[], string> =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, {
        headers: { "user-agent": client },
        signal: AbortSignal.timeout(ANSWER_MS)
      })
      const body = (await response.json()) as {
        readonly items?: readonly EndpointSlice[]
        readonly message?: string
      }
      if (body.items === undefined) throw new Error(`${response.status} ${body.message ?? ""}`)
      return body.items
    },
    catch: (cause) => `no answer: ${reasonOf(cause)}`
  })

/** What a line of a snapshot says of a slice. */
const slice = (line: string): readonly EndpointSlice[] => {
  try {
    const found: unknown = JSON.parse(line)
    return isSlice(found) ? [found] : []
  } catch {
    return []
  }
}

const isSlice = (found: unknown): found is EndpointSlice =>
  typeof found === "object" && found !== null && "endpoints" in found && "metadata" in found

/** How a wrapper's log says that it listens. */
const SERVING = "message=serving "
const FOR_DNS = " for=DNS"

const GLANCE = Duration.millis(60)

/** How long a snapshot may take. */
const PATIENCE = Duration.seconds(15)

/** Milliseconds that an answer may take. */
const ANSWER_MS = 2000
