import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  DEPLOYMENTS,
  NODES,
  PODS,
  RUNS,
  SERVICES,
  SETS,
  deployment,
  endpointsOf,
  isReady,
  podsOf,
  service,
  slicesOf,
  stageOf,
  statefulSet,
  type Stage
} from "./stage.ts"

describe("endpoint slices", () => {
  it("hold the running pods of the selector, each once, whatever happened before", () => {
    const act = fc.oneof(
      fc.record({ scale: fc.integer({ min: 0, max: 7 }), app: fc.constantFrom("web", "api") }),
      fc.record({ kill: fc.nat(10) }),
      fc.record({ unready: fc.nat(10) }),
      fc.record({ select: fc.constantFrom("web", "api", "none") })
    )
    fc.assert(
      fc.property(fc.array(act, { maxLength: 10 }), fc.nat(6), (acts, turns) => {
        const stage = begun()
        let selected = "web"
        for (const each of acts) {
          const pods = stage.all("/pods")
          if ("scale" in each)
            stage.must("PATCH", `${DEPLOYMENTS}/${each.app}`, { spec: { replicas: each.scale } })
          else if ("select" in each) {
            selected = each.select
            stage.must("PATCH", `${SERVICES}/front`, { spec: { selector: { app: selected } } })
          } else {
            const pod = pods[("kill" in each ? each.kill : each.unready) % Math.max(1, pods.length)]
            if (pod !== undefined && "kill" in each) stage.must("DELETE", `${PODS}/${pod.metadata.name}`)
            if (pod !== undefined && "unready" in each)
              stage.must("PATCH", `${PODS}/${pod.metadata.name}`, { metadata: { labels: { app: "other" } } })
          }
          for (let count = 0; count < turns; count++) stage.turn()
        }
        stage.settle()
        const wanted = podsOf(stage, selected).map(
          (pod) => `${pod.status?.podIP} ${pod.spec.nodeName} ${isReady(pod)}`
        )
        const shown = endpointsOf(stage, "front").map(
          (each) => `${each.addresses[0]} ${each.nodeName} ${each.conditions?.ready}`
        )
        expect(shown.toSorted()).toEqual(wanted.toSorted())
      }),
      RUNS
    )
  })

  it.each([
    [{}, "unready", { ready: false, serving: false, terminating: false }],
    [{}, "leaving", { ready: false, serving: true, terminating: true }],
    [{ publishNotReadyAddresses: true }, "unready", { ready: true, serving: false, terminating: false }],
    [{ publishNotReadyAddresses: true }, "leaving", { ready: true, serving: true, terminating: true }]
  ])("of a service %j show a pod that is %s as %j", (spec, state, conditions) => {
    const stage = begun()
    stage.must("PATCH", `${SERVICES}/front`, { spec })
    const [pod] = podsOf(stage, "web")
    const path = `${PODS}/${pod?.metadata.name}`
    if (state === "unready") {
      const ready = { type: "Ready", status: "False" }
      stage.must("PATCH", `${path}/status`, { status: { conditions: [ready] } })
    } else {
      stage.must("PATCH", path, { metadata: { finalizers: ["example.com/wait"] } })
      stage.must("DELETE", path)
    }
    stage.settle()
    const shown = endpointsOf(stage, "front")
    expect(shown.find((each) => each.addresses[0] === pod?.status?.podIP)?.conditions).toEqual(conditions)
  })

  it("hold at most 100 endpoints each", () => {
    const stage = begun(3)
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { replicas: 250 } })
    stage.settle()
    const sizes = slicesOf(stage, "front").map((slice) => slice.endpoints?.length ?? 0)
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBe(250)
    expect(sizes.toSorted((one, other) => one - other)).toEqual([50, 100, 100])
  })

  it("say where an endpoint is and what it is", () => {
    const stage = begun()
    const [slice] = slicesOf(stage, "front")
    const [pod] = podsOf(stage, "web")
    expect(slice?.metadata.labels).toEqual({
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      "kubernetes.io/service-name": "front"
    })
    expect(slice?.metadata.ownerReferences?.[0]).toMatchObject({
      kind: "Service",
      name: "front",
      controller: true
    })
    expect(slice).toMatchObject({
      addressType: "IPv4",
      endpoints: [
        {
          addresses: [pod?.status?.podIP],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: "n0",
          zone: "bj",
          targetRef: { kind: "Pod", namespace: "default", name: pod?.metadata.name, uid: pod?.metadata.uid }
        }
      ],
      ports: [{ name: "", port: 8080, protocol: "TCP" }]
    })
  })

  it("of a headless service bear the pods' host names", () => {
    const stage = begun()
    stage.must("POST", SERVICES, service("db", "db", { clusterIP: "None", ports: [] }))
    stage.must("POST", SETS, statefulSet("db", { replicas: 2 }))
    stage.settle()
    const [slice] = slicesOf(stage, "db")
    expect(slice?.metadata.labels?.["service.kubernetes.io/headless"]).toBe("")
    expect(slice?.endpoints?.map((each) => each.hostname)).toEqual(["db-0", "db-1"])
  })

  it("of a service without pods are one, without endpoints", () => {
    const stage = begun()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { replicas: 0 } })
    stage.settle()
    expect(slicesOf(stage, "front").map((slice) => slice.endpoints ?? [])).toEqual([[]])
  })

  it("go with their service", () => {
    const stage = begun()
    stage.must("DELETE", `${SERVICES}/front`)
    stage.settle()
    expect(slicesOf(stage, "front")).toEqual([])
  })

  it("come back when somebody deletes one", () => {
    const stage = begun()
    const before = endpointsOf(stage, "front")
    const name = slicesOf(stage, "front")[0]?.metadata.name
    stage.must("DELETE", `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${name}`)
    stage.settle()
    expect(endpointsOf(stage, "front")).toEqual(before)
  })

  it("follow the zone of a node", () => {
    const stage = begun()
    stage.must("PATCH", `${NODES}/n0`, { metadata: { labels: { "topology.kubernetes.io/zone": "gz" } } })
    stage.settle()
    expect(endpointsOf(stage, "front").map((each) => each.zone)).toEqual(["gz"])
  })
})

/** One node, two deployments, and a service in front of the first. */
const begun = (nodes = 1): Stage => {
  const stage = stageOf(nodes, { labels: { "topology.kubernetes.io/zone": "bj" } })
  stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1 }))
  stage.must("POST", DEPLOYMENTS, deployment("api", { replicas: 1 }))
  stage.must("POST", SERVICES, service("front", "web"))
  stage.settle()
  return stage
}
