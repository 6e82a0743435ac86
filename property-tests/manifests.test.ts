/** What must be so in the manifests: in every CustomResourceDefinition, whatever it describes, and for a wrapper that kube-proxy waits for. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"

const FOLDER = join(import.meta.dirname, "../manifests/crds")
const FILES = readdirSync(FOLDER).filter((name) => name !== "kustomization.yaml")

interface Schema {
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean
  readonly "x-kubernetes-validations"?: readonly {
    readonly rule: string
    readonly optionalOldSelf?: boolean
  }[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
}

describe("CustomResourceDefinitions", () => {
  // The API server lets pass what was wrong before and didn't change, but sees no change only where it knows every field below.
  it.each(FILES)("R21 let an older object pass by rules of their own over a template: %s", (file) => {
    const judging = (schema: Schema, path: string): readonly string[] => [
      ...(keepsUnknown(schema) && !passesOld(schema) ? [path] : []),
      ...innerOf(schema).flatMap(([name, inner]) => judging(inner, `${path}.${name}`))
    ]
    expect(judging(schemaOf(file), "")).toEqual([])
  })

  it("have less than 20 KB together", () => {
    const sizes = FILES.map((file) => readFileSync(join(FOLDER, file)).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000)
  })
})

describe("the wrapper's manifests", () => {
  it("allow exactly what the wrapper lists and watches, and what kube-proxy does through it", () => {
    const roles = ofKind<{ readonly rules: readonly Rule[] }>("access.yaml", "ClusterRole")
    const allowed = roles.flatMap(({ rules }) =>
      rules.flatMap(({ apiGroups, resources, verbs, ...more }) => {
        expect(more, "what stands besides groups, resources and verbs").toEqual({})
        return apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`)
          )
        )
      })
    )
    const shown = ["services", "endpoints", "nodes", "namespaces"]
    const ofGroups = ["endpointslices.discovery.k8s.io", "servicecidrs.networking.k8s.io"]
    const expected = [
      ...[...shown, ...ofGroups].flatMap((each) => [`list ${each}`, `watch ${each}`]),
      "get nodes",
      ...["events", "events.events.k8s.io"].flatMap((each) =>
        ["create", "patch", "update"].map((verb) => `${verb} ${each}`)
      )
    ]
    expect(allowed.toSorted()).toEqual(expected.toSorted())
    expect(ofKind("access.yaml", "Role")).toEqual([])
  })

  it("run it on every node, in the node's network, among what goes last", () => {
    const { spec } = daemonSet().spec.template
    expect(spec).toMatchObject({
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      serviceAccountName: "servicegroup-wrapper"
    })
    expect(spec.tolerations).toEqual([{ operator: "Exists" }])
  })

  // The cluster IP of the API server works only after kube-proxy, which waits for the wrapper.
  it("name the API server's own address instead of its cluster IP", () => {
    const from = (key: string) => ({ configMapKeyRef: { name: "servicegroup-wrapper", key } })
    const { env } = daemonSet().spec.template.spec.containers[0]
    expect(env).toContainEqual({ name: "KUBERNETES_SERVICE_HOST", valueFrom: from("api-server-host") })
    expect(env).toContainEqual({ name: "KUBERNETES_SERVICE_PORT", valueFrom: from("api-server-port") })
    const [found] = ofKind<{ readonly data: object }>("upstream.yaml", "ConfigMap")
    expect(Object.keys(found?.data ?? {})).toEqual(["api-server-host", "api-server-port"])
    expect(found?.metadata).toEqual({ name: "servicegroup-wrapper", namespace: "edge-system" })
  })

  it("let it write nothing but its snapshot, with no capability", () => {
    const { securityContext, volumeMounts } = daemonSet().spec.template.spec.containers[0]
    expect(securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
    expect(volumeMounts).toEqual([{ name: "snapshot", mountPath: "/var/lib/servicegroup" }])
  })

  it("are all applied, and all in the controller's namespace", () => {
    const files = readdirSync(WRAPPER).filter(
      (name) => name.endsWith(".yaml") && name !== "kustomization.yaml"
    )
    const { resources } = parse(text("kustomization.yaml")) as { readonly resources: readonly string[] }
    expect(resources.toSorted()).toEqual(files.toSorted())
    for (const { kind, metadata } of files.flatMap((file) => ofKind(file)))
      expect([kind, metadata.namespace]).toEqual([kind, CLUSTER.has(kind) ? undefined : "edge-system"])
    expect(text("namespace.yaml")).toBe(text("../controller/namespace.yaml"))
  })
})

describe("Dockerfile", () => {
  it("holds both programs where the manifests look for them", () => {
    expect(text("../../Dockerfile")).toContain("COPY dist/controller*.mjs dist/wrapper*.mjs /app/\n")
    expect(daemonSet().spec.template.spec.containers[0].command.at(-1)).toBe("/app/wrapper.mjs")
  })

  it("runs the controller as its manifest does", () => {
    const controller = parse(text("../controller/deployment.yaml")) as Workload
    const [, entrypoint = ""] = /^ENTRYPOINT (.*)$/m.exec(text("../../Dockerfile")) ?? []
    expect(JSON.parse(entrypoint)).toEqual(controller.spec.template.spec.containers[0].command)
  })
})

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

interface Container {
  readonly command: readonly string[]
  readonly env: unknown
  readonly securityContext: unknown
  readonly volumeMounts: unknown
}

interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly tolerations: unknown; readonly containers: readonly [Container] }
    }
  }
}

interface Named {
  readonly kind: string
  readonly metadata: { readonly namespace?: string }
}

const WRAPPER = join(FOLDER, "../wrapper")
const CLUSTER: ReadonlySet<string> = new Set(["Namespace", "ClusterRole", "ClusterRoleBinding"])

const text = (path: string): string => readFileSync(join(WRAPPER, path), "utf8")

/** The objects in one of the wrapper's files: of a kind, or all. */
const ofKind = <A>(file: string, kind?: string): readonly (A & Named)[] =>
  parseAllDocuments(text(file))
    .map((document) => document.toJSON() as A & Named)
    .filter((object) => kind === undefined || object.kind === kind)

const daemonSet = (): Workload => {
  const [found] = ofKind<Workload>("daemonset.yaml", "DaemonSet")
  if (found === undefined) throw new Error("daemonset.yaml holds no DaemonSet")
  return found
}

const schemaOf = (file: string): Schema => {
  const crd = parse(readFileSync(join(FOLDER, file), "utf8")) as {
    readonly spec: {
      readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }]
    }
  }
  return crd.spec.versions[0].schema.openAPIV3Schema
}

const innerOf = (schema: Schema): readonly (readonly [string, Schema])[] => [
  ...Object.entries(schema.properties ?? {}),
  ...(schema.additionalProperties === undefined ? [] : [["*", schema.additionalProperties] as const]),
  ...(schema.items === undefined ? [] : [["[]", schema.items] as const])
]

const keepsUnknown = (schema: Schema): boolean =>
  schema["x-kubernetes-preserve-unknown-fields"] === true ||
  innerOf(schema).some(([, inner]) => keepsUnknown(inner))

const passesOld = (schema: Schema): boolean =>
  schema.required === undefined &&
  schema.minProperties === undefined &&
  schema.maxProperties === undefined &&
  (schema["x-kubernetes-validations"] ?? []).every(
    ({ rule, optionalOldSelf }) => optionalOldSelf === true && rule.includes("oldSelf")
  )
