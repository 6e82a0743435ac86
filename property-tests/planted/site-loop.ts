/** Bugs planted in the loop over units, groups and nodes. */
import type { Mutant } from "./mutant.ts"

const LOOP = ["site-requests", "site-loop"]
const PLACE = "src/shell/sites.ts"

export const siteLoop: readonly Mutant[] = [
  {
    name: "a site loop takes a list that did not come yet for an empty one",
    file: "src/shell/observed-sites.ts",
    from: "return this.#nodes.synced && this.#sites.NodeUnit.synced && this.#sites.NodeGroup.synced",
    to: "return this.#nodes.synced",
    caughtBy: LOOP
  },
  {
    name: "a site loop writes what it thought before an edit",
    file: PLACE,
    from: "this.observed.edition === edition ?",
    to: "(this.observed.edition >= edition) ?",
    caughtBy: LOOP
  },
  {
    name: "a site loop forgets what the server answered",
    file: PLACE,
    from: "      yield* this.#takeIn(write, answer.right)\n",
    to: "",
    caughtBy: LOOP
  },
  {
    name: "a site loop tries again at once what failed",
    file: PLACE,
    from: "if (hold === undefined || hold.until <= now) return false",
    to: "if (hold !== undefined || now > 0) return false",
    caughtBy: LOOP
  },
  {
    name: "a site loop never tries again what failed",
    file: PLACE,
    from: "if (hold === undefined || hold.until <= now) return false",
    to: "if (hold === undefined) return false",
    caughtBy: LOOP
  },
  {
    name: "a site loop holds what is invalid although the node changed",
    file: PLACE,
    from: 'if (hold.failure.reason === "Invalid" && hold.revision !== revisionOf(write)) return false\n',
    to: "",
    caughtBy: LOOP
  },
  {
    name: "a site loop tells of each failure at once",
    file: PLACE,
    from: "LASTING.has(failure.reason)",
    to: "!LASTING.has(failure.message as FailureReason)",
    caughtBy: LOOP
  },
  {
    name: "a site loop writes nodes before the units that they bring about",
    file: PLACE,
    from: "const now = first.length > 0 ? first : due",
    to: "const now = [...first, ...due.filter((each) => !first.includes(each))]",
    caughtBy: LOOP
  },
  {
    name: "a site loop lets go of a finalizer too early",
    file: "src/core/finalizer.ts",
    from: "return has && site.deleting && free[kind].has(name)",
    to: "return has && site.deleting",
    caughtBy: LOOP
  },
  {
    name: "a site loop drops finalizers that someone adds meanwhile",
    file: "src/shell/site-writes.ts",
    from: "const patch = { metadata: { uid, resourceVersion, finalizers } }",
    to: "const patch = { metadata: { uid, ...(resourceVersion === uid && { resourceVersion }), finalizers } }",
    caughtBy: LOOP
  },
  {
    name: "a site loop deletes a unit as it was known, not as it is",
    file: "src/shell/site-writes.ts",
    from: 'return api.remove(SITES.NodeUnit, "", write.name, { uid, resourceVersion })',
    to: 'return api.remove(SITES.NodeUnit, "", write.name, resourceVersion === "" ? { uid, resourceVersion } : { uid })',
    caughtBy: LOOP
  },
  {
    name: "a site loop makes a unit over what is there",
    file: "src/shell/site-writes.ts",
    from: 'unit.metadata.uid === undefined ? { resourceVersion: "1" } : {}',
    to: 'unit.metadata.uid === "" ? { resourceVersion: "1" } : {}',
    caughtBy: LOOP
  },
  {
    name: "a site loop tells a status as often as nodes flap",
    file: "src/shell/tell-sites.ts",
    from: "const CALM_MS = 10_000",
    to: "const CALM_MS = 1000",
    caughtBy: LOOP
  },
  {
    name: "a site loop tells a status slowly after an edit",
    file: "src/shell/tell-sites.ts",
    from: "calm ? CALM_MS : EVERY_MS",
    to: "calm ? CALM_MS : CALM_MS + EVERY_MS",
    caughtBy: LOOP
  },
  {
    name: "a site loop takes a status for written that the server did not confirm",
    file: "src/shell/pace.ts",
    from: '    this.#written = ""\n',
    to: "",
    caughtBy: LOOP
  },
  {
    name: "a site loop looks at everything for a heartbeat",
    file: "src/shell/observed-sites.ts",
    from: "before !== undefined && after !== undefined && before.isLike(after)",
    to: "before !== undefined && after !== undefined && before === after",
    caughtBy: LOOP
  },
  {
    name: "a site loop does not hear of nodes",
    file: "src/shell/control.ts",
    from: "sites?.readNodes(inputs) ?? Effect.void",
    to: 'Effect.asVoid(Effect.when(sites?.readNodes(inputs) ?? Effect.void, () => sites?.known === undefined || !observed.synced("DeploymentGrid")))',
    caughtBy: LOOP
  },
  {
    name: "a site loop tells nothing while there is anything to write",
    file: PLACE,
    from: "if (first.length > 0 || ",
    to: "if (due.length > 0 || ",
    caughtBy: LOOP
  }
]
