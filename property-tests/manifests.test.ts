/** What must be so in the manifests: in every CustomResourceDefinition, whatever it describes, and for what runs on every node. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"

const FOLDER = join(import.meta.dirname, "../manifests/crds")
const FILES = readdirSync(FOLDER).filter((name) => name !== "kustomization.yaml")

interface Schema {
  readonly description?: string
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

  // not counting how far a line is indented, which says nothing
  it("have less than 20 KB together", () => {
    const sizes = FILES.map((file) => crdText(file).replace(/^ +/gm, "").length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000)
  })

  it("are all applied", () => {
    const { resources } = parse(crdText("kustomization.yaml")) as { readonly resources: readonly string[] }
    expect(resources.toSorted()).toEqual(FILES.toSorted())
  })
})

describe.each(["nodeunits.yaml", "nodegroups.yaml"])("the definition of sites in %s", (file) => {
  const { spec } = crd(file)
  const [newer, older] = spec.versions

  it("stores v1alpha2, and serves v1alpha1 as the same", () => {
    expect(spec.conversion ?? { strategy: "None" }).toEqual({ strategy: "None" })
    expect(newer).toMatchObject({ name: "v1alpha2", served: true, storage: true })
    expect(older).toEqual({ ...newer, name: "v1alpha1", storage: false })
  })

  it("has statuses of their own, whose conditions are told apart by type", () => {
    expect(newer?.subresources).toEqual({ status: {} })
    expect(inside(schemaOf(file), "status", "conditions")).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"]
    })
  })

  it("judges a name when it is given, and never again", () => {
    expect(inside(schemaOf(file), "metadata", "name")["x-kubernetes-validations"]).toEqual([
      expect.objectContaining({
        optionalOldSelf: true,
        rule: expect.stringMatching(/ \|\| oldSelf\.hasValue\(\)$/) as string
      })
    ])
  })

  it("knows every field that people write, and says what those are that it judges", () => {
    const fields = Object.entries(inside(schemaOf(file), "spec").properties ?? {})
    expect(fields.map(([name, field]) => [name, field["x-kubernetes-preserve-unknown-fields"]])).toEqual(
      fields.map(([name]) => [name, undefined])
    )
    const silent = fields.filter(([, { description = "" }]) => description === "")
    expect(silent.map(([name]) => name)).toEqual([])
  })
})

describe("the example of sites", () => {
  it("puts the example's nodes into two units of one group", () => {
    const sites = documents<Site>("../examples/sites.yaml")
    const nodes = documents<Named>("../examples/nodes.yaml").map(({ metadata }) => metadata.name)
    expect(sites.flatMap(({ spec }) => spec.nodes ?? [])).toEqual(nodes)
    const units = sites.filter(({ kind }) => kind === "NodeUnit").map(({ metadata }) => metadata.name)
    expect(sites.find(({ kind }) => kind === "NodeGroup")?.spec.nodeUnits).toEqual(units)
  })
})

describe("the wrapper's manifests", () => {
  it("allow exactly what the wrapper lists and watches, and what kube-proxy does through it", () => {
    const shown = ["services", "endpoints", "nodes", "namespaces"]
    const ofGroups = ["endpointslices.discovery.k8s.io", "servicecidrs.networking.k8s.io"]
    const expected = [
      ...[...shown, ...ofGroups].flatMap((each) => [`list ${each}`, `watch ${each}`]),
      "get nodes",
      ...["events", "events.events.k8s.io"].flatMap((each) =>
        ["create", "patch", "update"].map((verb) => `${verb} ${each}`)
      )
    ]
    expect(allowed("access.yaml").toSorted()).toEqual(expected.toSorted())
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
    const files = filesIn("")
    expect(kustomization("").resources.toSorted()).toEqual(files)
    for (const { kind, metadata } of files.flatMap((file) => ofKind(file)))
      expect([kind, metadata.namespace]).toEqual([kind, CLUSTER.has(kind) ? undefined : "edge-system"])
    expect(text("namespace.yaml")).toBe(text("../controller/namespace.yaml"))
  })
})

describe("the DNS daemon's manifests", () => {
  it("allow exactly what the daemon lists and watches", () => {
    const read = [
      "nodes",
      "statefulsets.apps",
      "statefulsetgrids.superedge.io",
      "endpointslices.discovery.k8s.io"
    ]
    const expected = read.flatMap((each) => [`list ${each}`, `watch ${each}`])
    expect(allowed("../dns/access.yaml").toSorted()).toEqual(expected.toSorted())
  })

  it("run it on every node, and let it write nothing but its folder, with no capability", () => {
    const { spec } = daemonSet("../dns/daemonset.yaml").spec.template
    expect(spec).toMatchObject({
      priorityClassName: "system-node-critical",
      serviceAccountName: "servicegroup-dns",
      tolerations: [{ operator: "Exists" }]
    })
    const [{ securityContext, volumeMounts }] = spec.containers
    expect(securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
    expect(volumeMounts).toEqual([{ name: "hosts", mountPath: "/etc/servicegroup/dns" }])
  })

  it("give CoreDNS the daemon's folder, to read, never the file", () => {
    const daemon = daemonSet("../dns/daemonset.yaml").spec.template.spec
    const { volumes, containers } = daemonSet("../dns/coredns.yaml").spec.template.spec
    const folder = { name: "hosts", hostPath: { path: "/etc/servicegroup/dns", type: "DirectoryOrCreate" } }
    expect(daemon.volumes).toEqual([folder])
    expect(volumes).toContainEqual(folder)
    expect(containers[0].volumeMounts).toContainEqual({
      name: "hosts",
      mountPath: "/etc/servicegroup/dns",
      readOnly: true
    })
  })

  it("are all applied, with the Corefile, and the daemon in the controller's namespace", () => {
    const { resources, configMapGenerator } = kustomization("../dns")
    const files = filesIn("../dns")
    expect(resources.toSorted()).toEqual(files)
    expect(configMapGenerator).toEqual([
      { name: "servicegroup-coredns", namespace: "kube-system", files: ["Corefile"] }
    ])
    for (const file of files) {
      const namespace = file === "coredns.yaml" ? "kube-system" : "edge-system"
      for (const { kind, metadata } of ofKind(`../dns/${file}`))
        expect([kind, metadata.namespace]).toEqual([kind, CLUSTER.has(kind) ? undefined : namespace])
    }
    expect(text("../dns/namespace.yaml")).toBe(text("../controller/namespace.yaml"))
  })

  // The same four lines stand in the Corefile, in the README and in the command's help.
  it("say one stanza of the plugin hosts everywhere", () => {
    const stanza = /^ *hosts (\S+) cluster\.local \{\n((?: +.*\n)*?) *\}$/m
    const lines = (path: string): readonly string[] => {
      const [, file = "", inside = ""] = stanza.exec(text(path).replaceAll(/^ *"(.*)",?$/gm, "$1")) ?? []
      return [file, ...inside.trim().split(/\s*\n\s*/)]
    }
    const said = ["/etc/servicegroup/dns/hosts", "ttl 5", "reload 2s", "no_reverse", "fallthrough"]
    for (const path of ["../dns/Corefile", "../dns/README.md", "../../src/commands/dns.ts"])
      expect([path, ...lines(path)]).toEqual([path, ...said])
  })
})

describe("Dockerfile", () => {
  it("holds the programs where the manifests look for them", () => {
    expect(text("../../Dockerfile")).toContain(
      "COPY dist/controller*.mjs dist/wrapper*.mjs dist/dns*.mjs /app/\n"
    )
    expect(daemonSet().spec.template.spec.containers[0].command.at(-1)).toBe("/app/wrapper.mjs")
    const dns = daemonSet("../dns/daemonset.yaml").spec.template.spec.containers[0]
    expect(dns.command.at(-1)).toBe("/app/dns.mjs")
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
      readonly spec: {
        readonly tolerations: unknown
        readonly volumes: unknown
        readonly containers: readonly [Container]
      }
    }
  }
}

interface Named {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface Site extends Named {
  readonly spec: { readonly nodes?: readonly string[]; readonly nodeUnits?: readonly string[] }
}

const WRAPPER = join(FOLDER, "../wrapper")
const CLUSTER: ReadonlySet<string> = new Set(["Namespace", "ClusterRole", "ClusterRoleBinding"])

const text = (path: string): string => readFileSync(join(WRAPPER, path), "utf8")

const documents = <A>(file: string): readonly (A & Named)[] =>
  parseAllDocuments(text(file)).map((document) => document.toJSON() as A & Named)

/** The objects in one of the wrapper's files: of a kind, or all. */
const ofKind = <A>(file: string, kind?: string): readonly (A & Named)[] =>
  documents<A>(file).filter((object) => kind === undefined || object.kind === kind)

const daemonSet = (file = "daemonset.yaml"): Workload => {
  const [found] = ofKind<Workload>(file, "DaemonSet")
  if (found === undefined) throw new Error(`${file} holds no DaemonSet`)
  return found
}

/** What the ClusterRoles in a file allow, as `verb resource.group`; they say nothing else. */
const allowed = (file: string): readonly string[] =>
  ofKind<{ readonly rules: readonly Rule[] }>(file, "ClusterRole").flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs, ...more }) => {
      expect(more, "what stands besides groups, resources and verbs").toEqual({})
      return apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`)
        )
      )
    })
  )

interface Kustomization {
  readonly resources: readonly string[]
  readonly configMapGenerator?: unknown
}

const kustomization = (folder: string): Kustomization =>
  parse(text(join(folder, "kustomization.yaml"))) as Kustomization

/** What a folder holds to be applied, sorted. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(WRAPPER, folder))
    .filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")
    .toSorted()

const crdText = (file: string): string => readFileSync(join(FOLDER, file), "utf8")

interface Crd {
  readonly spec: {
    readonly conversion?: object
    readonly versions: readonly [Version, ...(readonly Version[])]
  }
}

interface Version {
  readonly name: string
  readonly subresources: object
  readonly schema: { readonly openAPIV3Schema: Schema }
}

const crd = (file: string): Crd => parse(crdText(file)) as Crd

/** Of the version that is stored; where there are others, they have the same. */
const schemaOf = (file: string): Schema => crd(file).spec.versions[0].schema.openAPIV3Schema

const inside = (schema: Schema, ...path: readonly string[]): Schema =>
  path.reduce((here, name) => here.properties?.[name] ?? {}, schema)

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
