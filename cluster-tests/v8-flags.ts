/** The flags for V8, and the wrapper's environment, in the manifests: what is tested and measured runs as what is deployed. */
import { readFileSync } from "node:fs"
import { parse } from "yaml"

interface Container {
  readonly command: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
}

const container = (path: string): Container => {
  const manifest = parse(readFileSync(new URL(`../manifests/${path}`, import.meta.url), "utf8")) as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } }
  }
  return manifest.spec.template.spec.containers[0]
}

const flags = (path: string): readonly string[] => {
  const found = container(path).command.filter((word) => word.startsWith("--"))
  if (found.length === 0) throw new Error(`manifests/${path} names no V8 flags`)
  return found
}

export const V8_FLAGS = flags("controller/deployment.yaml")

export const WRAPPER_FLAGS = flags("wrapper/daemonset.yaml")

/** What the allocator is told. */
export const WRAPPER_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  container("wrapper/daemonset.yaml").env.flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const]
  )
)

export const DNS_FLAGS = flags("dns/daemonset.yaml")
