/**
 * Where the programs of a real control plane are, or why they aren't there.
 *
 * They are built from the Go modules in tools/ into a folder whose name is a hash of what is built, so that another pin is another folder;
 * the folder that KUBEBUILDER_ASSETS names is used instead.
 */
import { createHash } from "node:crypto"
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

export interface Module {
  readonly name: "kubernetes" | "etcd" | "coredns"
  /** under which names the one file that it builds is called */
  readonly programs: readonly Program[]
  readonly ldflags: string
}

export type Program =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kube-proxy"
  | "kubectl"
  | "coredns"

const version = "k8s.io/component-base/version"

/** In the order in which they are built: what the tests can't do without comes first. */
export const MODULES: readonly Module[] = [
  { name: "etcd", programs: ["etcd"], ldflags: "-s -w" },
  {
    name: "kubernetes",
    programs: ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubectl"],
    // without these the programs call themselves v0.0.0-master, and refuse each other
    ldflags: `-s -w -X ${version}.gitVersion=v1.37.2 -X ${version}.gitMajor=1 -X ${version}.gitMinor=37`
  },
  { name: "coredns", programs: ["coredns"], ldflags: "-s -w" }
]

export const buildFlags = (module: Module): readonly string[] => ["-trimpath", "-ldflags", module.ldflags]

export const source = (module: Module): string => join(import.meta.dirname, "tools", module.name)

/** The folder for what is built from the modules as they are now. */
export const cacheFolder = (): string => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`)
  for (const module of MODULES) {
    hash.update(`${module.name} ${buildFlags(module).join(" ")}\n`)
    for (const file of ["go.mod", "go.sum", "main.go"]) hash.update(readFileSync(join(source(module), file)))
  }
  const given = process.env["XDG_CACHE_HOME"]
  const caches = given === undefined || given === "" ? join(homedir(), ".cache") : given
  return join(caches, "servicegroup", "tools", hash.digest("hex").slice(0, 16))
}

export type Binaries =
  | { readonly _tag: "Found"; readonly folder: string; readonly path: (program: Program) => string }
  | { readonly _tag: "Missing"; readonly reason: string }

/** What a control plane and a person in front of it can't do without. */
export const CONTROL_PLANE: readonly Program[] = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl"
]

/** Where the given programs are, all of them in one folder, or in one line why they aren't. */
export const binaries = (programs: readonly Program[]): Binaries => {
  const assets = process.env["KUBEBUILDER_ASSETS"]
  const given = assets !== undefined && assets !== ""
  const folder = given ? assets : cacheFolder()
  const missing = programs.filter((program) => !existsSync(join(folder, program)))
  if (missing.length > 0)
    return {
      _tag: "Missing",
      reason: given
        ? `KUBEBUILDER_ASSETS is ${folder}, where these are missing: ${missing.join(", ")}`
        : `not built yet: ${missing.join(", ")} (npm run cluster:tools builds them, once)`
    }
  const barred = programs.filter((program) => !isExecutable(join(folder, program)))
  if (barred.length > 0)
    return { _tag: "Missing", reason: `no permission to run ${barred.join(", ")} in ${folder}` }
  return { _tag: "Found", folder, path: (program) => join(folder, program) }
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
