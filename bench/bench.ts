/**
 * What the README's figures come from.
 *
 *   npm run bench              core, sites and cluster, about 5 minutes
 *   npm run bench -- core      the pure core alone
 *   npm run bench -- sites     a pass over units, groups and nodes
 *   npm run bench -- cluster   the controller beside a bare loop, on an embedded cluster in another process
 *   npm run bench -- small     the same with 4 grids x 100 units
 *   npm run bench -- real      the same on a real API server, with one and with five nodes a unit
 *   npm run bench -- wrapper   the wrapper beside a client that watches upstream directly, with one and with 50 clients, about 10 minutes
 *   npm run bench -- names     what names that stay in the unit cost a node, about a minute
 *   npm run bench -- changes   what single changes and five minutes of rest cost, on a real API server
 *
 * Times vary from machine to machine and from run to run: read the ratios, counts and sizes.
 */
import { against } from "./cluster.ts"
import { changes } from "./changes.ts"
import { core } from "./core.ts"
import { V8_FLAGS } from "../cluster-tests/v8-flags.ts"
import { cluster, prepare } from "./processes.ts"
import { naming } from "./names.ts"
import { real } from "./real.ts"
import { looping, placing } from "./sites.ts"
import { resting, wrapping } from "./wrapper.ts"

const known = ["core", "sites", "cluster", "small", "real", "changes", "wrapper", "names"]
const asked = process.argv.slice(2)
const wrong = asked.find((name) => !known.includes(name))
if (wrong !== undefined) {
  console.error(`bench: no measurement is called "${wrong}"; there are ${known.join(", ")}`)
  process.exit(1)
}

const show = (title: string, figures: readonly (readonly [string, string])[]): void => {
  console.log(`\n${title}`)
  for (const [what, figure] of figures) console.log(`  ${what.padEnd(50)} ${figure}`)
}

/** What is measured where nothing is named. */
const usual = ["core", "sites", "cluster"]
const wants = (name: string): boolean => asked.includes(name) || (asked.length === 0 && usual.includes(name))

console.log(`node ${process.version}; controller flags: ${V8_FLAGS.join(" ")}`)
if (wants("core")) show("The pure core", core())
if (wants("sites")) show("Sites", placing())
if (known.some((name) => name !== "core" && wants(name))) await prepare()
if (wants("sites")) show("The controller with sites", await looping())
if (wants("small")) show("The controller (small)", await against(cluster, 4, 100))
if (wants("cluster")) show("The controller", await against(cluster, 20, 1000))
if (wants("real")) {
  show("The controller on a real API server", await against(real, 20, 200))
  show("... with five nodes a unit", await against((units) => real(units, 5), 20, 200))
  show("The controller on a real API server", await against(real, 20, 1000))
}
if (wants("wrapper")) {
  show("The wrapper in an empty cluster", await resting())
  show("The wrapper, one client", await wrapping(1, 40_000))
  show("The wrapper, 50 clients", await wrapping(50, 40_000))
}
if (wants("names")) show("Names in 1,000 units of 5 grids", await naming())
if (wants("changes"))
  show("What changes cost, on a real API server", await changes(await real(1000), 1000, 5))
