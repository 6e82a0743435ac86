import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { KubeObject } from "../../src/embedded/cluster.ts"
import type { Subset } from "../../src/embedded/subsets.ts"
import {
  DEPLOYMENTS,
  NODES,
  PODS,
  SERVICES,
  Stage,
  deployment,
  endpointsOf,
  isReady,
  node,
  podsOf,
  service,
  slicesOf,
  stageOf
} from "./stage.ts"
import { controllers } from "../../src/embedded/controllers.ts"

describe("endpoints", () => {
  it("are the pods of the Service, ready and not, as its slices have them, in every story", () => {
    fc.assert(
      fc.property(fc.array(act, { minLength: 1, maxLength: 12 }), (acts) => {
        const stage = stageOf(2)
        stage.must("POST", SERVICES, service("web", "web", { publishNotReadyAddresses: false }))
        for (const each of acts) perform(stage, each)
        stage.settle()
        expect(reached(stage)).toEqual(podsReached(stage))
        expect(reached(stage)).toEqual(slicesReached(stage))
      }),
      { numRuns: 300 }
    )
  })

  it("are left alone by a step too many", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 8 }), (acts) => {
        const stage = stageOf(2)
        stage.must("POST", SERVICES, service("web", "web"))
        for (const each of acts) perform(stage, each)
        stage.settle()
        // an annotation makes the controllers look again
        stage.must("PATCH", `${SERVICES}/web`, { metadata: { annotations: { look: "again" } } })
        expect(stage.settle()).toEqual([])
      }),
      { numRuns: 300 }
    )
  })

  it("name the pod, its node and its address", () => {
    const stage = running(1)
    const [pod] = podsOf(stage, "web")
    expect(endpointsNamed(stage, "web")?.subsets).toEqual([
      {
        addresses: [
          {
            ip: pod?.status?.podIP,
            nodeName: pod?.spec.nodeName,
            targetRef: { kind: "Pod", namespace: "default", name: pod?.metadata.name, uid: pod?.metadata.uid }
          }
        ],
        ports: [{ port: 8080, protocol: "TCP" }]
      }
    ])
  })

  it("show a pod that isn't ready apart, or as ready where the Service wants that", () => {
    const stage = unready()
    stage.must("POST", SERVICES, service("shy", "web"))
    stage.must("POST", SERVICES, service("bold", "web", { publishNotReadyAddresses: true }))
    stage.settle()
    const [shy, bold] = ["shy", "bold"].map((name) => endpointsNamed(stage, name)?.subsets?.[0])
    expect([shy?.addresses, shy?.notReadyAddresses?.length]).toEqual([undefined, 1])
    expect([bold?.addresses?.length, bold?.notReadyAddresses]).toEqual([1, undefined])
  })

  it("bear the labels of the Service, and say where it is headless", () => {
    const stage = running(1)
    const labelled = (name: string, spec: object): object => ({
      ...service(name, "web", spec),
      metadata: { name, labels: { tier: "front", "service.kubernetes.io/headless": "said" } }
    })
    stage.must("POST", SERVICES, labelled("plain", {}))
    stage.must("POST", SERVICES, labelled("headless", { clusterIP: "None" }))
    stage.settle()
    const own = { tier: "front", "endpoints.kubernetes.io/managed-by": "endpoint-controller" }
    expect(endpointsNamed(stage, "plain")?.metadata.labels).toEqual(own)
    expect(endpointsNamed(stage, "headless")?.metadata.labels).toEqual({ ...own, ...HEADLESS })
    expect(slicesOf(stage, "plain")[0]?.metadata.labels).not.toHaveProperty("service.kubernetes.io/headless")
    expect(slicesOf(stage, "headless")[0]?.metadata.labels).toMatchObject(HEADLESS)
  })

  it("of a headless Service without ports have none", () => {
    const stage = running(1)
    stage.must("POST", SERVICES, service("bare", "web", { clusterIP: "None", ports: [] }))
    stage.settle()
    const [subset] = endpointsNamed(stage, "bare")?.subsets ?? []
    expect([subset?.addresses?.length, subset?.ports]).toEqual([1, undefined])
  })

  it("leave out the port of a name that no container has", () => {
    const stage = running(1)
    const ports = [
      { name: "known", port: 80, targetPort: "http" },
      { name: "unknown", port: 81, targetPort: "gone" }
    ]
    stage.must("POST", SERVICES, service("two", "web", { ports }))
    stage.must("POST", SERVICES, service("none", "web", { ports: ports.slice(1) }))
    stage.settle()
    expect(endpointsNamed(stage, "two")?.subsets?.[0]?.ports).toEqual([
      { name: "known", port: 8080, protocol: "TCP" }
    ])
    expect(endpointsNamed(stage, "none")?.subsets).toBeUndefined()
  })

  it("of a Service without a selector are its user's", () => {
    const stage = stageOf(1)
    stage.must("POST", SERVICES, { metadata: { name: "own" }, spec: { ports: [{ port: 80 }] } })
    stage.settle()
    expect(endpointsNamed(stage, "own")).toBeUndefined()
    const subsets = [{ addresses: [{ ip: "10.9.0.1" }], ports: [{ port: 80 }] }]
    stage.must("POST", ENDPOINTS, { metadata: { name: "own" }, subsets })
    stage.settle()
    expect(endpointsNamed(stage, "own")?.subsets?.[0]?.addresses).toEqual([{ ip: "10.9.0.1" }])
  })

  it("go with their Service, and come back while it is there", () => {
    const stage = running(1)
    stage.must("DELETE", `${ENDPOINTS}/web`)
    stage.settle()
    expect(endpointsNamed(stage, "web")?.subsets).toHaveLength(1)
    stage.must("DELETE", `${SERVICES}/web`)
    stage.settle()
    expect(endpointsNamed(stage, "web")).toBeUndefined()
  })

  it("say when the change was: of the Service at first, of a pod that came, of none that went", () => {
    const stage = stageOf(1)
    stage.must("POST", SERVICES, service("web", "web"))
    stage.settle()
    expect(triggers(stage)).toEqual(["2026-11-29T12:00:00Z", "2026-11-29T12:00:00Z"])
    stage.wait(60_000)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1 }))
    stage.settle()
    expect(triggers(stage)).toEqual(["2026-11-29T12:01:00Z", "2026-11-29T12:01:00Z"])
    stage.wait(60_000)
    stage.must("DELETE", `${DEPLOYMENTS}/web`)
    stage.settle()
    expect(triggers(stage)).toEqual([undefined, undefined])
  })

  it("tell nothing of pods that are over or have no address", () => {
    const stage = new Stage(controllers(["endpoints"]))
    stage.must("POST", SERVICES, service("web", "web"))
    for (const [name, status] of [
      ["over", { phase: "Succeeded", podIPs: [{ ip: "10.1.0.1" }] }],
      ["failed", { phase: "Failed", podIPs: [{ ip: "10.1.0.2" }] }],
      ["nowhere", { phase: "Pending" }]
    ] as const)
      posted(stage, name, status)
    stage.settle()
    expect(endpointsNamed(stage, "web")?.subsets).toBeUndefined()
  })
})

type Act =
  | { readonly _tag: "Scale"; readonly replicas: number }
  | { readonly _tag: "Turn" }
  | { readonly _tag: "Delete"; readonly pod: number }
  | { readonly _tag: "Select"; readonly app: string }
  | { readonly _tag: "Break"; readonly pod: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ _tag: fc.constant("Scale" as const), replicas: fc.nat(4) }),
  fc.record({ _tag: fc.constant("Turn" as const) }),
  fc.record({ _tag: fc.constant("Delete" as const), pod: fc.nat(3) }),
  fc.record({ _tag: fc.constant("Break" as const), pod: fc.nat(3) }),
  fc.record({ _tag: fc.constant("Select" as const), app: fc.constantFrom("web", "other") })
)

const perform = (stage: Stage, what: Act): void => {
  if (what._tag === "Turn") {
    stage.turn()
    return
  }
  if (what._tag === "Select") {
    stage.must("PATCH", `${SERVICES}/web`, { spec: { selector: { app: what.app } } })
    return
  }
  if (what._tag === "Scale") {
    const exists = stage.ask("GET", `${DEPLOYMENTS}/web`).code === 200
    if (exists) stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { replicas: what.replicas } })
    else stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: what.replicas }))
    return
  }
  const pod = podsOf(stage, "web")[what.pod]
  if (pod === undefined) return
  if (what._tag === "Delete") stage.ask("DELETE", `${PODS}/${pod.metadata.name}`)
  else stage.ask("PATCH", `${PODS}/${pod.metadata.name}/status`, { status: NOT_READY })
}

const NOT_READY = {
  conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-11-29T12:00:30Z" }]
}

const ENDPOINTS = "/api/v1/namespaces/default/endpoints"
const HEADLESS = { "service.kubernetes.io/headless": "" }

interface Endpoints extends KubeObject {
  readonly subsets?: readonly Subset[]
}

const endpointsNamed = (stage: Stage, name: string): Endpoints | undefined =>
  stage.all<Endpoints>("/endpoints").find((each) => each.metadata.name === name)

const running = (replicas: number): Stage => {
  const stage = stageOf(1)
  stage.must("POST", DEPLOYMENTS, deployment("web", { replicas }))
  stage.must("POST", SERVICES, service("web", "web"))
  stage.settle()
  return stage
}

/** A pod with an address that isn't ready. */
const unready = (): Stage => {
  const stage = new Stage(controllers(["endpoints", "slices"]))
  stage.must("POST", NODES, node("n0"))
  posted(stage, "a", { podIPs: [{ ip: "10.1.0.1" }], ...NOT_READY })
  return stage
}

const posted = (stage: Stage, name: string, status: object): void => {
  const spec = {
    nodeName: "n0",
    containers: [{ name: "c", image: "i", ports: [{ name: "http", containerPort: 8080 }] }]
  }
  stage.must("POST", PODS, { metadata: { name, labels: { app: "web" } }, spec })
  stage.must("PATCH", `${PODS}/${name}/status`, { status })
}

/** `address ready`, of what the Endpoints say. */
const reached = (stage: Stage): readonly string[] =>
  (endpointsNamed(stage, "web")?.subsets ?? [])
    .flatMap(({ addresses, notReadyAddresses }) => [
      ...(addresses ?? []).map(({ ip }) => `${ip} true`),
      ...(notReadyAddresses ?? []).map(({ ip }) => `${ip} false`)
    ])
    .toSorted()

/** The same, of the pods that the Service selects. */
const podsReached = (stage: Stage): readonly string[] => {
  const web = stage.all("/services").find(({ metadata }) => metadata.name === "web") as unknown as {
    readonly spec: { readonly selector: { readonly app: string } }
  }
  return podsOf(stage, web.spec.selector.app)
    .filter((pod) => pod.status?.podIP !== undefined && !pod.metadata.deletionTimestamp)
    .map((pod) => `${pod.status?.podIP} ${isReady(pod)}`)
    .toSorted()
}

/** The same, of its slices. */
const slicesReached = (stage: Stage): readonly string[] =>
  endpointsOf(stage, "web")
    .map(({ addresses, conditions }) => `${addresses[0]} ${conditions?.ready}`)
    .toSorted()

/** When the Endpoints and the slice say that the change was which they tell. */
const triggers = (stage: Stage): readonly (string | undefined)[] =>
  [endpointsNamed(stage, "web"), slicesOf(stage, "web")[0]].map(
    (each) => each?.metadata.annotations?.["endpoints.kubernetes.io/last-change-trigger-time"]
  )
