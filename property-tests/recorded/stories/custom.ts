/** CustomResourceDefinitions, their validation, and the grids of manifests/crds. */
import * as given from "./given.ts"
import { apply, force, get, grids, merge, post, put, remove } from "./given.ts"
import type { Answer } from "../exchange.ts"
import type { Story, Teller } from "./given.ts"

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const things = "/apis/recorded.example/v1/namespaces/recorded/things"
const at = (name: string): string => `${things}/${name}`

const schema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        mode: { type: "string", enum: ["auto", "manual"], default: "auto" },
        label: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
        port: { "x-kubernetes-int-or-string": true },
        on: { type: "boolean" },
        maybe: { type: "string", nullable: true },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        order: { type: "array", maxItems: 2, items: { type: "string" } },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, weight: { type: "integer", default: 1 } }
          }
        },
        counts: { type: "object", additionalProperties: { type: "integer" } },
        fixed: {
          type: "string",
          maxLength: 9,
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "can't be changed" }]
        }
      },
      "x-kubernetes-validations": [
        {
          rule: "self.mode != 'manual' || has(self.port)",
          messageExpression: "'mode ' + self.mode + ' needs a port'",
          fieldPath: ".port",
          reason: "FieldValueRequired"
        }
      ]
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        phase: { type: "string" },
        states: {
          type: "object",
          "x-kubernetes-map-type": "atomic",
          "x-kubernetes-preserve-unknown-fields": true
        }
      }
    }
  }
}

const definition = (name: string, openAPIV3Schema: unknown): Readonly<Record<string, unknown>> => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${name}s.recorded.example` },
  spec: {
    group: "recorded.example",
    scope: "Namespaced",
    names: {
      kind: name[0]?.toUpperCase() + name.slice(1),
      plural: `${name}s`,
      shortNames: ["th"],
      categories: ["all"]
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" }
        },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Part", type: "string", jsonPath: '.spec.parts[?(@.name=="a")].weight', priority: 1 },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
        ],
        schema: { openAPIV3Schema }
      }
    ]
  }
})

const thing = (name: string, spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  apiVersion: "recorded.example/v1",
  kind: "Thing",
  metadata: { name },
  spec
})

interface Definition {
  readonly spec?: { readonly versions: readonly object[] }
}

/** Without the schema, which is as it was sent. */
const brief = (body: unknown): unknown => {
  const { spec, ...rest } = body as Definition
  if (spec === undefined) return body
  return {
    ...rest,
    spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, schema: "<schema>" })) }
  }
}

/** Waits, unrecorded, until the API server serves what a CRD defines. */
const served = async ({ aside }: Teller): Promise<void> => {
  const deadline = Date.now() + 20_000
  while (Date.now() < deadline) {
    const answer = await aside(get(things))
    if (answer.code === 200) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error("the CRD was not served within 20 s")
}

const define: Story = {
  name: "crd",
  shows: "a CRD is made; its objects are validated, completed and pruned",
  run: async (teller) => {
    const { send } = teller
    await send(get(things), "a kind that isn't defined yet")
    await send(post(definitions, definition("thing", schema)), "defined", brief)
    await served(teller)
    await send(get(`${definitions}/things.recorded.example`), "its conditions, and defaults of a CRD", brief)
    await send(
      post(definitions, { ...definition("thing", schema), metadata: { name: "wrong" } }),
      "a wrong name"
    )
    await send(
      post(definitions, definition("bad", { type: "object", properties: { a: {} } })),
      "not structural"
    )
    const rule = [{ rule: "self.nothing" }]
    await send(
      post(definitions, definition("bad", { type: "object", "x-kubernetes-validations": rule })),
      "a rule that doesn't compile"
    )
    const make = (spec: Readonly<Record<string, unknown>>, shows: string, query = {}): Promise<Answer> =>
      send(post(things, thing("bad", spec), query), shows)
    await send(
      post(things, thing("a", { size: 2, parts: [{ name: "a" }], maybe: null, on: null })),
      "completed"
    )
    await make({ size: 0 }, "below the minimum")
    await make({ size: 1.5 }, "no integer")
    await make({ size: "2" }, "a wrong type")
    await make({}, "a required field")
    await make({ size: 2, mode: "odd", label: "UPPER", order: ["a", "b", "c"] }, "several errors")
    await make({ size: 2, label: "toolong" }, "too long")
    await make({ size: 2, port: true }, "neither number nor string")
    await make({ size: 2, tags: ["a", "a"] }, "a set with duplicates")
    await make({ size: 2, parts: [{ name: "a" }, { name: "a" }] }, "a map with duplicates")
    await make({ size: 2, parts: [{}] }, "an element without key")
    await make({ size: 2, counts: { a: "1" } }, "a wrong value type of a map")
    await make({ size: 2, mode: "manual" }, "a rule with its own path and reason")
    await make({ size: 2, typo: 1 }, "an unknown field, strictly", { fieldValidation: "Strict" })
    await make({ size: 2, typo: 1, parts: [{ name: "a", typo: 1 }] }, "with a warning", {
      fieldValidation: "Warn"
    })
    await send(post(things, { ...thing("c", { size: 1, typo: 1 }), extra: 1 }), "by default: pruned")
    await send(post(things, { ...thing("d", { size: 1 }), spec: undefined }), "no spec")
    await send(
      post(things, thing("e", { size: 1, free: { x: [null, { y: null }], "": {} } })),
      "kept as it is"
    )
    await send(
      {
        method: "POST",
        path: things,
        text: '{"apiVersion":"recorded.example/v1","kind":"Thing","metadata":{"name":"f"},"spec":{"size":1,"size":2}}',
        query: { fieldValidation: "Strict" }
      },
      "a key twice"
    )
  }
}

const lifecycle: Story = {
  name: "crd-objects",
  shows: "updates, status, generation and apply of custom objects",
  run: async (teller) => {
    const { send } = teller
    await send(post(definitions, definition("thing", schema)), "defined", brief)
    await served(teller)
    const made = await send(post(things, thing("a", { size: 2, fixed: "x" })))
    await send(put(at("a"), thing("a", { size: 3 })), "PUT without resourceVersion: refused")
    const meta = { metadata: given.metaOf(made) }
    await send(put(at("a"), { ...thing("a", { size: 3, fixed: "x" }), ...meta }), "PUT: generation rises")
    await send(put(at("a"), { ...thing("a", { size: 4, fixed: "x" }), ...meta }), "stale")
    await send(merge(at("a"), { spec: { fixed: "y" } }), "a rule over time")
    await send(merge(at("a"), { metadata: { labels: { a: "b" } } }), "a label: no generation")
    await send(merge(at("a"), { status: { phase: "x" } }), "status by the main path: ignored")
    await send(
      merge(`${at("a")}/status`, { status: { phase: "Up", replicas: 1 }, spec: { size: 9 } }),
      "status alone"
    )
    await send(merge(`${at("a")}/status`, { status: { phase: 7 } }), "a status of a wrong type")
    await send(merge(`${at("a")}/status`, { status: null }), "status removed")
    const status = (body: unknown): unknown => ({
      apiVersion: "recorded.example/v1",
      kind: "Thing",
      metadata: { name: "a" },
      status: body
    })
    await send(
      apply(`${at("a")}/status`, "us", status({ states: { u1: { n: 1 }, u2: { n: 2 } }, replicas: 1 })),
      "status by apply"
    )
    await send(
      apply(`${at("a")}/status`, "us", status({ states: { u1: { n: 1 }, u2: { n: 2 } }, replicas: 1 })),
      "again: nothing"
    )
    await send(
      apply(`${at("a")}/status`, "us", status({ states: { u2: { n: 3 } } })),
      "an atomic map is replaced"
    )
    await send(
      apply(`${at("a")}/status`, "them", status({ states: { u2: { n: 4 } } })),
      "someone else: conflict"
    )
    await send(
      apply(`${at("a")}/status`, "us", { ...(status({ phase: "x" }) as object), spec: { size: 7 } }),
      "a spec by the status path: ignored"
    )
    await send(get(`${at("a")}/scale`), "scale")
    await send(merge(`${at("a")}/scale`, { spec: { replicas: 5 } }), "scaled")
    const spec = {
      size: 2,
      tags: ["a", "b"],
      parts: [{ name: "a" }, { name: "b", weight: 2 }],
      free: { x: { y: 1 }, list: [1] },
      order: ["z"],
      counts: { n: 1 }
    }
    await send(apply(at("b"), "us", thing("b", spec)), "apply makes")
    await send(
      apply(at("b"), "us", thing("b", { ...spec, parts: [{ name: "b", weight: 2 }], free: { x: {} } })),
      "apply lets go"
    )
    await send(apply(at("b"), "us", thing("b", { size: 2, typo: 1 })), "an unknown field")
    await send(apply(at("b"), "us", thing("b", { size: "2" })), "a wrong type")
    await send(
      apply(at("b"), "us", thing("b", { size: 2, parts: [{ name: "a" }, { name: "a" }] })),
      "a key twice"
    )
    await send(apply(at("b"), "us", thing("b", { size: 20 })), "invalid")
    await send(
      apply(
        at("b"),
        "us",
        thing("b", { size: 2, on: null, maybe: null, free: {}, tags: [], parts: [], counts: {} })
      ),
      "nothings"
    )
    await send(
      merge(at("b"), { spec: { free: { a: null, b: { c: 1 } } } }),
      "a merge patch into what is kept as it is"
    )
    await send(
      { ...merge(at("b"), { spec: { size: 4 } }), contentType: "application/strategic-merge-patch+json" },
      "no strategic merge for CRs"
    )
    await send(remove(at("b")), "deleted")
    await send(remove(`${definitions}/things.recorded.example`), "the definition goes", brief)
  }
}

const gridObjects: Story = {
  name: "grids",
  shows: "the grids' own definitions: rules, status, generation",
  run: async ({ send }) => {
    const grid = (kind: string, name: string, spec: unknown): Readonly<Record<string, unknown>> => ({
      apiVersion: "superedge.io/v1",
      kind,
      metadata: { name },
      ...(spec === undefined ? {} : { spec })
    })
    const dg = grids("deploymentgrids")
    const sg = grids("servicegrids")
    const template = {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { creationTimestamp: null, labels: { app: "web" } },
        spec: { containers: [{ name: "c", image: "app:1" }] }
      }
    }
    await send(post(dg, grid("DeploymentGrid", "web", { gridUniqKey: "zone", template })), "a grid")
    await send(
      post(
        dg,
        grid("DeploymentGrid", "pool", {
          gridUniqKey: "topology.kubernetes.io/zone",
          templatePool: { t1: template },
          defaultTemplateName: "t1"
        })
      ),
      "only a pool"
    )
    await send(post(dg, grid("DeploymentGrid", "bad", { gridUniqKey: "" })), "an empty key")
    await send(post(dg, grid("DeploymentGrid", "bad", { gridUniqKey: "a b" })), "no label key")
    await send(post(dg, grid("DeploymentGrid", "bad", {})), "no key")
    await send(post(dg, grid("DeploymentGrid", "bad", undefined)), "no spec")
    await send(
      post(dg, grid("DeploymentGrid", "bad", { gridUniqKey: "zone", templatePool: { default: {} } })),
      "a pool entry default"
    )
    await send(
      post(dg, grid("DeploymentGrid", "bad", { gridUniqKey: "zone", replicas: 2 }), {
        fieldValidation: "Strict"
      }),
      "a misplaced field"
    )
    await send(
      post(sg, grid("ServiceGrid", "svc", { gridUniqKey: "zone", template: { ports: [{ port: 80 }] } })),
      "a ServiceGrid"
    )
    await send(post(sg, grid("ServiceGrid", "a.b", { gridUniqKey: "zone" })), "no name of a Service")
    await send(post(sg, grid("ServiceGrid", "x".repeat(60), { gridUniqKey: "zone" })), "too long a name")
    await send(
      post(sg, grid("ServiceGrid", "bad", { gridUniqKey: "zone", topologyKeys: ["rack"] })),
      "keys without the grid key"
    )
    await send(
      post(sg, grid("ServiceGrid", "bad", { gridUniqKey: "zone", topologyKeys: ["*", "zone"] })),
      "an early star"
    )
    await send(
      post(sg, grid("ServiceGrid", "bad", { gridUniqKey: "zone", topologyKeys: ["zone", "a b"] })),
      "an illegal key"
    )
    await send(
      post(
        sg,
        grid("ServiceGrid", "keys", {
          gridUniqKey: "zone",
          topologyKeys: ["kubernetes.io/hostname", "zone", "*"]
        })
      ),
      "legal keys"
    )
    await send(merge(`${sg}/keys`, { spec: { gridUniqKey: "park" } }), "another grid key beside the old keys")
    await send(merge(`${dg}/web`, { spec: { template: { replicas: 2 } } }), "an edit: generation")
    await send(
      merge(`${dg}/web/status`, {
        status: { observedGeneration: 2, units: 2, readyUnits: 1, states: { Zone_A: { replicas: 1 } } }
      }),
      "a status: no generation"
    )
    const condition = {
      type: "Ready",
      status: "True",
      reason: "Ready",
      message: "",
      lastTransitionTime: "2020-01-01T00:00:00Z"
    }
    await send(merge(`${dg}/web/status`, { status: { conditions: [condition] } }), "a condition")
    await send(
      merge(`${dg}/web/status`, { status: { conditions: [{ ...condition, status: "Maybe" }] } }),
      "a strange condition"
    )
    await send(
      apply(
        `${dg}/web/status`,
        "us",
        {
          apiVersion: "superedge.io/v1",
          kind: "DeploymentGrid",
          metadata: { name: "web" },
          status: { units: 3, conditions: [condition] }
        },
        force
      ),
      "status by apply"
    )
    await send(get(`${dg}/web`))
  }
}

export const custom: readonly Story[] = [define, lifecycle, gridObjects]
