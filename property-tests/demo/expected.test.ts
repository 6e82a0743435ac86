import { describe, expect, it } from "vitest"
import { end, restarted, beijing } from "../../src/commands/demo/expected.ts"
import { changed, NEW, OLD, theEnd } from "./scenes.ts"

/** What is wrong, at which path, what is there instead (undefined: nothing), and what is said of it. */
type Case = readonly [what: string, path: string, value: unknown, message: string]

/** Cases of what stands at one place, and the words with which all of their messages begin. */
const about = (subject: string, place: string, cases: readonly Case[]): readonly Case[] =>
  cases.map(([what, path, value, message]) => [what, `${place}.${path}`, value, `${subject} ${message}`])

const shanghai = {
  ...theEnd.workloads[0],
  metadata: { ...theEnd.workloads[0]?.metadata, name: "deploymentgrid-demo-shanghai" }
}

describe("end", () => {
  it("misses nothing where all is as it should be", () => {
    expect(end(theEnd)).toEqual([])
  })

  it.each<Case>([
    [
      "a Deployment that isn't there",
      "workloads.1",
      undefined,
      "there is no Deployment deploymentgrid-demo-guangzhou"
    ],
    [
      "a Deployment too many",
      "workloads.2",
      shanghai,
      "there is still a Deployment deploymentgrid-demo-shanghai"
    ],
    ["a grid that isn't there", "grids.0", undefined, "there is no DeploymentGrid deploymentgrid-demo"],
    ["a Service that isn't there", "services.0", undefined, "there is no Service servicegrid-demo-svc"],
    [
      "a Service of somebody else",
      "services.0.metadata.ownerReferences.0.uid",
      "uid-else",
      "there is no Service servicegrid-demo-svc"
    ],
    ["a node that stayed", "nodes.6", { metadata: { name: "sh-1" } }, "there are 7 nodes, not 6"],
    ...about("deploymentgrid-demo-beijing has", "workloads.0", [
      ["an image of another unit", "spec.template.spec.containers.0.image", NEW, `image ${NEW}, not ${OLD}`],
      [
        "a node selector of another unit",
        "spec.template.spec.nodeSelector.location",
        "guangzhou",
        "nodeSelector location=guangzhou, not beijing"
      ],
      ["a label that somebody gave", "metadata.labels.team", undefined, "label team=absent, not edge"]
    ]),
    ...about("deploymentgrid-demo-guangzhou has", "workloads.1", [
      ["replicas of another template", "spec.replicas", 2, "replicas 2, not 3"],
      ["a pod that isn't ready, in the Deployment's status", "status.readyReplicas", 2, "2 of 3 pods ready"],
      ["a status of an older generation", "status.observedGeneration", 2, "0 of 3 pods ready"]
    ]),
    ...about(`1 pods are on the nodes of beijing, 1 of them ready with ${OLD};`, "pods.0", [
      ["a pod on a node of another unit", "spec.nodeName", "gz-1", "it should be 2"]
    ]),
    ...about(`3 pods are on the nodes of guangzhou, 2 of them ready with ${NEW};`, "pods.4", [
      ["a pod with another image", "spec.containers.0.image", OLD, "it should be 3"],
      ["a pod that isn't ready, in its own status", "status.conditions.0.status", "False", "it should be 3"]
    ]),
    ...about("DeploymentGrid deploymentgrid-demo has condition", "grids.0.status.conditions", [
      ["a condition that says no", "0.status", "False", "Ready False (AllUnitsReady: it is), not True"],
      ["a condition that isn't there", "2", undefined, "Degraded absent (-: -), not False"]
    ]),
    ...about("DeploymentGrid deploymentgrid-demo has", "grids.0.metadata", [
      ["a status of another generation", "generation", 3, "no status of its generation 3 yet"]
    ]),
    ...about("the status of deploymentgrid-demo tells", "grids.0.status", [
      ["another count of units", "readyUnits", 1, "1 of 2 units ready, not 2 of 2"]
    ]),
    ...about("ServiceGrid servicegrid-demo has condition Degraded", "serviceGrids.0.status.conditions.2", [
      ["the ServiceGrid's own condition", "status", "True", "True (AsExpected: nothing is wrong), not False"]
    ]),
    ...about("Service servicegrid-demo-svc has topologyKeys", "services.0.metadata.annotations", [
      ["another annotation", "topologyKeys", undefined, 'absent, not ["location"]']
    ]),
    ...about("Service servicegrid-demo-svc has", "services.0", [
      ["a Service without address", "spec.clusterIP", undefined, "no clusterIP"]
    ]),
    ...about("Service servicegrid-demo-svc has", "slices.0", [
      ["an endpoint that isn't ready", "endpoints.0.conditions.ready", false, "4 ready endpoints, not 5"]
    ]),
    ...about("NodeUnit guangzhou has", "nodeUnits.3.status", [
      [
        "a node that isn't ready",
        "readyRate",
        "3/4",
        "3/4 nodes ready: bj-3, gz-1, gz-2, gz-3; it should be gz-1, gz-2, gz-3, bj-3"
      ],
      [
        "a node that isn't in its unit",
        "readyNodes.0",
        undefined,
        "4/4 nodes ready: gz-1, gz-2, gz-3; it should be gz-1, gz-2, gz-3, bj-3"
      ]
    ]),
    ...about("NodeUnit beijing has", "nodeUnits", [
      ["a unit that isn't there", "2", undefined, "- nodes ready: none; it should be bj-1, bj-2"]
    ]),
    ...about("NodeGroup location has the units", "nodeGroups.0.status.nodeUnits", [
      [
        "a group without one of its units",
        "2",
        undefined,
        "beijing, guangzhou, not beijing, guangzhou, shanghai"
      ]
    ]),
    ...about("node bj-3 has", "nodes.2.metadata.labels", [
      ["a node without its group's label", "location", "beijing", "location=beijing, not guangzhou"],
      ["a node without its unit's mark", "guangzhou", undefined, "guangzhou=, not nodeunits.superedge.io"]
    ]),
    ["wrappers that are cut off", "upstream", "Cut", "the wrappers are cut off"],
    ["a node that isn't answered", "views.1.got", "no answer", "kube-proxy on bj-2: no answer"],
    [
      "a node that is shown nothing",
      "views.1.got",
      [],
      "kube-proxy on bj-2 gets nothing; it should be x1 on bj-1, x2 on bj-2"
    ]
  ])("names %s", (_, path, value, message) => {
    expect(end(changed(theEnd, path, value))).toContain(message)
  })
})

describe("restarted", () => {
  it("names nothing where the same pods run", () => {
    expect(restarted(theEnd, theEnd, beijing)).toEqual([])
  })

  it("counts the pods that were not there before", () => {
    const now = changed(theEnd, "pods.0.metadata.uid", "uid-new")
    expect(restarted(now, theEnd, beijing)).toEqual(["1 pods of beijing were restarted"])
  })

  it("leaves the pods of other units alone", () => {
    const now = changed(theEnd, "pods.3.metadata.uid", "uid-new")
    expect(restarted(now, theEnd, beijing)).toEqual([])
  })
})
