import { build } from "esbuild"
const out = process.argv[2], entry = process.argv[3]
const sideEffectFree = { name: "s", setup: (run) => run.onResolve({ filter: /.*/ }, async (args) => {
  if (args.pluginData === sideEffectFree || args.kind === "entry-point") return undefined
  const { importer, resolveDir, kind, path } = args
  const found = await run.resolve(path, { importer, resolveDir, kind, pluginData: sideEffectFree })
  if (found.errors.length > 0) return undefined
  return /@kubernetes[/+]client-node|openid-client|oauth4webapi|jsonpath-plus/.test(found.path) ? { ...found, sideEffects: false } : found })}
const r = await build({ entryPoints: [entry], outfile: out, bundle: true, minify: true, keepNames: true, legalComments: "none", platform: "node", format: "esm", target: "node24", loader: {".yaml":"text"}, plugins:[sideEffectFree], external: ["bufferutil","utf-8-validate","supports-color"], metafile: true })
const o = Object.values(r.metafile.outputs)[0]; const by = new Map()
for (const [f, { bytesInOutput }] of Object.entries(o.inputs)) { const m = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1] ?? f.split("/").slice(0,2).join("/"); by.set(m, (by.get(m) ?? 0) + bytesInOutput) }
console.log(o.bytes, [...by].sort((a,b)=>b[1]-a[1]).slice(0,25))
console.log(Object.entries(o.inputs).filter(([f])=>f.startsWith("src/")).map(([f,x])=>[f,x.bytesInOutput]).sort((a,b)=>b[1]-a[1]).slice(0,12))
