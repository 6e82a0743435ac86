import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { document } from "../../src/embedded/discovery.ts"
import { start, step } from "../../src/embedded/model.ts"

const AT = Date.parse("2026-11-29T12:00:00Z")
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

describe("discovery", () => {
  it("shows a custom kind as soon as it is defined", () => {
    expect(kinds(start(AT))).not.toContain("DeploymentGrid")
    expect(kinds(withGrids())).toContain("DeploymentGrid")
  })

  it("says in its type that an answer is of the aggregated form", () => {
    const answer = document(start(AT), "/apis", AGGREGATED)
    expect(answer?.contentType).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
    expect(answer?.body).toMatchObject({ kind: "APIGroupDiscoveryList" })
  })

  it.each([
    ["application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "APIGroupList"],
    ["application/json", "APIGroupList"],
    [undefined, "APIGroupList"]
  ])("answers %s with a %s", (accept, kind) => {
    expect(document(start(AT), "/apis", accept)).toMatchObject({
      contentType: "application/json",
      body: { kind }
    })
  })

  it("tells kubectl that the server checks fields, of every kind", () => {
    const cluster = withGrids()
    const { paths } = body(cluster, "/openapi/v3") as {
      readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
    }
    const patches = Object.values(paths).flatMap(({ serverRelativeURL }) =>
      operations(cluster, serverRelativeURL)
    )
    expect(patches.map((each) => each["x-kubernetes-group-version-kind"].kind).toSorted()).toEqual(
      kinds(cluster).toSorted()
    )
    for (const { parameters } of patches) {
      expect(parameters).toContainEqual(expect.objectContaining({ name: "fieldValidation", in: "query" }))
    }
  })

  it.each(["/apis/none", "/apis/apps/v2", "/openapi/v3/apis/none/v1", "/openapi/v2", "/nothing"])(
    "has nothing at %s",
    (path) => {
      expect(document(start(AT), path, undefined)).toBeUndefined()
    }
  )
})

type Cluster = ReturnType<typeof start>

interface Patch {
  readonly parameters: readonly object[]
  readonly "x-kubernetes-group-version-kind": { readonly kind: string }
}

const body = (cluster: Cluster, path: string, accept?: string): unknown =>
  document(cluster, path, accept)?.body ?? {}

const operations = (cluster: Cluster, path: string): readonly Patch[] => {
  const { paths } = body(cluster, path) as {
    readonly paths: Readonly<Record<string, { readonly patch: Patch }>>
  }
  return Object.values(paths).map(({ patch }) => patch)
}

const kinds = (cluster: Cluster): readonly string[] =>
  ["/api", "/apis"].flatMap((path) => {
    const { items } = body(cluster, path, AGGREGATED) as {
      readonly items: readonly {
        readonly versions: readonly {
          readonly resources: readonly { readonly responseKind: { readonly kind: string } }[]
        }[]
      }[]
    }
    return items.flatMap((group) =>
      group.versions.flatMap((version) => version.resources.map((resource) => resource.responseKind.kind))
    )
  })

const withGrids = (): Cluster => {
  const file = readFileSync(new URL("../../manifests/crds/deploymentgrids.yaml", import.meta.url), "utf8")
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  return step(start(AT), { method: "POST", path, query: {}, body: parse(file), at: AT }).cluster
}
