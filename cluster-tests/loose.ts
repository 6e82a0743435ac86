/** The manifests' CRDs as they could have been before they had rules: what is stored under them is what was stored before. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import type { ControlPlane } from "./control-plane.ts"
import { done } from "./kubectl.ts"

/** Applies the manifests' CRDs with all types and without a rule for spec and name, and waits until their kinds are offered. */
export const applyLoose = async ({ kubectl }: ControlPlane): Promise<void> => {
  const folder = join(import.meta.dirname, "../manifests/crds")
  const files = readdirSync(folder).filter((name) => name !== "kustomization.yaml")
  for (const file of files) {
    const crd = parse(readFileSync(join(folder, file), "utf8")) as Crd
    for (const { schema } of crd.spec.versions) {
      const { status, ...properties } = schema.openAPIV3Schema.properties
      const loose = loosened({ ...schema.openAPIV3Schema, properties })
      schema.openAPIV3Schema = { ...loose, properties: { ...loose.properties, status } }
    }
    await done(kubectl(["apply", "-f", "-"], { input: JSON.stringify(crd) }))
  }
  await done(kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]))
}

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>
}

interface Crd {
  readonly spec: { readonly versions: readonly { readonly schema: { openAPIV3Schema: Schema } }[] }
}

const RULES = new Set([
  "x-kubernetes-validations",
  "required",
  "enum",
  "pattern",
  "maxLength",
  "maxItems",
  "maxProperties"
])

const loosened = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema, (key, value: unknown) => (RULES.has(key) ? undefined : value))) as Schema
