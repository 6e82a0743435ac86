/**
 * Builds what is shipped: one bundle a program, and the core as plain modules with declarations.
 *
 *   node build.mjs [--quiet] [--core-only] [--out DIR]
 *
 * The build fails where a bundle is over its budget: a bundle is loaded on small machines.
 */
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

const { values: flags } = parseArgs({
  options: {
    quiet: { type: "boolean", default: false },
    "core-only": { type: "boolean", default: false },
    out: { type: "string", default: "dist" }
  }
})

/** kilobytes */
const budgets = { servicegroup: 1600, controller: 800, wrapper: 800, dns: 800 }

/** They don't say that importing them does nothing: without this, all of client-node's models are bundled. */
const effectless = /@kubernetes[/+]client-node|openid-client|oauth4webapi|jsonpath-plus/

const sideEffectFree = {
  name: "side-effect-free",
  setup: (run) =>
    run.onResolve({ filter: /.*/ }, async ({ importer, resolveDir, kind, path, pluginData }) => {
      // To resolve costs a round trip, so only what may match is resolved here.
      if (pluginData === sideEffectFree || !(effectless.test(importer) || effectless.test(path)))
        return undefined
      // A file beside another one needs no question: each one makes esbuild read the folders anew.
      const beside = join(resolveDir, path)
      if (path.startsWith(".") && statSync(beside, { throwIfNoEntry: false })?.isFile())
        return { path: beside, sideEffects: false }
      const found = await run.resolve(path, { importer, resolveDir, kind, pluginData: sideEffectFree })
      return found.errors.length === 0 && effectless.test(found.path)
        ? { ...found, sideEffects: false }
        : undefined
    })
}

/**
 * One file a program; what runs a kubeconfig's login plugin is a second one beside it, loaded where there is such a plugin: it weighs
 * as much as all the rest.
 */
const bundle = async (out, name, entry) => {
  await build({
    entryPoints: { [name]: entry },
    outdir: out,
    outExtension: { ".js": ".mjs" },
    chunkNames: `${name}-[name]`,
    splitting: true,
    bundle: true,
    minify: true,
    legalComments: "none",
    platform: "node",
    format: "esm",
    target: "node24",
    loader: { ".yaml": "text" },
    plugins: [sideEffectFree],
    external: ["bufferutil", "utf-8-validate", "supports-color"],
    logLevel: "warning",
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire as __cr } from "node:module"; const require = __cr(import.meta.url);'
    }
  })
  const size = Math.ceil(statSync(join(out, `${name}.mjs`)).size / 1000)
  const budget = budgets[name]
  if (!flags.quiet) console.log(`${name}.mjs ${size} kB of ${budget} kB`)
  if (size <= budget) return
  console.error(`${name}.mjs has ${size} kB, more than its budget of ${budget} kB (build.mjs)`)
  process.exitCode = 1
}

/** The core, module by module: nothing to bundle, since it imports nothing but itself. */
const core = async (out) => {
  const target = join(out, "core")
  mkdirSync(target, { recursive: true })
  execFileSync(
    process.execPath,
    ["node_modules/@typescript/native/bin/tsc", "-p", "tsconfig.core.json", "--outDir", target],
    {
      stdio: "inherit"
    }
  )
  if (!flags.quiet) console.log(`core ${globSync(join(target, "*.js")).length} modules with declarations`)
}

rmSync(flags.out, { recursive: true, force: true })
await core(flags.out)
if (!flags["core-only"]) {
  await bundle(flags.out, "servicegroup", "src/main.ts")
  await bundle(flags.out, "controller", "src/controller.ts")
  await bundle(flags.out, "wrapper", "src/wrapper.ts")
  await bundle(flags.out, "dns", "src/dns.ts")
}
