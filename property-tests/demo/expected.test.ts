import { describe, expect, it } from "vitest"
import { end, restarted, beijing } from "../../src/commands/demo/expected.ts"
import { changed, theEnd } from "./scenes.ts"

describe("end", () => {
  it("misses nothing where all is as it should be", () => {
    expect(end(theEnd)).toEqual([])
  })

  it.each([
    [
      "a Deployment that isn't there",
      ["workloads", 1],
      undefined,
      "there is no Deployment deploymentgrid-demo-guangzhou"
    ],
    [
      "an image of another unit",
      ["workloads", 0, "spec", "template", "spec", "containers", 0, "image"],
      "superedge/echoserver:2.3",
      "deploymentgrid-demo-beijing has image superedge/echoserver:2.3, not superedge/echoserver:2.2"
    ],
    [
      "a node selector of another unit",
      ["workloads", 0, "spec", "template", "spec", "nodeSelector", "location"],
      "guangzhou",
      "deploymentgrid-demo-beijing has nodeSelector location=guangzhou, not beijing"
    ],
    [
      "replicas of another template",
      ["workloads", 1, "spec", "replicas"],
      2,
      "deploymentgrid-demo-guangzhou has replicas 2, not 3"
    ],
    [
      "a pod that isn't ready, in the Deployment's status",
      ["workloads", 1, "status", "readyReplicas"],
      2,
      "deploymentgrid-demo-guangzhou has 2 of 3 pods ready"
    ],
    [
      "a status of an older generation",
      ["workloads", 1, "status", "observedGeneration"],
      2,
      "deploymentgrid-demo-guangzhou has 0 of 3 pods ready"
    ],
    [
      "a pod on a node of another unit",
      ["pods", 0, "spec", "nodeName"],
      "gz-1",
      "1 pods are on the nodes of beijing, 1 of them ready with superedge/echoserver:2.2; it should be 2"
    ],
    [
      "a pod with another image",
      ["pods", 4, "spec", "containers", 0, "image"],
      "superedge/echoserver:2.2",
      "3 pods are on the nodes of guangzhou, 2 of them ready with superedge/echoserver:2.3; it should be 3"
    ],
    [
      "a pod that isn't ready, in its own status",
      ["pods", 4, "status", "conditions", 0, "status"],
      "False",
      "3 pods are on the nodes of guangzhou, 2 of them ready with superedge/echoserver:2.3; it should be 3"
    ],
    [
      "a Deployment too many",
      ["workloads", 2],
      {
        ...theEnd.workloads[0],
        metadata: { ...theEnd.workloads[0]?.metadata, name: "deploymentgrid-demo-shanghai" }
      },
      "there is still a Deployment deploymentgrid-demo-shanghai"
    ],
    [
      "a condition that says no",
      ["grids", 0, "status", "conditions", 0, "status"],
      "False",
      "DeploymentGrid deploymentgrid-demo has condition Ready False (AllUnitsReady: it is), not True"
    ],
    [
      "a condition that isn't there",
      ["grids", 0, "status", "conditions", 2],
      undefined,
      "DeploymentGrid deploymentgrid-demo has condition Degraded absent (-: -), not False"
    ],
    [
      "a status of another generation",
      ["grids", 0, "metadata", "generation"],
      3,
      "DeploymentGrid deploymentgrid-demo has no status of its generation 3 yet"
    ],
    [
      "another count of units",
      ["grids", 0, "status", "readyUnits"],
      1,
      "the status of deploymentgrid-demo tells 1 of 2 units ready, not 2 of 2"
    ],
    ["a grid that isn't there", ["grids", 0], undefined, "there is no DeploymentGrid deploymentgrid-demo"],
    ["a Service that isn't there", ["services", 0], undefined, "there is no Service servicegrid-demo-svc"],
    [
      "a Service of somebody else",
      ["services", 0, "metadata", "ownerReferences", 0, "uid"],
      "uid-else",
      "there is no Service servicegrid-demo-svc"
    ],
    [
      "another annotation",
      ["services", 0, "metadata", "annotations", "topologyKeys"],
      undefined,
      'Service servicegrid-demo-svc has topologyKeys absent, not ["location"]'
    ],
    [
      "a Service without address",
      ["services", 0, "spec", "clusterIP"],
      undefined,
      "Service servicegrid-demo-svc has no clusterIP"
    ],
    [
      "an endpoint that isn't ready",
      ["slices", 0, "endpoints", 0, "conditions", "ready"],
      false,
      "Service servicegrid-demo-svc has 4 ready endpoints, not 5"
    ],
    [
      "the ServiceGrid's own condition",
      ["serviceGrids", 0, "status", "conditions", 2, "status"],
      "True",
      "ServiceGrid servicegrid-demo has condition Degraded True (AsExpected: nothing is wrong), not False"
    ],
    [
      "a label that somebody gave",
      ["workloads", 0, "metadata", "labels", "team"],
      undefined,
      "deploymentgrid-demo-beijing has label team=absent, not edge"
    ],
    ["a node that stayed", ["nodes", 6], { metadata: { name: "sh-1" } }, "there are 7 nodes, not 6"]
  ] as const)("names %s", (_, path, value, message) => {
    expect(end(changed(theEnd, path, value))).toContain(message)
  })
})

describe("restarted", () => {
  it("names nothing where the same pods run", () => {
    expect(restarted(theEnd, theEnd, beijing)).toEqual([])
  })

  it("counts the pods that were not there before", () => {
    const now = changed(theEnd, ["pods", 0, "metadata", "uid"], "uid-new")
    expect(restarted(now, theEnd, beijing)).toEqual(["1 pods of beijing were restarted"])
  })

  it("leaves the pods of other units alone", () => {
    const now = changed(theEnd, ["pods", 3, "metadata", "uid"], "uid-new")
    expect(restarted(now, theEnd, beijing)).toEqual([])
  })
})
